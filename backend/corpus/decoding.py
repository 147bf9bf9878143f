"""From bytes to text: byte order marks, UTF-16 by its zeros, UTF-8, what the file says, then a guess over the file.

A file is looked at in blocks: its encoding is told, and it is read, without ever lying in memory whole.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TextIO

from backend.corpus.encodings import (
    PROBE_BYTES,
    HighBytes,
    Probe,
    codec_name,
    codec_of,
    is_mostly_utf8,
    legacy_encoding,
    mark_of,
    spoken_name,
    wide_without_mark,
)
from backend.corpus.files import SourceFile, UnreadableFile, go_on

_BLOCK_BYTES = 1 << 20
_META_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""")


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file is to be decoded.

    Attributes:
        name: Python's name of the codec.
        is_guessed: Neither a mark, nor UTF-8 that fits, nor the file itself said so.
        warnings: Sentences for people: what was guessed, and how much does not fit.
    """

    name: str
    is_guessed: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text, and a note where the encoding was not certain."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()
    is_guessed: bool = False


def declared_charset(data: bytes) -> str:
    """The charset that an HTML page or XML prolog names in its first 4,096 bytes, or an empty string."""
    found = _META_CHARSET.search(data[:4096])
    return found.group(1).decode("ascii") if found else ""


def decode(data: bytes, declared: str = "", forced: str = "") -> Decoded:
    """Decode a small text file; see ``sniff`` for what is tried.

    Args:
        data: The whole file.
        declared: Charset that the file itself names; used where it fits.
        forced: Codec that a person chose; used whatever comes of it, and what does not fit is replaced and counted.

    Raises:
        UnreadableFile: The bytes are no text in any known encoding, or the chosen codec is not known.
    """
    encoding = sniff(SourceFile("", data), declared, forced)
    return Decoded(data.decode(encoding.name, "replace"), encoding.name, encoding.warnings, encoding.is_guessed)


def text_stream(file: SourceFile, encoding: str) -> TextIO:
    r"""The file's text as a stream, line ends as ``\n``; bytes that do not fit become U+FFFD. The caller closes it."""
    return io.TextIOWrapper(file.open(), encoding, errors="replace", newline=None)


def sniff(
    file: SourceFile,
    declared: str = "",
    forced: str = "",
    *,
    is_head: bool = False,
    check: Callable[[], None] = go_on,
) -> Encoding:
    """Tell the encoding of a text file, in this order: a person's choice, a byte order mark, UTF-16 or UTF-32 by where
    the zeros stand, UTF-8 if every byte of the file fits, what the file declares if every byte fits, UTF-8 with some
    broken bytes, a detector's guess.

    The detector sees every line with a byte above 127 where these are 2 MB or less together; of larger files as many
    of them, evenly spread over the file. That each byte fits is checked over the whole file always.

    Args:
        file: In memory or on disk; it is read in blocks.
        declared: Charset that the file itself names.
        forced: Codec that a person chose.
        is_head: These are the first bytes of a longer file: a character that ends beyond them is no error.
        check: Called between blocks.

    Raises:
        UnreadableFile: Binary data, no known encoding, or a chosen codec that does not exist.
        CancelledError: From ``check``.
    """
    if forced:
        return _chosen(file, forced, is_head, check)
    head = file.head(PROBE_BYTES)
    if mark := mark_of(head):
        fits = _fits(file, mark, is_head, check)
        return Encoding(mark, False, () if fits else ("some bytes do not fit its byte order mark and were replaced",))
    wide = wide_without_mark(head, file.size_bytes, is_head)
    if wide and _fits(file, wide, is_head, check):
        return _guessed(wide)
    return _narrow(file, codec_name(declared), is_head, check)


def _narrow(file: SourceFile, declared: str, is_head: bool, check: Callable[[], None]) -> Encoding:
    """The encoding of a file whose letters of the ASCII alphabet are single bytes."""
    probe = Probe()
    for block in _blocks(file, check):
        probe.look_at(block)
    probe.finish(is_head)
    for escaped in probe.escaped:
        if _fits(file, escaped, is_head, check):
            return _guessed(escaped)
    if probe.is_utf8 and not probe.is_binary:
        return Encoding("utf-8")
    is_wide = declared.startswith(("utf-16", "utf-32", "utf-8"))
    if declared and not is_wide and not probe.is_binary and _fits(file, declared, is_head, check):
        return Encoding(declared)
    if probe.is_binary:
        raise UnreadableFile("not text: binary data of an unknown kind.", hint="Save it as text, PDF or DOCX.")
    return _legacy(file, is_head, check)


def _legacy(file: SourceFile, is_head: bool, check: Callable[[], None]) -> Encoding:
    high = HighBytes(file.size_bytes)
    for block in _blocks(file, check):
        high.look_at(block)
    high.finish(is_head)
    if is_mostly_utf8(high.n_utf8, high.n_not_utf8):
        n = high.n_not_utf8
        note = f"{n:,} byte{'s' if n > 1 else ''} that {'are' if n > 1 else 'is'} not UTF-8 replaced"
        return Encoding("utf-8", True, (f"encoding guessed: UTF-8; {note}",))
    name = legacy_encoding(bytes(high.sample))
    if not name:
        raise UnreadableFile("its text encoding could not be told.", hint="Save it as UTF-8 and add it again.")
    if name in ("utf-16", "utf-32") and mark_of(file.head(PROBE_BYTES)) != name:
        name += "-le"  # without a mark the codec itself would fail half way; most such files are Windows'
    n_lost = _count_lost(file, name, is_head, check)
    notes = (f"{_lost(n_lost)} fit it: replaced",) if n_lost else ()
    if high.n_utf8 * 20 > high.n_not_utf8 and name.startswith(("cp125", "iso8859")):
        notes = (*notes, "parts of it look like UTF-8: it may hold several encodings")
    return Encoding(name, True, (f"encoding guessed: {spoken_name(name)}", *notes))


def _chosen(file: SourceFile, forced: str, is_head: bool, check: Callable[[], None]) -> Encoding:
    name = codec_of(forced)
    if not name:
        raise UnreadableFile(f"no text encoding is called “{forced[:40]}”.", hint="Example: windows-1252.")
    if name in ("utf-16", "utf-32") and mark_of(file.head(PROBE_BYTES)) != name:
        name += "-le"  # without a mark the codec itself would fail half way; most such files are Windows'
    n_lost = _count_lost(file, name, is_head, check)
    note = (f"{_lost(n_lost)} fit the chosen encoding: replaced",) if n_lost else ()
    return Encoding(name, False, note)


def _lost(n: int) -> str:
    return "1 character does not" if n == 1 else f"{n:,} characters do not"


def _guessed(name: str) -> Encoding:
    return Encoding(name, True, (f"encoding guessed: {spoken_name(name)}",))


def _blocks(file: SourceFile, check: Callable[[], None]) -> Iterator[bytes]:
    with file.open() as stream:
        while block := stream.read(_BLOCK_BYTES):
            check()
            yield block


def _fits(file: SourceFile, name: str, is_head: bool, check: Callable[[], None]) -> bool:
    """Whether every byte of the file is text in this encoding."""
    decoder = codecs.getincrementaldecoder(name)("strict")
    try:
        for block in _blocks(file, check):
            decoder.decode(block)
        decoder.decode(b"", not is_head)
    except UnicodeError:
        return False
    return True


def _count_lost(file: SourceFile, name: str, is_head: bool, check: Callable[[], None]) -> int:
    decoder = codecs.getincrementaldecoder(name)("replace")
    n_lost = sum(decoder.decode(block).count("\ufffd") for block in _blocks(file, check))
    return n_lost + decoder.decode(b"", not is_head).count("\ufffd")
