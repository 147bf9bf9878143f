"""Kinds of file that are told by their first bytes and not read: each with the way out."""

from __future__ import annotations

from backend.corpus.files import SourceFile, UnreadableFile
from backend.corpus.readers.docx import zip_names

FORMATS_READ = "text, Markdown, PDF, DOCX, HTML, CSV and JSONL"
_READ = f"Ragduel reads {FORMATS_READ}."

_OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAGIC = (
    (b"{\\rtf", "an RTF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"(\xb5/\xfd", "a Zstandard archive"),
    (b"SQLite format 3\x00", "a database"),
    (b"PAR1", "a Parquet table"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"ID3", "a sound file"),
    (b"OggS", "a sound or film file"),
)


def refuse_unread(file: SourceFile) -> None:
    """Refuse what no reader reads.

    Raises:
        UnreadableFile: With the kind of file and what to do.
    """
    head = file.head(4096)
    if not head:
        raise UnreadableFile("empty: 0 bytes, no text.", hint="Check that the file was saved or copied whole.")
    if head.startswith(_OLE2):
        _refuse_old_office(file.data)
    if head.startswith(b"PK\x03\x04"):
        _refuse_zip(file)
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            raise UnreadableFile(f"{kind}.", hint=_READ)
    if head[4:8] == b"ftyp" or (head.startswith(b"RIFF") and head[8:12] in (b"WEBP", b"AVI ", b"WAVE")):
        raise UnreadableFile("a picture, sound or film file.", hint=_READ)


def _refuse_old_office(data: bytes) -> None:
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise UnreadableFile("an Office file with a password.", hint="Save a copy without the password and add that.")
    if "WordDocument".encode("utf-16-le") in data:
        raise UnreadableFile("an old Word document (.doc), whatever its name.", hint="Save it as .docx or PDF.")
    raise UnreadableFile(
        "an old Office file (.doc, .xls, .ppt or .msg), whatever its name.", hint=f"Save it anew. {_READ}"
    )


def _refuse_zip(file: SourceFile) -> None:
    names = zip_names(file)
    if "word/document.xml" in names or not names:
        return  # a Word document, or a broken archive that its reader names
    folders = {name.split("/", 1)[0] for name in names}
    if "xl" in folders:
        raise UnreadableFile("an Excel workbook.", hint=f"Save the sheet as CSV. {_READ}")
    if "ppt" in folders:
        raise UnreadableFile("a PowerPoint presentation.", hint=f"Export it as PDF. {_READ}")
    if "META-INF/container.xml" in names:
        raise UnreadableFile("an EPUB book.", hint=f"Convert it to HTML or text. {_READ}")
    if "content.xml" in names and "mimetype" in names:
        raise UnreadableFile("an OpenDocument file.", hint=f"Save it as .docx or PDF. {_READ}")
    raise UnreadableFile("a ZIP archive.", hint=f"Unpack it and add the files. {_READ}")
