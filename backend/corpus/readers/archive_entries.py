"""What every kind of archive gives: its entries one by one, and their bytes piece by piece, never more at once."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

PIECE_BYTES = 1 << 18
_MOST_LZMA_BYTES = 128_000_000  # memory that a packed file may ask for


class DamagedEntryError(Exception):
    """An entry whose bytes are not what they should be; the message is the reason, for people."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of an archive.

    Attributes:
        name: As the archive has it, its letters told.
        pieces: Gives its bytes; raises DamagedEntryError.
        packed_bytes: What they take in the archive; 0 where that is bounded elsewhere.
        stated_bytes: What the archive says they are, true or not.
        refusal: Why it is left out, for people; empty: it is not.
        is_folder: A folder by itself.
        is_locked: It needs a password.
    """

    name: str
    pieces: Callable[[], Iterator[bytes]]
    packed_bytes: int = 0
    stated_bytes: int = 0
    refusal: str = ""
    is_folder: bool = False
    is_locked: bool = False


class _Unpacker(Protocol):
    """As bz2 and lzma have it."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Inflater:
    """zlib in the manner of bz2 and lzma.

    Args:
        window_bits: As zlib counts: -15 bare, 31 gzip.
    """

    def __init__(self, window_bits: int) -> None:
        self._inflater = zlib.decompressobj(window_bits)
        self._gave_all = False

    @property
    def eof(self) -> bool:
        return self._inflater.eof

    @property
    def needs_input(self) -> bool:
        return not self._inflater.unconsumed_tail and not self._gave_all

    @property
    def unused_data(self) -> bytes:
        return self._inflater.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        piece = self._inflater.decompress(self._inflater.unconsumed_tail + data, max_length)
        self._gave_all = len(piece) == max_length  # more may wait inside though no input is left
        return piece


_UNPACKERS: dict[str, Callable[[], _Unpacker]] = {
    "deflate": lambda: _Inflater(-15),
    "gzip": lambda: _Inflater(31),
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_LZMA_BYTES),
}


def unpacked_pieces(packed: Iterable[bytes], method: str, *, may_repeat: bool = False) -> Iterator[bytes]:
    """Unpack a stream; no piece is longer than ``PIECE_BYTES``, however small what it came from.

    Args:
        packed: The stream in blocks.
        method: ``deflate``, ``gzip``, ``bzip2`` or ``xz``.
        may_repeat: Whether another stream may follow the first (gzip, bzip2 and xz files of several parts).

    Raises:
        DamagedEntryError: It is broken, or ends too early.
    """
    unpacker = _UNPACKERS[method]()
    blocks = iter(packed)
    try:
        while True:
            data = b""
            if unpacker.eof:
                data = unpacker.unused_data or next(blocks, b"")
                if not may_repeat or not data.strip(b"\0"):  # files are padded with zeros
                    return
                unpacker = _UNPACKERS[method]()
            elif unpacker.needs_input:
                data = next(blocks, b"")
                if not data:
                    raise DamagedEntryError("it is cut short")
            if piece := unpacker.decompress(data, PIECE_BYTES):
                yield piece
    except (zlib.error, OSError, lzma.LZMAError, EOFError, ValueError) as error:
        raise DamagedEntryError(str(error)[:120].rstrip(".")) from error
