"""ZIP archives by their table of contents (APPNOTE.TXT 6.3.10, PKWARE), which is believed in nothing.

Not ``zipfile``: it reads the whole table however long, and gives up an archive over one name in a wrong encoding.
"""

from __future__ import annotations

import stat
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import BinaryIO

from backend.corpus.encodings import spoken_name
from backend.corpus.files import UnreadableFile
from backend.corpus.readers.archive_entries import PIECE_BYTES, DamagedEntryError, Entry, unpacked_pieces
from backend.corpus.readers.archive_names import decoded_name, names_encoding

ZIP_HEADS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
"""First bytes: of an archive, an empty one, and one that was to be split."""

_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR64 = struct.Struct("<4sLQL")
_RECORD = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_MOST_COMMENT_BYTES = 65_535
_UTF8 = 1 << 11
_LOCKED = 1 | 1 << 6 | 1 << 13
_METHODS = {0: "", 8: "deflate", 12: "bzip2"}
_OTHER_METHODS = {9: "Deflate64", 14: "LZMA", 93: "Zstandard", 95: "XZ", 98: "PPMd"}
_FULL = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class ZipRecord:
    """One line of the table of contents.

    Attributes:
        raw_name: Bytes in an encoding that may not be known.
        unicode_name: Where the archive says it in UTF-8 beside; else empty.
        flags: As the format counts them.
        method: How it is packed.
        crc: CRC-32 of the content.
        packed_bytes: In the archive.
        stated_bytes: Unpacked, as the table says.
        mode: Of a Unix file, 0 elsewhere.
        offset: Where its own header begins in the file.
    """

    raw_name: bytes
    unicode_name: str
    flags: int
    method: int
    crc: int
    packed_bytes: int
    stated_bytes: int
    mode: int
    offset: int

    @property
    def end(self) -> int:
        """Where its content ends at the earliest."""
        return self.offset + _LOCAL.size + len(self.raw_name) + self.packed_bytes


class BrokenArchiveError(Exception):
    """The table of contents is missing or damaged."""


def zip_records(stream: BinaryIO, most: int) -> list[ZipRecord]:
    """The table of contents, up to ``most`` lines and one more, which tells that there are too many.

    Raises:
        BrokenArchiveError: There is none, or it is damaged.
        UnreadableFile: The archive goes on in another file.
    """
    start, size, shift = _table(stream)
    stream.seek(start)
    records: list[ZipRecord] = []
    left = size
    while left >= _RECORD.size and len(records) <= most:
        fields = _RECORD.unpack(_exactly(stream, _RECORD.size))
        signature, _, _, flags, method, _, _, crc, packed, stated, n_name, n_extra, n_comment, _, _, mode, offset = (
            fields
        )
        if signature != b"PK\x01\x02":
            raise BrokenArchiveError
        rest = _exactly(stream, n_name + n_extra + n_comment)
        name, extra = rest[:n_name], rest[n_name : n_name + n_extra]
        stated, packed, offset = _wide(extra, stated, packed, offset)
        unicode_name = _unicode_name(extra, name)
        records.append(ZipRecord(name, unicode_name, flags, method, crc, packed, stated, mode >> 16, offset + shift))
        left -= _RECORD.size + len(rest)
    return records


def overlap(records: Sequence[ZipRecord]) -> bool:
    """Whether entries share bytes of the archive, as no tool writes them: a few kilobytes unpack to terabytes so."""
    ordered = sorted(records, key=lambda record: (record.offset, record.end))
    return any(one.end > other.offset for one, other in pairwise(ordered))


def shown_names(records: Sequence[ZipRecord]) -> tuple[list[str], str]:
    """The names of all entries, and a note where their encoding was guessed."""
    unsaid = [record.raw_name for record in records if not record.flags & _UTF8 and not record.unicode_name]
    codec = names_encoding(unsaid)
    names = [
        record.unicode_name or decoded_name(record.raw_name, "utf-8" if record.flags & _UTF8 else codec)
        for record in records
    ]
    note = "" if codec in ("ascii", "utf-8") else f"encoding of its file names guessed: {spoken_name(codec)}"
    return names, note


def zip_entries(stream: BinaryIO, records: Sequence[ZipRecord], names: Sequence[str]) -> Iterator[Entry]:
    """The entries in the order of the table; ``stream`` stays open while they are read."""
    for record, name in zip(records, names, strict=True):
        is_folder = name.endswith("/") or (name.endswith("\\") and not record.stated_bytes) or stat.S_ISDIR(record.mode)
        yield Entry(
            name,
            partial(_content, stream, record),
            packed_bytes=record.packed_bytes,
            stated_bytes=record.stated_bytes,
            refusal=_refusal(record),
            is_folder=is_folder,
            is_locked=bool(record.flags & _LOCKED),
        )


def _refusal(record: ZipRecord) -> str:
    kind = stat.S_IFMT(record.mode)
    if kind == stat.S_IFLNK:
        return "a link, not a file. Add the file itself."
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "no ordinary file, left out."
    if record.flags & _LOCKED:
        return "it needs a password. Unpack the archive and add the file."
    if record.method not in _METHODS:
        method = _OTHER_METHODS.get(record.method, f"method {record.method}")
        return f"packed in a way that Ragduel does not unpack ({method}). Unpack the archive and add the file."
    return ""


def _content(stream: BinaryIO, record: ZipRecord) -> Iterator[bytes]:
    if record.offset > stream.seek(0, 2):
        raise DamagedEntryError("it is missing in the archive")
    stream.seek(record.offset)
    try:
        signature, *_, n_name, n_extra = _LOCAL.unpack(_exactly(stream, _LOCAL.size))
    except BrokenArchiveError as error:
        raise DamagedEntryError("it is missing in the archive") from error
    if signature != b"PK\x03\x04":
        raise DamagedEntryError("it is not where the archive says")
    blocks = _stretch(stream, record.offset + _LOCAL.size + n_name + n_extra, record.packed_bytes)
    method = _METHODS[record.method]
    crc = 0
    for piece in unpacked_pieces(blocks, method) if method else blocks:
        crc = zlib.crc32(piece, crc)
        yield piece
    if crc != record.crc:
        raise DamagedEntryError("its checksum does not fit")


def _stretch(stream: BinaryIO, start: int, n_bytes: int) -> Iterator[bytes]:
    """Bytes of the file; it is sought each time, as others read from it as well."""
    end = start + n_bytes
    while start < end:
        stream.seek(start)
        block = stream.read(min(PIECE_BYTES, end - start))
        if not block:
            raise DamagedEntryError("it is cut short")
        start += len(block)
        yield block


def _table(stream: BinaryIO) -> tuple[int, int, int]:
    """Where the table of contents starts, its size, and by how much the offsets in it are off."""
    n_bytes = stream.seek(0, 2)
    tail_at = max(0, n_bytes - _END.size - _MOST_COMMENT_BYTES)
    stream.seek(tail_at)
    tail = stream.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise BrokenArchiveError
    _, disk, _, _, n_entries, size, start, _ = _END.unpack_from(tail, at)
    end = tail_at + at
    wide = _wide_end(stream, end) if _FULL in (size, start) or n_entries == 0xFFFF else None
    if wide:
        size, start, end = wide
    elif disk not in (0, 0xFFFF):
        raise UnreadableFile("one part of a split ZIP archive.", hint="Join its parts, or unpack it and add the files.")
    shift = end - size - start  # what was put before the archive
    if shift < 0 or size > end:
        raise BrokenArchiveError
    return start + shift, size, shift


def _wide_end(stream: BinaryIO, end: int) -> tuple[int, int, int] | None:
    """Size and start of the table, and where it ends, in an archive above 4 GB or 65,535 entries."""
    if end < _LOCATOR64.size + _END64.size:
        return None
    stream.seek(end - _LOCATOR64.size)
    signature, _, at, _ = _LOCATOR64.unpack(_exactly(stream, _LOCATOR64.size))
    if signature != b"PK\x06\x07":
        return None
    for place in (at, end - _LOCATOR64.size - _END64.size):  # the second where something was put before
        if place > end:
            continue
        stream.seek(place)
        signature, *_, size, start = _END64.unpack(_exactly(stream, _END64.size))
        if signature == b"PK\x06\x06":
            return size, start, place
    return None


def _wide(extra: bytes, stated: int, packed: int, offset: int) -> tuple[int, int, int]:
    """The three numbers, from the extra field where they do not fit 32 bits."""
    field = _field(extra, 0x0001)
    values = [stated, packed, offset]
    for at, value in enumerate(values):
        if value == _FULL and len(field) >= 8:
            values[at], field = int.from_bytes(field[:8], "little"), field[8:]
    return values[0], values[1], values[2]


def _unicode_name(extra: bytes, name: bytes) -> str:
    """The name that stands in UTF-8 beside the old one, if it is of the same file."""
    field = _field(extra, 0x7075)
    if len(field) < 6 or field[0] != 1 or int.from_bytes(field[1:5], "little") != zlib.crc32(name):
        return ""
    return field[5:].decode("utf-8", "replace")


def _field(extra: bytes, wanted: int) -> bytes:
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<2H", extra, at)
        if kind == wanted:
            return extra[at + 4 : at + 4 + size]
        at += 4 + size
    return b""


def _exactly(stream: BinaryIO, n_bytes: int) -> bytes:
    data = stream.read(n_bytes)
    if len(data) < n_bytes:
        raise BrokenArchiveError
    return data
