"""What bytes say about their encoding: marks, zeros, UTF-8 that fits, and a detector for the old encodings."""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass, field

PROBE_BYTES = 65_536
"""Of the start of a file, in which marks and zeros are looked for."""
SAMPLE_BYTES = 2_000_000
"""Of a file with bytes above 127, shown to the detector."""

ENCODINGS: tuple[tuple[str, str], ...] = (
    ("utf-8", "UTF-8"),
    ("utf-8-sig", "UTF-8 with a byte order mark"),
    ("utf-16", "UTF-16 with a byte order mark"),
    ("utf-16-le", "UTF-16 LE"),
    ("utf-16-be", "UTF-16 BE"),
    ("utf-32", "UTF-32 with a byte order mark"),
    ("utf-32-le", "UTF-32 LE"),
    ("utf-32-be", "UTF-32 BE"),
    ("cp1252", "Windows-1252 (Western Europe)"),
    ("iso8859-15", "ISO-8859-15 (Western Europe)"),
    ("cp850", "DOS 850 (Western Europe)"),
    ("cp437", "DOS 437 (USA)"),
    ("mac-roman", "Mac Roman (Western Europe)"),
    ("cp1250", "Windows-1250 (Central Europe)"),
    ("iso8859-2", "ISO-8859-2 (Central Europe)"),
    ("cp852", "DOS 852 (Central Europe)"),
    ("mac-latin2", "Mac Latin 2 (Central Europe)"),
    ("cp1251", "Windows-1251 (Cyrillic)"),
    ("koi8-r", "KOI8-R (Russian)"),
    ("koi8-u", "KOI8-U (Ukrainian)"),
    ("iso8859-5", "ISO-8859-5 (Cyrillic)"),
    ("cp866", "DOS 866 (Cyrillic)"),
    ("mac-cyrillic", "Mac Cyrillic"),
    ("cp1253", "Windows-1253 (Greek)"),
    ("iso8859-7", "ISO-8859-7 (Greek)"),
    ("cp1254", "Windows-1254 (Turkish)"),
    ("cp1255", "Windows-1255 (Hebrew)"),
    ("cp1256", "Windows-1256 (Arabic)"),
    ("cp1257", "Windows-1257 (Baltic)"),
    ("cp1258", "Windows-1258 (Vietnamese)"),
    ("cp874", "Windows-874 (Thai)"),
    ("cp932", "Shift-JIS (Japanese)"),
    ("euc_jp", "EUC-JP (Japanese)"),
    ("euc_jis_2004", "EUC-JIS-2004 (Japanese)"),
    ("iso2022_jp", "ISO-2022-JP (Japanese)"),
    ("gb18030", "GB18030 (Simplified Chinese)"),
    ("big5hkscs", "Big5 (Traditional Chinese)"),
    ("cp949", "Windows-949 (Korean)"),
    ("iso2022_kr", "ISO-2022-KR (Korean)"),
)
"""(codec, spoken name) of the encodings that a person can choose from."""
_SPOKEN = {
    **dict(ENCODINGS), "cp932": "Shift-JIS (cp932)", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16",
    "utf-32-le": "UTF-32", "utf-32-be": "UTF-32", "big5": "Big5 (Traditional Chinese)",
}  # fmt: skip
# As chardet names them; escape sequences and the wide encodings are told before it is asked.
_DETECTED = (
    *(codec for codec, _ in ENCODINGS if not codec.startswith(("utf-", "euc_jp", "iso2022"))),
    "iso8859-1", "iso8859-8", "iso8859-9", "iso8859-11",
)  # fmt: skip
_NOT_FOR_FILES = frozenset(("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem"))

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Names that files declare or detectors give, and the superset that browsers read them with (WHATWG Encoding Standard).
_WIDER = {
    "iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030", "gbk": "gb18030",
    "shift_jis": "cp932", "euc_kr": "cp949", "iso8859-11": "cp874", "tis-620": "cp874", "big5": "big5hkscs",
    "iso8859-8": "cp1255", "cp950": "big5hkscs",
}  # fmt: skip
_CONTROL_BYTES = bytes(b for b in range(32) if b not in b"\t\n\x0b\x0c\r\x1b")
_ESCAPED = ((b"\x1b$B", "iso2022_jp"), (b"\x1b$@", "iso2022_jp"), (b"\x1b$)C", "iso2022_kr"))
_LINE_ABOVE_ASCII = re.compile(rb"[^\n]*[\x80-\xff][^\n]*\n?")


def mark_of(head: bytes) -> str:
    """The codec of a byte order mark, or an empty string."""
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), "")


def codec_of(name: str) -> str:
    """Python's name of the codec that is called so; empty if no text file is written in it."""
    try:
        codec = codecs.lookup(name).name if name else ""
        b"a".decode(codec or "utf-8", "replace")  # codecs that give no text are refused
    except (LookupError, ValueError):
        return ""
    return "" if codec in _NOT_FOR_FILES else codec


def codec_name(declared: str) -> str:
    """As ``codec_of``, but the superset that browsers take."""
    name = codec_of(declared)
    return _WIDER.get(name, name)


def spoken_name(codec: str) -> str:
    """For people: ``Windows-1252 (Western Europe)``."""
    return _SPOKEN.get(codec, codec)


@dataclass(slots=True)
class Probe:
    """A first look at a file that comes in blocks.

    Attributes:
        is_utf8: Whether all of it is.
        escaped: Encodings that its escape sequences name.
    """

    is_utf8: bool = True
    escaped: list[str] = field(default_factory=list)
    _n_bytes: int = 0
    _n_controls: int = 0
    _decoder: codecs.IncrementalDecoder = field(default_factory=lambda: codecs.getincrementaldecoder("utf-8")("strict"))

    def look_at(self, block: bytes) -> None:
        """Take the next block."""
        self._n_bytes += len(block)
        self._n_controls += len(block) - len(block.translate(None, _CONTROL_BYTES))
        if self.is_utf8:
            self._decode(block)
        if b"\x1b$" in block:
            self.escaped += [name for mark, name in _ESCAPED if mark in block and name not in self.escaped]

    def finish(self, is_head: bool) -> None:
        """Say that these were all blocks; ``is_head``: of a file that goes on."""
        if self.is_utf8 and not is_head:
            self._decode(b"", is_end=True)

    @property
    def is_binary(self) -> bool:
        """Whether more bytes are control codes than any text has (a few stray NULs pass)."""
        return self._n_controls > max(8, self._n_bytes // 20)

    def _decode(self, block: bytes, *, is_end: bool = False) -> None:
        try:
            self._decoder.decode(block, is_end)
        except UnicodeDecodeError:
            self.is_utf8 = False


@dataclass(slots=True)
class HighBytes:
    """What stands above ASCII in a file that is not UTF-8, and a sample of it for the detector.

    Attributes:
        n_bytes_in_all: The file's size.
        n_utf8: Characters beyond ASCII that are whole in UTF-8.
        n_not_utf8: Places that UTF-8 can't hold.
        sample: The file, or of a larger one whole lines with bytes above 127, evenly spread.
    """

    n_bytes_in_all: int
    n_utf8: int = 0
    n_not_utf8: int = 0
    sample: bytearray = field(default_factory=bytearray)
    _is_first: bool = True
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )

    def look_at(self, block: bytes) -> None:
        """Take the next block."""
        self._count(self._decoder.decode(block))
        if self.n_bytes_in_all <= SAMPLE_BYTES:
            self.sample += block
        elif not block.isascii():
            self._sample_lines(block)
        self._is_first = False

    def finish(self, is_head: bool) -> None:
        """Say that these were all blocks; ``is_head``: of a file that goes on."""
        if not is_head:
            self._count(self._decoder.decode(b"", True))

    def _count(self, text: str) -> None:
        n_lost = text.count("\ufffd")
        self.n_not_utf8 += n_lost
        self.n_utf8 += len(text) - len(text.encode("ascii", "ignore")) - n_lost

    def _sample_lines(self, block: bytes) -> None:
        share = max(1_000, SAMPLE_BYTES * len(block) // self.n_bytes_in_all)
        start = 0 if self._is_first else block.find(b"\n") + 1  # 0 as well where the block is part of one line
        taken = 0
        for line in _LINE_ABOVE_ASCII.finditer(block, start):
            if taken >= share:
                return
            piece = line.group()[: share - taken]
            self.sample += piece
            taken += len(piece)


def is_mostly_utf8(n_utf8: int, n_not_utf8: int) -> bool:
    """Whether broken bytes in UTF-8 are likelier than another encoding that looks like it by chance."""
    return n_utf8 >= 2 and n_utf8 >= n_not_utf8


def wide_without_mark(head: bytes, n_bytes: int, is_head: bool = False) -> str:
    """UTF-32 or UTF-16 without a mark, told by where the zeros (or other control bytes) stand; else empty.

    Args:
        head: The first ``PROBE_BYTES``.
        n_bytes: Of the whole file.
        is_head: The file goes on behind ``n_bytes``.
    """
    if n_bytes < 4 or (n_bytes % 2 and not is_head) or head.translate(None, _CONTROL_BYTES) == head:
        return ""
    head = head[: len(head) // 4 * 4] if len(head) > 4 and (is_head or n_bytes > len(head)) else head
    n_units = len(head) // 4
    if n_bytes % 4 == 0 or is_head:
        for encoding, zeros in (("utf-32-le", (2, 3)), ("utf-32-be", (0, 1))):
            if all(head[at::4].count(0) >= n_units * 0.98 for at in zeros) and _lenient_head(head, encoding):
                return encoding
    fits = [(_likeness(head, encoding), encoding) for encoding in ("utf-16-le", "utf-16-be")]
    likeness, encoding = max(fits)
    return encoding if likeness > 0.9 and likeness > min(fits)[0] else ""


def _lenient_head(head: bytes, encoding: str) -> str:
    """The head's text without a character that ends beyond it; empty if it is none."""
    try:
        return codecs.getincrementaldecoder(encoding)("strict").decode(head)
    except UnicodeDecodeError:
        return ""


def _likeness(head: bytes, encoding: str) -> float:
    """0 to 1: how much UTF-16 text, that is, letters of few alphabets with ordinary blanks and stops."""
    sample = _lenient_head(head, encoding)[:16384]
    if not sample:
        return 0.0
    odd = sum(unicodedata.category(char) in ("Cn", "Co", "Cs", "Cc") and char not in "\t\n\r" for char in sample)
    common = sum(char in " \n\r\t.,;:-。、，\u3000" or char.isalnum() for char in sample)
    blocks = len({ord(char) >> 8 for char in sample})
    ordinary = any(char in " \n。、" for char in sample) and (
        blocks <= 8 or any(0x4E <= ord(c) >> 8 < 0xA0 for c in sample)
    )
    plain = sum(char in " \n\r\t" or char.isascii() for char in sample)
    return 0.0 if odd > len(sample) * 0.02 or not ordinary or not plain else common / len(sample)


# Letters and signs of West European text in Windows-1252.
_WESTERN = frozenset("€‚ƒ„…†‰Š‹ŒŽ‘’“”•–—™š›œžŸ\u00a0¡¢£§«°´·»¿©®½¼²ºª×" + "".join(map(chr, range(0xC0, 0x100))))
_CAPITAL_WITHIN = re.compile(r"[a-zß-öø-ÿšœž][A-ZÀ-ÖØ-ÞŠŒŽŸ]")
_SIGN_WITHIN = re.compile(r"[^\W\d_][£€¡¿©®½¼¢§°†‡•‰×¥‹›„][^\W\d_]")
_FEW = 4  # bytes above 127 that say too little
_NEAR = 0.4


def legacy_encoding(data: bytes) -> str:
    """The encoding that a detector finds likeliest among those that a person can choose; empty if none fits.

    A handful of bytes above 127 fits many encodings about as well. Where what they are in Windows-1252 looks like
    West European text, and the detector finds that nearly as likely as its first choice, it is Windows-1252.

    Args:
        data: Text with bytes above 127 that is not UTF-8.
    """
    import chardet

    found = chardet.detect_all(
        data, ignore_threshold=True, max_bytes=len(data), compat_names=False, include_encodings=_DETECTED
    )  # fmt: skip
    likely = {codec_name(one["encoding"] or ""): one["confidence"] for one in reversed(found)}
    best = codec_name(found[0]["encoding"] or "")
    if best != "cp1252" and (signs := _few_western(data)) is not None:
        western = max(likely.get("cp1252", 0.0), likely.get("iso8859-1", 0.0))
        if signs or western >= _NEAR * found[0]["confidence"]:
            return "cp1252"
    if best == "euc_jis_2004" and _decodes(data, "euc_jp"):
        return "euc_jp"  # the older one, where it is enough
    # Where nothing fits it names cp1252 without looking.
    return "" if len(found) == 1 and not _decodes(data, best) else best


def _decodes(data: bytes, name: str) -> bool:
    """Whether all of it is text in this encoding; the last character may be cut."""
    try:
        codecs.getincrementaldecoder(name)("strict").decode(data)
    except (UnicodeDecodeError, LookupError):
        return False
    return True


def _few_western(data: bytes) -> bool | None:
    """Whether a few bytes above 127 are signs only, if they look like West European text; None if they do not."""
    n_high = sum(byte > 127 for byte in data) if len(data) < 100_000 else _FEW + 1
    if n_high > _FEW:
        return None
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return None
    high = {char for char in text if char > "\x7f"}
    if not high <= _WESTERN or _CAPITAL_WITHIN.search(text) or _SIGN_WITHIN.search(text):
        return None
    return not any(char.isalpha() for char in high)
