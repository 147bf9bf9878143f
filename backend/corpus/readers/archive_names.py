"""Names in archives: their letters told from bytes, and nothing left in them that could lead elsewhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

from backend.corpus.encodings import legacy_encoding

_MOST_PART_CHARS = 200
_MOST_CHARS = 1_000
_MOST_SHOWN_BYTES = 100_000  # of names, to the detector
_DRIVE = re.compile(r"^[A-Za-z]:")
# One or two bytes above ASCII beside letters of it: a word with an umlaut or accent.
_WESTERN_WORD = re.compile(rb"(?<![\x80-\xff])[\x80-\xff]{1,2}(?![\x80-\xff\\])")
_HIGH = re.compile(rb"[\x80-\xff]+")
_BEFORE_BACKSLASH = re.compile(rb"[\x80-\xff]\\")
_DOUBLE_BYTE = ("cp932", "gb18030", "big5hkscs", "cp949")
_LATIN = ("cp437", "cp850", "cp1252", "cp852", "cp1250")


def names_encoding(names: Iterable[bytes]) -> str:
    """The codec of an archive's names, told from all of them together: ``ascii`` and ``utf-8`` are certain.

    The ZIP format knows DOS 437 and, with a flag, UTF-8; tools in fact write whatever the computer used.
    """
    data = b"\n".join(name for name in names if not name.isascii())[:_MOST_SHOWN_BYTES]
    if not data:
        return "ascii"
    if _fits(data, "utf-8"):
        return "utf-8"
    if _BEFORE_BACKSLASH.search(data) and (codec := _double_byte(data)):
        return codec  # the second half of a character, not a folder
    runs = _HIGH.findall(data)
    if len(_WESTERN_WORD.findall(data)) == len(runs) and _n_letters(data) >= 2 * len(runs):
        for codec in _LATIN:
            if _is_latin(data, codec):
                return codec
    found = legacy_encoding(data)
    return found if found and _fits(data, found) else "cp437"


def decoded_name(raw: bytes, codec: str) -> str:
    """A name in this codec; one that does not fit in UTF-8 or, where every byte means something, DOS 437."""
    for candidate in (codec, "utf-8", "cp437"):
        try:
            return raw.decode(candidate)
        except UnicodeDecodeError:
            continue
    raise AssertionError("DOS 437 has a sign for every byte")


def harmless(name: str) -> str:
    """A relative path to show: no drive, no root, no way up, no control characters, not endless."""
    shown = "".join("_" if _is_odd(char) else char for char in unicodedata.normalize("NFC", name[:_MOST_CHARS]))
    shown = shown.replace("\\", "/")
    while _DRIVE.match(shown):
        shown = shown[2:]
    parts = [_short(part.strip()) for part in shown.split("/")]
    return "/".join(part for part in parts if part not in ("", ".", "..")) or "unnamed"


def free_name(name: str, taken: Collection[str], number: int = 2) -> str:
    """The name itself, or with the first free number from this one on: ``notes (2).md``."""
    if name not in taken:
        return name
    folder, slash, base = name.rpartition("/")
    stem, dot, suffix = base.rpartition(".")
    while True:
        numbered = f"{stem} ({number}).{suffix}" if dot and stem else f"{base} ({number})"
        if (candidate := folder + slash + numbered) not in taken:
            return candidate
        number += 1


def _short(part: str) -> str:
    if len(part) <= _MOST_PART_CHARS:
        return part
    stem, dot, suffix = part.rpartition(".")
    end = dot + suffix if stem and len(suffix) <= 10 else ""
    return part[: _MOST_PART_CHARS - len(end) - 1] + "…" + end


def _is_odd(char: str) -> bool:
    """Control characters, lone surrogates, and marks that turn the direction of what follows."""
    return (
        unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")
        or char in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )


def _double_byte(data: bytes) -> str:
    found = legacy_encoding(data)
    return next((codec for codec in (found, *_DOUBLE_BYTE) if codec in _DOUBLE_BYTE and _fits(data, codec)), "")


def _fits(data: bytes, codec: str) -> bool:
    try:
        data.decode(codec)
    except UnicodeDecodeError:
        return False
    return True


def _n_letters(data: bytes) -> int:
    return sum(65 <= byte <= 90 or 97 <= byte <= 122 for byte in data)


def _is_latin(data: bytes, codec: str) -> bool:
    if not _fits(data, codec):
        return False
    return all(unicodedata.name(char, "").startswith("LATIN") for char in data.decode(codec) if char > "\x7f")
