"""Tar archives and single files packed with gzip, bzip2 or xz, as streams: nothing is sought, nothing is extracted."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import IO, Any, BinaryIO

from backend.corpus.files import SourceFile
from backend.corpus.readers.archive_entries import PIECE_BYTES, DamagedEntryError, Entry, unpacked_pieces
from backend.corpus.readers.archive_names import decoded_name, names_encoding

_METHODS = ((b"\x1f\x8b\x08", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\x00", "xz"))
_SUFFIXES = {"tgz": "tar", "tbz2": "tar", "tbz": "tar", "txz": "tar", "gz": "", "bz2": "", "xz": "", "gzip": ""}
_TAR_MARK = slice(257, 262)
HEAD_BYTES = 512
"""Of a file, by which it is told."""


def packed_method(head: bytes) -> str:
    """``gzip``, ``bzip2`` or ``xz`` by a file's first bytes; else empty."""
    return next((method for magic, method in _METHODS if head.startswith(magic)), "")


def is_tar(head: bytes) -> bool:
    """Whether the first ``HEAD_BYTES`` are a tar archive's (POSIX or GNU)."""
    return head[_TAR_MARK] == b"ustar"


def packed_kind(file: SourceFile) -> str:
    """For people: ``gzip archive``, ``tar archive``; empty if it is neither packed nor tar."""
    head = file.head(HEAD_BYTES)
    kind = packed_method(head) or ("tar" if is_tar(head) else "")
    return f"{kind} archive" if kind else ""


def packed_entries(stream: BinaryIO, method: str, name: str, watch: Callable[[int, int], None]) -> Iterator[Entry]:
    """The files of a packed tar archive, or the one file that was packed.

    Args:
        stream: The archive.
        method: As ``packed_method``.
        name: Of the archive: the one file is called so, without the suffix.
        watch: Told (bytes read, bytes unpacked) so far after each piece; raises where that is too much.
    """
    pieces = _watched(stream, method, watch)
    head = b""
    while len(head) < HEAD_BYTES and (piece := next(pieces, b"")):
        head += piece
    if is_tar(head):
        yield from tar_entries(io.BufferedReader(_PieceStream(_after(head, pieces)), PIECE_BYTES))
        return
    yield Entry(_inner_name(name), partial(_after, head, pieces))


def tar_entries(stream: IO[bytes]) -> Iterator[Entry]:
    """The files of a tar archive; the bytes of each must be taken before the next is asked for.

    Raises:
        DamagedEntryError: The archive is broken from here on.
    """
    try:
        # Surrogates keep the bytes of a name that is not UTF-8.
        with tarfile.open(fileobj=stream, mode="r|", encoding="utf-8", errors="surrogateescape") as archive:
            for member in archive:
                raw = member.name.encode("utf-8", "surrogateescape")
                yield Entry(
                    decoded_name(raw, names_encoding([raw])),
                    partial(_member_pieces, archive, member),
                    stated_bytes=member.size,
                    refusal=_refusal(member),
                    is_folder=member.isdir(),
                )
    except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError) as error:  # one a header of a header
        raise DamagedEntryError("the archive is damaged from here on") from error


def _refusal(member: tarfile.TarInfo) -> str:
    if member.issym() or member.islnk():
        return "a link, not a file. Add the file itself."
    if not (member.isreg() or member.isdir()) or member.issparse():
        return "no ordinary file, left out."
    return ""


def _member_pieces(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    try:
        content = archive.extractfile(member)
        if content is None:
            return
        while piece := content.read(PIECE_BYTES):
            yield piece
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise DamagedEntryError("it is cut short") from error


def _watched(stream: BinaryIO, method: str, watch: Callable[[int, int], None]) -> Iterator[bytes]:
    n_read = n_unpacked = 0

    def blocks() -> Iterator[bytes]:
        nonlocal n_read
        while block := stream.read(PIECE_BYTES):
            n_read += len(block)
            yield block

    for piece in unpacked_pieces(blocks(), method, may_repeat=True):
        n_unpacked += len(piece)
        watch(n_read, n_unpacked)
        yield piece


def _after(head: bytes, pieces: Iterable[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from pieces


def _inner_name(name: str) -> str:
    base = name.rpartition("/")[2]
    stem, dot, suffix = base.rpartition(".")
    inner = _SUFFIXES.get(suffix.lower())
    return base if not dot or not stem or inner is None else stem + (f".{inner}" if inner else "")


class _PieceStream(io.RawIOBase):
    """Pieces as a file that is read from start to end."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer as far as the next piece goes."""
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        n_bytes = min(len(buffer), len(self._rest))
        buffer[:n_bytes] = self._rest[:n_bytes]
        self._rest = self._rest[n_bytes:]
        return n_bytes
