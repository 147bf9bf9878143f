"""Which files are archives, told by content, and how each kind gives its entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

from backend.corpus.files import ReadLimits, SourceFile, UnreadableFile
from backend.corpus.readers import READERS, EmailReader
from backend.corpus.readers.archive_entries import Entry
from backend.corpus.readers.archive_streams import HEAD_BYTES, is_tar, packed_entries, packed_method, tar_entries
from backend.corpus.readers.archive_zip import (
    ZIP_HEADS,
    BrokenArchiveError,
    overlap,
    shown_names,
    zip_entries,
    zip_records,
)
from backend.corpus.readers.eml import attachments
from backend.corpus.readers.formats import refuse_unread
from backend.corpus.readers.packages import package_kind

_DOCUMENTS = (
    ".docx", ".docm", ".dotx", ".pptx", ".pptm", ".xlsx", ".xlsm", ".xlsb", ".odt", ".ods", ".odp", ".epub",
)  # fmt: skip

_PACKED = {"gzip": "a gzip archive", "bzip2": "a bzip2 archive", "xz": "an xz archive"}


@dataclass(frozen=True, slots=True)
class Opened:
    """An archive that lies open.

    Attributes:
        kind: For people, with its article: ``a ZIP archive``.
        entries: One by one; the bytes of each are taken before the next is asked for.
        n_entries: How many; 0 where that is not known before.
        notes: Sentences for people, without the archive's name.
        is_mail: The file itself is a document as well.
        is_overlapping: Entries share bytes.
    """

    kind: str
    entries: Iterable[Entry]
    n_entries: int = 0
    notes: tuple[str, ...] = ()
    is_mail: bool = False
    is_overlapping: bool = False


@contextmanager
def opened_archive(file: SourceFile, limits: ReadLimits, watch: Callable[[int, int], None]) -> Iterator[Opened | None]:
    """The archive in a file; None if it is no archive.

    Args:
        file: Whatever came.
        limits: Of entries no more are listed than one beyond the most; a larger mail is not taken apart.
        watch: Told (bytes read, bytes unpacked) of a packed stream; raises where that is too much.

    Raises:
        UnreadableFile: It begins as an archive and is broken.
    """
    head = file.head(HEAD_BYTES)
    method = packed_method(head)
    if head.startswith(ZIP_HEADS):
        with file.open() as stream:
            yield _zip(file, stream, limits.max_entries)
    elif method:
        with file.open() as stream:
            yield Opened(_PACKED[method], packed_entries(stream, method, file.name, watch))
    elif is_tar(head):
        with file.open() as stream:
            yield Opened("a tar archive", tar_entries(stream))
    else:
        yield _mail(file) if file.size_bytes <= limits.max_file_bytes else None


def _zip(file: SourceFile, stream: BinaryIO, most_entries: int) -> Opened | None:
    is_document = file.name.lower().endswith(_DOCUMENTS)
    try:
        records = zip_records(stream, most_entries)
    except BrokenArchiveError as error:
        if is_document:
            return None  # its reader says what is wrong with it
        raise UnreadableFile(
            "a broken ZIP archive: its table of contents is missing or damaged.",
            hint="It was likely cut short: copy or download it again.",
        ) from error
    names, note = shown_names(records)
    if package_kind(set(names)) or (is_document and not names):
        return None
    return Opened(
        "a ZIP archive",
        zip_entries(stream, records, names),
        len(records),
        (note,) if note else (),
        is_overlapping=overlap(records),
    )


def _mail(file: SourceFile) -> Opened | None:
    """A mail with attachments; one without is a document like any other, and so is one that can't be taken apart."""
    if not EmailReader().accepts(file) or not isinstance(_reader_of(file), EmailReader):
        return None
    try:
        attached = attachments(file.data)
    except UnreadableFile:
        return None
    if not attached:
        return None
    entries = [_attachment(name, content) for name, content in attached]
    return Opened("a mail", entries, len(entries), is_mail=True)


def _reader_of(file: SourceFile) -> object:
    return next(reader for reader in READERS if reader.accepts(file))


def _attachment(name: str, content: bytes) -> Entry:
    return Entry(name, partial(_whole, content), stated_bytes=len(content), refusal=_refusal(name, content))


def _whole(content: bytes) -> Iterator[bytes]:
    yield content


def _refusal(name: str, content: bytes) -> str:
    """Why an attachment would not be read: pictures in signatures would fill the report otherwise."""
    file = SourceFile(name, content)
    if file.head(HEAD_BYTES).startswith(ZIP_HEADS) or packed_method(content[:HEAD_BYTES]):
        return ""
    try:
        refuse_unread(file)
    except UnreadableFile as error:
        return str(error)
    return ""
