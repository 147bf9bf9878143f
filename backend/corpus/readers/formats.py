"""Kinds of file that are told by their first bytes and not read: each with the way out."""

from __future__ import annotations

from backend.corpus.files import SourceFile, UnreadableFile
from backend.corpus.readers.packages import package_kind, zip_names

FORMATS_READ = (
    "text, Markdown, PDF, DOCX, PPTX, XLSX, ODT, ODS, ODP, RTF, EPUB, HTML, CSV, JSON, JSONL, EML, IPYNB, SRT and VTT"
)
_READ = f"Ragduel reads {FORMATS_READ}."

_OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAGIC = (
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
_OTHER_ARCHIVES = ("a 7-Zip archive", "a RAR archive", "a Zstandard archive")


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
            hint = f"Unpack it and add the files, or pack them as a ZIP. {_READ}" if kind in _OTHER_ARCHIVES else _READ
            raise UnreadableFile(f"{kind}.", hint=hint)
    if head[4:8] == b"ftyp" or (head.startswith(b"RIFF") and head[8:12] in (b"WEBP", b"AVI ", b"WAVE")):
        raise UnreadableFile("a picture, sound or film file.", hint=_READ)


# Names of streams by which old Office files tell what they are, as they stand in the file.
_OLD_OFFICE = (
    ("EncryptedPackage", "an Office file with a password", "Save a copy without the password and add that."),
    ("WordDocument", "an old Word document (.doc), whatever its name", "Save it as .docx or PDF."),
    ("PowerPoint Document", "an old PowerPoint presentation (.ppt), whatever its name", "Save it as .pptx or PDF."),
    ("__substg1.0_", "an Outlook message (.msg), whatever its name", "Save it as .eml or text."),
    ("Workbook", "an old Excel workbook (.xls), whatever its name", "Save it as .xlsx or CSV."),
    ("Book", "an old Excel workbook (.xls), whatever its name", "Save it as .xlsx or CSV."),
)


def _refuse_old_office(data: bytes) -> None:
    for stream, kind, hint in _OLD_OFFICE:
        if stream.encode("utf-16-le") in data:
            raise UnreadableFile(f"{kind}.", hint=hint)
    raise UnreadableFile(
        "an old Office file (.doc, .xls, .ppt or .msg), whatever its name.", hint=f"Save it anew. {_READ}"
    )


def _refuse_zip(file: SourceFile) -> None:
    names = zip_names(file)
    kind = package_kind(names)
    if kind == "xlsb":
        raise UnreadableFile("a binary Excel workbook (.xlsb).", hint="Save it as .xlsx or CSV.")
    if kind == "iwork":
        raise UnreadableFile(
            "a document of Apple's Pages, Numbers or Keynote.", hint="Export it as PDF, or as .docx, .xlsx or .pptx."
        )
    if kind or not names:
        return  # its reader's, or a broken archive that its reader names
    raise UnreadableFile("a ZIP archive.", hint=f"Unpack it and add the files. {_READ}")
