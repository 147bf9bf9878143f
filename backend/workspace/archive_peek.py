"""One file out of an archive, for a preview: a bounded part of it, whatever the archive claims."""

from __future__ import annotations

import zipfile

from backend.corpus import SourceFile, is_text_like

_MOST_TEXT_BYTES = 1_000_000
_MOST_BYTES = 20_000_000
_FIRST_LOOK_BYTES = 8_192
_MOST_TRIED = 20


def first_in_archive(archive: SourceFile) -> SourceFile | None:
    """The first file of a ZIP that can be previewed: the corpus of a BEIR dataset, else the first one with a name.

    Returns:
        A text's first million bytes, or another file whole; None where the archive is broken, encrypted, or holds
        nothing of a bearable size among its first files.
    """
    try:
        with archive.open() as stream, zipfile.ZipFile(stream) as opened:
            entries = [one for one in opened.infolist() if _is_file(one)]
            entries.sort(key=lambda one: one.filename.rpartition("/")[2].lower() != "corpus.jsonl")
            for entry in entries[:_MOST_TRIED]:
                if (found := _read(opened, entry, archive.name)) is not None:
                    return found
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, OSError, ValueError, RuntimeError, EOFError):
        return None  # its reader says what is wrong with it
    return None


def _is_file(entry: zipfile.ZipInfo) -> bool:
    parts = entry.filename.split("/")
    is_junk = "__MACOSX" in parts or any(part.startswith(".") for part in parts)
    return not entry.is_dir() and not is_junk and not entry.flag_bits & 1 and entry.file_size > 0


def _read(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, archive_name: str) -> SourceFile | None:
    name = f"{archive_name}/{entry.filename}"
    with opened.open(entry) as stream:
        head = stream.read(_FIRST_LOOK_BYTES)
        is_text = is_text_like(SourceFile(name, head))
        if is_text:
            head += stream.read(_MOST_TEXT_BYTES)
            whole = head[: head.rfind(b"\n") + 1] or head
            return SourceFile(name, whole if len(head) > _MOST_TEXT_BYTES else head)
        if entry.file_size > _MOST_BYTES:
            return None
        head += stream.read(_MOST_BYTES)
    return SourceFile(name, head) if len(head) <= _MOST_BYTES else None
