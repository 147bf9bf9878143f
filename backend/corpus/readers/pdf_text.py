"""The text of one PDF page: what PDFium gives, with its weak places mended where a page has them."""

from __future__ import annotations

import codecs
import ctypes
from collections.abc import Sequence
from typing import Any

from backend.corpus.readers.pdf_rtl import NOT_PLAIN, RIGHT_TO_LEFT, Glyph, in_reading_order, is_right_to_left
from backend.corpus.readers.pdf_words import HYPHEN, UNKNOWN, has_unknown, reads_as_text, tidy

_N_SAMPLES = 20
_HYPHEN_CODE = 2  # what single characters give for the HYPHEN of the text
_LAST_CODE_POINT = 0x10FFFF
_MOST_LINE = 5_000  # characters: longer ones are no lines, and stay as they are
_FAR = 1e6  # points: beyond any page


class PageText:
    """Reads the text of pages one by one. Asking PDFium for single characters costs more than the text of all of
    them: that is done only on pages, and in lines, whose text calls for it.

    Args:
        raw: ``pypdfium2.raw``.
    """

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._box = raw.FS_RECTF()
        self._buffer = (ctypes.c_ushort * 16_384)()

    def of(self, page: Any, text_page: Any) -> str:
        """The text of an open page: in the order of the file, unknown letters as U+FFFD, words made whole."""
        raw = self._raw
        n = raw.FPDFText_CountChars(text_page)
        if n <= 0:
            return ""
        if 2 * n + 2 > len(self._buffer):  # kept: ctypes never forgets an array type that it made
            self._buffer = (ctypes.c_ushort * (4 * n + 2))()
        n_written = max(0, raw.FPDFText_GetText(text_page, 0, n, self._buffer) - 1)
        text = codecs.decode(memoryview(self._buffer)[:n_written], "utf-16-le", "surrogatepass")
        turned = not text.isascii() and RIGHT_TO_LEFT.search(text) is not None
        seen = self._seen_area(page, text_page, n_written)
        unmapped = self._unmapped(text_page, n) if self._hints_at_unmapped(text_page, n, text) else set()
        if not turned and seen is None and not unmapped:
            return tidy(text)
        chars = self._chars(text_page, n, text)
        if seen is not None:
            chars = self._within(text_page, chars, seen)
        if unmapped and not reads_as_text("".join(chars[at] for at in unmapped)):
            chars = [UNKNOWN if at in unmapped and char else char for at, char in enumerate(chars)]
        return tidy(self._lines_turned(text_page, chars) if turned else _whole("".join(chars)))

    def _chars(self, text_page: Any, n: int, text: str) -> list[str]:
        """The page's characters as PDFium counts them; those of the text where it left none out and put none in."""
        code_at = self._raw.FPDFText_GetUnicode
        step = max(1, n // _N_SAMPLES)
        if len(text) == n and all(code_at(text_page, at) in {ord(text[at]), _HYPHEN_CODE} for at in range(0, n, step)):
            return list(text)
        codes = [code_at(text_page, at) for at in range(n)]
        chars = [chr(code) if 0 < code <= _LAST_CODE_POINT else "" for code in codes]
        return [HYPHEN if code == _HYPHEN_CODE else char for code, char in zip(codes, chars, strict=True)]

    def _hints_at_unmapped(self, text_page: Any, n: int, text: str) -> bool:
        """By a sample: asking for each character costs more than the text."""
        is_unmapped = self._raw.FPDFText_HasUnicodeMapError
        step = max(1, n // _N_SAMPLES)
        return has_unknown(text) or any(is_unmapped(text_page, at) == 1 for at in range(0, n, step))

    def _unmapped(self, text_page: Any, n: int) -> set[int]:
        """Characters that are numbers of glyphs, for their font does not say which letters those are."""
        is_unmapped = self._raw.FPDFText_HasUnicodeMapError
        return {at for at in range(n) if is_unmapped(text_page, at) == 1}

    def _seen_area(self, page: Any, text_page: Any, n: int) -> tuple[float, float, float, float] | None:
        """Left, bottom, right, top of the page if some text lies outside (printer's marks); else None."""
        box = self._box
        if not self._raw.FPDF_GetPageBoundingBox(page, box):
            return None
        count = self._raw.FPDFText_GetBoundedText
        n_within = count(text_page, box.left, box.top, box.right, box.bottom, None, 0)
        if n_within == n or n_within == count(text_page, -_FAR, _FAR, _FAR, -_FAR, None, 0):
            return None
        return box.left, box.bottom, box.right, box.top

    def _within(self, text_page: Any, chars: list[str], area: tuple[float, float, float, float]) -> list[str]:
        """The characters without those outside; what PDFium put in goes with what stands before it."""
        left, bottom, right, top = area
        kept: list[str] = []
        is_seen = True
        for at, char in enumerate(chars):
            glyph = self._glyph(text_page, at, char)
            if glyph.right > glyph.left and glyph.height > 0:
                is_seen = left <= (glyph.left + glyph.right) / 2 <= right and bottom <= glyph.middle <= top
            kept.append(char if is_seen or char == "\n" else "")
        lines = "".join(char or "\x00" for char in kept).split("\n")
        at = -1
        for line in lines:  # a line that lay outside leaves no blank line behind
            at += len(line) + 1
            if at < len(kept) and not line.strip("\x00\r\t "):
                kept[at] = ""
        return kept

    def _lines_turned(self, text_page: Any, chars: list[str]) -> str:
        """The page's text, with each line that has letters from right to left put together from its glyphs."""
        lines: list[str] = []
        start = 0
        for at in range(len(chars) + 1):
            if at < len(chars) and chars[at] != "\n":
                continue
            line = _whole("".join(chars[start:at])).rstrip("\r")
            if at - start <= _MOST_LINE and RIGHT_TO_LEFT.search(line) is not None:
                line = self._line_turned(text_page, chars, start, at, line)
            lines.append(line)
            start = at + 1
        return "\n".join(lines)

    def _line_turned(self, text_page: Any, chars: list[str], start: int, end: int, line: str) -> str:
        if NOT_PLAIN.search(line) is None:  # PDFium turns plain lines well; only some axes mislead it
            pairs = [
                at for at in range(start, end - 1) if is_right_to_left(chars[at]) and is_right_to_left(chars[at + 1])
            ]
            looked_at = {*pairs[:1], *pairs[-1:], *pairs[len(pairs) // 2 :][:1]}
            if all(self._glyph(text_page, at, "").left > self._glyph(text_page, at + 1, "").left for at in looked_at):
                return line
        glyphs = [self._glyph(text_page, at, chars[at]) for at in range(start, end) if chars[at] not in {"", "\r"}]
        return in_reading_order(glyphs) if _stand_in_a_row(glyphs) else line

    def _glyph(self, text_page: Any, at: int, char: str) -> Glyph:
        box = self._box
        self._raw.FPDFText_GetLooseCharBox(text_page, at, box)
        top, bottom = box.top, box.bottom
        return Glyph(char, box.left, box.right, top - bottom, (top + bottom) / 2)


def _whole(text: str) -> str:
    """Halves of one character that came as two are joined."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _stand_in_a_row(glyphs: Sequence[Glyph]) -> bool:
    """Whether a line runs from side to side; turned pages are left as PDFium gives them."""
    wide = [glyph for glyph in glyphs if glyph.right > glyph.left]
    if not wide:
        return False
    middles = [glyph.middle for glyph in wide]
    return max(middles) - min(middles) <= 1.5 * max(glyph.height for glyph in wide)
