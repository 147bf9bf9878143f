"""How much of a text fits into a chunk: counted in characters, or in tokens that are looked up, not counted again."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Protocol

from backend.corpus.types import Tokenizer

if TYPE_CHECKING:
    import numpy as np

_MOST_CHARS_A_TOKEN = 64
_SLICED_CHARS = 1_000  # a tokenizer may cut longer runs without blanks, and count another token there


class Ruler(Protocol):
    """Measures stretches of one text."""

    def reach(self, start: int, n_units: int) -> int:
        """The furthest end of a stretch from ``start`` with at most so many units; ``start`` if none fits."""

    def back(self, end: int, n_units: int) -> int:
        """The earliest start of a stretch up to ``end`` with at most so many units."""

    def size(self, start: int, end: int) -> int:
        """Units of a stretch inside the text."""

    def alone(self, start: int, end: int) -> int:
        """Units of a stretch where it stands alone, as a chunk does: cutting a word may make more tokens of it."""


class CharacterRuler:
    """Characters (code points)."""

    def __init__(self, text: str) -> None:
        self._n_chars = len(text)

    def reach(self, start: int, n_units: int) -> int:
        """As ``Ruler.reach``."""
        return min(self._n_chars, start + n_units)

    def back(self, end: int, n_units: int) -> int:
        """As ``Ruler.back``."""
        return max(0, end - n_units)

    def size(self, start: int, end: int) -> int:
        """As ``Ruler.size``."""
        return end - start

    def alone(self, start: int, end: int) -> int:
        """As ``Ruler.alone``."""
        return end - start


class TokenRuler:
    """Tokens, by their places in the text.

    Args:
        text: The text.
        tokenizer: Cuts it into tokens, once.
        offsets: Its tokens, if they are known already; shape (tokens, 2), int32.
    """

    def __init__(self, text: str, tokenizer: Tokenizer, offsets: np.ndarray | None = None) -> None:
        import numpy as np

        if offsets is None:
            offsets = _offsets(text, tokenizer)
        offsets = np.ascontiguousarray(offsets.T, dtype=np.int32)  # array("i") answers bisect 5 times as fast
        self._text = text
        self._tokenizer = tokenizer
        self._starts, self._ends = array("i"), array("i")
        self._starts.frombytes(offsets[0].tobytes())
        self._ends.frombytes(offsets[1].tobytes())
        self._cuts_cleanly = getattr(tokenizer, "cuts_cleanly", _beside_blank)
        # Between lines some tokenizers join what stands there: only blanks part words then.
        self._separators = " \n" if "\n" in getattr(tokenizer, "clean_blanks", " \n") else " "
        self._words_are_apart: bool = getattr(tokenizer, "words_are_apart", True)
        self._is_sliced = len(text) > _SLICED_CHARS and re.search(rf"(?<!\S)\S{{{_SLICED_CHARS}}}", text) is not None

    def reach(self, start: int, n_units: int) -> int:
        """As ``Ruler.reach``; a tokenizer that drops characters doesn't make chunks of any length."""
        longest = min(len(self._text), start + n_units * _MOST_CHARS_A_TOKEN)
        after = self._first(start) + n_units
        return longest if after >= len(self._starts) else max(start, min(longest, self._starts[after]))

    def back(self, end: int, n_units: int) -> int:
        """As ``Ruler.back``."""
        stop = bisect_left(self._starts, end)
        first = max(0, stop - n_units)
        # Several tokens of one character begin together: all of them, or none.
        while 0 < first < stop and self._starts[first] < self._ends[first - 1]:
            first += 1
        return max(self._starts[first], end - n_units * _MOST_CHARS_A_TOKEN) if first < stop else end

    def size(self, start: int, end: int) -> int:
        """As ``Ruler.size``."""
        return max(0, bisect_left(self._starts, end) - self._first(start))

    def alone(self, start: int, end: int) -> int:
        """As ``Ruler.alone``: only the words that are touched by the cuts are counted again, where that is enough."""
        text = self._text
        clean_start = start == 0 or self._cuts_cleanly(text[start - 1], text[start])
        clean_end = end == len(text) or self._cuts_cleanly(text[end - 1], text[end])
        if clean_start and clean_end:
            return self.size(start, end)
        if not self._words_are_apart or (self._is_sliced and end - start > _SLICED_CHARS):
            return self._count([text[start:end]])
        head = start if clean_start else self._head_end(start, end)
        blank = end if clean_end else self._last_blank(start, end)
        if head > blank:
            return self._count([text[start:end]])
        # A word whose tokens depend on its blank takes it along.
        tail = blank + 1 if blank < end and self._cuts_cleanly(text[blank], text[blank + 1]) else blank
        return self.size(head, blank) + self._count([part for part in (text[start:head], text[tail:end]) if part])

    def _first(self, start: int) -> int:
        """The first token of a stretch; a word's own blank, where that is a token for itself, belongs to the word."""
        first = bisect_right(self._ends, start)
        if first and self._starts[first - 1] == start - 1 and self._text[start - 1] == " ":
            first -= 1
        return first

    def _head_end(self, start: int, end: int) -> int:
        found = [at for blank in self._separators if (at := self._text.find(blank, start, end)) >= 0]
        return min(found, default=end)

    def _last_blank(self, start: int, end: int) -> int:
        return max(start - 1, *(self._text.rfind(blank, start, end) for blank in self._separators))

    def _count(self, texts: list[str]) -> int:
        count = getattr(self._tokenizer, "count", None)
        return sum(count(texts)) if count else sum(len(self._tokenizer.spans(text)) for text in texts)


def _beside_blank(before: str, after: str) -> bool:
    return before in " \n" or after in " \n"


def _offsets(text: str, tokenizer: Tokenizer) -> np.ndarray:
    import numpy as np

    many = getattr(tokenizer, "offsets", None)
    if many is not None:
        found: np.ndarray = many([text])[0]
        return found
    spans = np.array(tokenizer.spans(text), np.int32).reshape(-1, 2)
    return np.maximum.accumulate(spans, axis=0)
