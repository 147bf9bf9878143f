"""Natural places to cut a text at, looked for backwards from where a chunk is full."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from enum import Enum, auto

from backend.corpus.chunking.marks import runs_of
from backend.corpus.chunking.sentences import CLOSERS, STOP_RUN, STOPS, STRUCTURE_GAP, ends_sentence
from backend.corpus.graphemes import splits_cluster

_BLANKS = re.compile(r"\s*")
_PARAGRAPH_GAP = re.compile(r"\n[^\S\n]*\n")
# Scripts that put no blanks between words: Thai, Lao, Burmese, Khmer, kana, Chinese characters, full-width forms.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
_NOT_FIRST = STOPS + CLOSERS + "，、；：,;:％"


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
        begun = [at for at in section_starts if 0 < at < len(text) and not splits_cluster(text, at)]
        self._paragraphs = _sorted_with([m.start() for m in _PARAGRAPH_GAP.finditer(text)], begun)
        self._structure: list[int] | None = None
        self._stops: tuple[array[int], array[int]] | None = None
        self._begun = begun

    def after_blanks(self, at: int) -> int:
        """The first place from ``at`` on that is not blank; the text's end if there is none."""
        text = self.text
        if at < len(text) and not text[at].isspace():
            return at
        if at + 1 < len(text) and not text[at + 1].isspace():  # one blank, as most are
            return at + 1
        found = _BLANKS.match(text, at)
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
        begins = self._sentence_stops()[0]
        before = self.before_blanks(low)
        at = bisect_left(begins, before)
        if at and not self.text[begins[at - 1] + 1 : before].isspace():
            at -= 1  # the run of stops before may reach up to ``low``
        while at < len(begins) and begins[at] < high:
            if (end := self._sentence_end(at)) > 0 and (start := self.after_blanks(end)) >= low:
                found.append(start)
                break
            at += 1
        return min((start for start in found if start < high), default=None)

    def is_spaced(self, start: int, end: int) -> bool:
        """Whether there are blanks between words there."""
        return len(self.text[start:end].split(None, 1)) > 1

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
        begins = self._sentence_stops()[0]
        at = bisect_left(begins, high) - 1
        while at >= 0 and begins[at] >= low:
            if low < (end := self._sentence_end(at)) <= high:
                return end
            at -= 1
        # A run of stops and closing marks that begins before ``low`` may end behind it.
        return end if at >= 0 and low < (end := self._sentence_end(at)) <= high else 0

    def _sentence_stops(self) -> tuple[array[int], array[int]]:
        """Where runs of stops begin, and the ends of those that were looked at: most never are."""
        if self._stops is None:
            begins = runs_of(self.text, STOPS)
            self._stops = begins, array("l", bytes(begins.itemsize * len(begins)))
        return self._stops

    def _sentence_end(self, at: int) -> int:
        """The end of the sentence that a run of stops ends; -1 if it ends none."""
        begins, ends = self._sentence_stops()
        if not ends[at]:
            run = STOP_RUN.match(self.text, begins[at])
            end = run.end() if run else begins[at] + 1
            is_end = ends_sentence(self.text, begins[at], end) and not splits_cluster(self.text, end)
            ends[at] = end if is_end else -1
        return ends[at]

    def _last_word(self, low: int, high: int) -> int:
        if high < len(self.text) and (self.text[high].isspace() or self.text[high - 1].isspace()):
            end = self.before_blanks(high)
            return end if end > low else 0
        parts = self.text[low:high].rsplit(None, 1)
        end = low + len(parts[0]) if len(parts) == 2 else 0
        if self._ascii or end >= high - (high - low) // 3:
            return end
        for at in range(high, max(end, low), -1):
            if self._is_between_words(at) and not self.text[at - 1].isspace():
                return at
        return end

    def _first_word(self, low: int, high: int) -> int | None:
        if low == 0 or self.text[low - 1].isspace() or self.text[low : low + 1].isspace():
            start = self.after_blanks(low)
            return start if start < high else None
        parts = self.text[low:high].split(None, 1)
        stop = low + len(parts[0]) if parts else high
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
