"""From bytes to text: byte order marks, UTF-16 by its zeros, UTF-8, then a guess over the whole file."""

from __future__ import annotations

import codecs
import logging
import re
import unicodedata
from dataclasses import dataclass

from backend.corpus.files import UnreadableFile

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Names that pages declare, and the superset that browsers read them with (WHATWG Encoding Standard).
_WIDER = {
    "iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030", "gbk": "gb18030",
    "shift_jis": "cp932", "euc_kr": "cp949", "iso8859-11": "cp874", "tis-620": "cp874",
}  # fmt: skip
_SPOKEN = {
    "cp1252": "Windows-1252", "cp1251": "Windows-1251", "cp1250": "Windows-1250", "cp932": "Shift-JIS (cp932)",
    "gb18030": "GB18030", "big5": "Big5", "koi8-r": "KOI8-R", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16",
    "utf-32-le": "UTF-32", "utf-32-be": "UTF-32", "euc_jp": "EUC-JP", "iso2022_jp": "ISO-2022-JP",
}  # fmt: skip
_LATIN = {"cp1250", "cp1254", "cp1257", "cp1258", "iso8859-1", "iso8859-2", "iso8859-15", "mac-roman", "cp858"}
# Letters and signs of West European text in Windows-1252.
_WESTERN = set("€‚ƒ„…†‰Š‹ŒŽ‘’“”•–—™š›œžŸ\u00a0¡¢£§«°´·»¿©®½¼²ºª×" + "".join(map(chr, range(0xC0, 0x100))))
_NOT_WESTERN = {"Polish", "Czech", "Slovak", "Hungarian", "Slovene", "Croatian", "Romanian", "Turkish", "Lithuanian",
                "Latvian", "Estonian", "Vietnamese"}  # fmt: skip
_CONTROL_BYTES = bytes(b for b in range(32) if b not in b"\t\n\x0b\x0c\r\x1b")
_META_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""")


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
    """Decode a text file.

    Args:
        data: The whole file.
        declared: Charset that the file itself names; used where it fits.
        forced: Codec that a person chose; used whatever comes of it, and what does not fit is replaced and counted.

    Raises:
        UnreadableFile: The bytes are no text in any known encoding, or the chosen codec is not known.
    """
    if forced:
        return _as_chosen(data, forced)
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = data.decode(encoding, "replace")
            note = ("some bytes do not fit its byte order mark and were replaced",) if "\ufffd" in text else ()
            return Decoded(text, encoding, note)
    wide = _wide_without_mark(data)
    if wide:
        return Decoded(data.decode(wide), wide, (_guessed(wide),), True)
    if b"\x1b$B" in data or b"\x1b$@" in data:
        text_or_none = _strict(data, "iso2022_jp")
        if text_or_none is not None:
            return Decoded(text_or_none, "iso2022_jp", (_guessed("iso2022_jp"),), True)
    named = _codec_name(declared)
    # What decodes as UTF-8 is UTF-8, whatever a page says of itself: other encodings hardly ever do by chance.
    for encoding in ["utf-8", *([named] if named and not named.startswith("utf-16") else [])]:
        text_or_none = _strict(data, encoding)
        if text_or_none is not None and not _is_binary(data):
            return Decoded(text_or_none, encoding)
    if _is_binary(data):
        raise UnreadableFile("not text: binary data of an unknown kind.", hint="Save it as text, PDF or DOCX.")
    return _guess(data)


def _as_chosen(data: bytes, forced: str) -> Decoded:
    try:
        encoding = codecs.lookup(forced).name
        text = data.decode(encoding, "replace")
    except (LookupError, UnicodeError):
        raise UnreadableFile(f"no text encoding is called “{forced[:40]}”.", hint="Example: windows-1252.") from None
    n_lost = text.count("\ufffd")
    note = (f"{n_lost:,} characters do not fit the chosen encoding and were replaced",) if n_lost else ()
    return Decoded(text, encoding, note)


def _codec_name(declared: str) -> str:
    try:
        name = codecs.lookup(declared).name if declared else ""
    except LookupError:
        return ""
    return _WIDER.get(name, name)


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _is_binary(data: bytes) -> bool:
    """Whether more bytes are control codes than any text has (a few stray NULs pass)."""
    n_controls = len(data) - len(data.translate(None, _CONTROL_BYTES))
    return n_controls > max(8, len(data) // 20)


def _wide_without_mark(data: bytes) -> str:
    """UTF-32 or UTF-16 without a mark, told by where the zeros (or other control bytes) stand; else empty."""
    sample = data[:65536]
    if len(data) % 2 or len(data) < 4 or sample.translate(None, _CONTROL_BYTES) == sample:
        return ""
    n_units = len(sample) // 4
    if len(data) % 4 == 0 and sample.count(0) >= 2 * n_units:
        for encoding, zeros in (("utf-32-le", (2, 3)), ("utf-32-be", (0, 1))):
            if all(sample[at::4].count(0) >= n_units * 0.98 for at in zeros) and _strict(data, encoding) is not None:
                return encoding
    fits = [(_likeness(data, encoding), encoding) for encoding in ("utf-16-le", "utf-16-be")]
    likeness, encoding = max(fits)
    return encoding if likeness > 0.9 and likeness > min(fits)[0] else ""


def _likeness(data: bytes, encoding: str) -> float:
    """0 to 1: how much UTF-16 text, that is, letters of few alphabets with ordinary blanks and stops."""
    text = _strict(data, encoding)
    if text is None:
        return 0.0
    sample = text[:16384]
    odd = sum(unicodedata.category(char) in ("Cn", "Co", "Cs", "Cc") and char not in "\t\n\r" for char in sample)
    common = sum(char in " \n\r\t.,;:-。、，\u3000" or char.isalnum() for char in sample)
    blocks = len({ord(char) >> 8 for char in sample})
    ordinary = any(char in " \n。、" for char in sample) and (
        blocks <= 8 or any(0x4E <= ord(c) >> 8 < 0xA0 for c in sample)
    )
    plain = sum(char in " \n\r\t" or char.isascii() for char in sample)
    return 0.0 if odd > len(sample) * 0.02 or not ordinary or not plain else common / len(sample)


def _guess(data: bytes) -> Decoded:
    from charset_normalizer import from_bytes

    logging.getLogger("charset_normalizer").setLevel(logging.ERROR)
    best = from_bytes(data).best()
    encoding = codecs.lookup(best.encoding).name if best is not None else ""
    if best is None or encoding in _LATIN:
        western = _strict(data, "cp1252")
        language = best.language if best is not None else ""
        if western is not None and language not in _NOT_WESTERN and {c for c in western if c > "\x7f"} <= _WESTERN:
            return Decoded(western, "cp1252", (_guessed("cp1252"),), True)
    if best is None:
        raise UnreadableFile("its text encoding could not be told.", hint="Save it as UTF-8 and add it again.")
    return Decoded(str(best), encoding, (_guessed(encoding),), True)


def _guessed(encoding: str) -> str:
    return f"encoding guessed: {_SPOKEN.get(encoding, encoding)}"
