"""Natural places to cut a text at, looked for backwards from where a chunk is full."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from enum import Enum, auto

from backend.corpus.chunking.sentences import CLOSERS, STOP_RUN, STOPS, STRUCTURE_GAP, ends_sentence
from backend.corpus.graphemes import splits_cluster

_BLANKS = re.compile(r"\s*")
_PARAGRAPH_GAP = re.compile(r"\n[^\S\n]*\n")
_BLANKS_BESIDE_SPACE = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f"
_WIDE_BLANKS = (
    "\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
# Scripts that put no blanks between words: Thai, Lao, Burmese, Khmer, kana, Chinese characters, full-width forms.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
_NOT_FIRST = STOPS + CLOSERS + "，、；：,;:％"
_WINDOW_CHARS = 400


class Kind(Enum):
    """What ends at a cut."""

    PARAGRAPH = auto()
    LINE = auto()
    SENTENCE = auto()
    UNIT = auto()  # a sentence, or what stands for one: a list item, a heading
    WORD = auto()


class Breaks:
    """The natural places of one text.

    Args:
        text: The text.
        section_starts: Where sections begin: they count as paragraphs.
    """

    def __init__(self, text: str, section_starts: Iterable[int]) -> None:
        self.text = text
        self._ascii = text.isascii()
        self._blanked = text
        for blank in _BLANKS_BESIDE_SPACE if self._ascii else _BLANKS_BESIDE_SPACE + _WIDE_BLANKS:
            self._blanked = self._blanked.replace(blank, " ")
        begun = [at for at in section_starts if 0 < at < len(text) and not splits_cluster(text, at)]
        self._paragraphs = _sorted_with([m.start() for m in _PARAGRAPH_GAP.finditer(text)], begun)
        self._structure: list[int] | None = None
        self._begun = begun

    def after_blanks(self, at: int) -> int:
        """The first place from ``at`` on that is not blank; the text's end if there is none."""
        found = _BLANKS.match(self.text, at)
        return found.end() if found else at

    def before_blanks(self, at: int) -> int:
        """One past the last character before ``at`` that is not blank."""
        while at > 0 and self.text[at - 1].isspace():
            at -= 1
        return at

    def last(self, kind: Kind, low: int, high: int) -> int:
        """The last end of this kind in ``low < end <= high``, without the blanks after it; 0 if there is none."""
        if high <= low:
            return 0
        if kind is Kind.PARAGRAPH:
            return self._last_of(self._paragraphs, low, high)
        if kind is Kind.LINE:
            return self._last_line(low, high)
        if kind is Kind.WORD:
            return self._last_word(low, high)
        stop = self._last_sentence(low, high)
        if kind is Kind.UNIT:
            return max(stop, self._last_of(self._structure_gaps(), max(low, stop), high))
        return stop

    def first_start(self, kind: Kind, low: int, high: int) -> int | None:
        """The first place in ``low <= start < high`` where something of this kind begins."""
        if kind is Kind.WORD:
            return self._first_word(low, high)
        gaps = self._paragraphs if kind is Kind.SENTENCE else self._structure_gaps()
        found = []
        at = bisect_left(gaps, self.before_blanks(low))
        while at < len(gaps) and gaps[at] < high:
            if (start := self.after_blanks(gaps[at])) >= low:
                found.append(start)
                break
            at += 1
        for stop in STOP_RUN.finditer(self.text, max(0, self.before_blanks(low) - 8), high):
            start = self.after_blanks(stop.end())
            if low <= start < high and self._is_sentence(stop):
                found.append(start)
                break
        return min((start for start in found if start < high), default=None)

    def is_spaced(self, start: int, end: int) -> bool:
        """Whether there are blanks between words there."""
        return self._blanked.find(" ", start, end) >= 0

    def _structure_gaps(self) -> list[int]:
        if self._structure is None:
            self._structure = _sorted_with([m.start() for m in STRUCTURE_GAP.finditer(self.text)], self._begun)
        return self._structure

    def _last_of(self, gaps: list[int], low: int, high: int) -> int:
        # A gap that begins after some blanks may lie behind ``high`` while the text before it still fits.
        at = bisect_right(gaps, self.after_blanks(high)) - 1
        while at >= 0 and gaps[at] > low:
            if low < (end := self.before_blanks(gaps[at])) <= high:
                return end
            if end <= low:
                break
            at -= 1
        return 0

    def _last_line(self, low: int, high: int) -> int:
        found = self.text.rfind("\n", low, self.after_blanks(high))
        end = self.before_blanks(found) if found >= 0 else 0
        return end if low < end <= high else 0

    def _last_sentence(self, low: int, high: int) -> int:
        reached = high
        while reached > low:
            begin = max(low, reached - _WINDOW_CHARS)
            for stop in reversed(list(STOP_RUN.finditer(self.text, max(0, begin - 8), reached))):
                if low < stop.end() <= high and self._is_sentence(stop):
                    return stop.end()
            reached = begin
        return 0

    def _is_sentence(self, stop: re.Match[str]) -> bool:
        return ends_sentence(self.text, stop.start(), stop.end()) and not splits_cluster(self.text, stop.end())

    def _last_word(self, low: int, high: int) -> int:
        found = self._blanked.rfind(" ", low, high + 1)
        end = self.before_blanks(found) if found >= 0 else 0
        end = end if end > low else 0
        if self._ascii or end >= high - (high - low) // 3:
            return end
        for at in range(high, max(end, low), -1):
            if self._is_between_words(at) and not self.text[at - 1].isspace():
                return at
        return end

    def _first_word(self, low: int, high: int) -> int | None:
        if low == 0 or self._blanked[low - 1] == " ":
            start = self.after_blanks(low)
            return start if start < high else None
        found = self._blanked.find(" ", low, high)
        stop = found if found >= 0 else high
        if not self._ascii:
            for at in range(low, stop):
                if self._is_between_words(at):
                    return at
        start = self.after_blanks(stop)
        return start if start < high else None

    def _is_between_words(self, at: int) -> bool:
        """Whether a word may begin there without a blank before it: beside Chinese, Thai and the like."""
        if not 0 < at < len(self.text):
            return False
        after = self.text[at]
        if after in _NOT_FIRST or after.isspace():
            return False
        if not (_UNSPACED.match(after) or _UNSPACED.match(self.text[at - 1])):
            return False
        return not splits_cluster(self.text, at)


def _sorted_with(places: list[int], more: list[int]) -> list[int]:
    return sorted({*places, *more}) if more else places
