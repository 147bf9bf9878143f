"""Cutting a document into chunks: at most so many tokens, at natural ends, every word in some chunk."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from backend.corpus.files import Section
from backend.corpus.graphemes import splits_cluster
from backend.corpus.pieces import Pieces
from backend.corpus.types import Chunking, Tokenizer
from backend.errors import InputError

Span = tuple[int, int, str]

_PARAGRAPH_GAP = re.compile(r"\n\s*\n")
_STOPS = ".!?…。！？｡।؟"
_STOPS_WITHOUT_BLANK = "。！？｡"
_CLOSERS = "\"')]}»”’」』）】"


def check_chunking(chunking: Chunking) -> None:
    """Refuse a chunking that can't end.

    Raises:
        InputError: Size below 1, overlap negative or not below the size.
    """
    if chunking.size_tokens < 1:
        raise InputError(f"A chunk of {chunking.size_tokens} tokens holds nothing.", hint="Choose 1 or more.")
    if not 0 <= chunking.overlap_tokens < chunking.size_tokens:
        raise InputError(
            f"The overlap of {chunking.overlap_tokens} tokens does not fit chunks of {chunking.size_tokens}.",
            hint="Choose an overlap of 0 or more that is smaller than the chunk size.",
        )


def chunk_spans(text: str, sections: Sequence[Section], chunking: Chunking, tokenizer: Tokenizer) -> list[Span]:
    """Cut a text into chunks.

    Every non-blank character lies in a chunk; no chunk begins or ends with white space, crosses the end of a row, or
    holds more than ``size_tokens`` tokens (unless one visible character alone has more). A chunk prefers to end with
    a paragraph, else a sentence, else a line, else a word, looked for in the last third of its room.

    Args:
        text: The document's text.
        sections: Its sections; those with ``is_row`` are hard boundaries, all give places.
        chunking: Size and overlap.
        tokenizer: Counts tokens.

    Returns:
        (start, end, place) by ascending start; ``place`` is that of the section in which the chunk starts.

    Raises:
        InputError: The chunking can't be used.
    """
    check_chunking(chunking)
    edges = sorted({0, len(text), *(at for s in sections if s.is_row for at in (s.start, s.end) if 0 < at < len(text))})
    bounds = list(pairwise(edges))
    if chunking.whole_documents:
        spans = [span for start, end in bounds if (span := _trimmed(text, start, end))]
    else:
        pieces = Pieces(text, tokenizer, edges)
        cutter = _Cutter(text, chunking, tokenizer, pieces, sorted(s.start for s in sections))
        spans = [span for start, end in bounds for span in cutter.cut(start, end)]
    places = _Places(sections)
    return [(start, end, places.at(start)) for start, end in spans]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


class _Places:
    """Finds the innermost section at a character."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._sections = sorted(sections, key=lambda section: section.start)
        self._starts = [section.start for section in self._sections]

    def at(self, position: int) -> str:
        index = bisect_right(self._starts, position) - 1
        if index < 0 or position >= self._sections[index].end:
            return ""
        return self._sections[index].place


class _Cutter:
    """Cuts the stretches between hard boundaries of one text."""

    def __init__(
        self, text: str, chunking: Chunking, tokenizer: Tokenizer, pieces: Pieces, section_starts: list[int]
    ) -> None:
        self._text = text
        self._size = chunking.size_tokens
        self._overlap = chunking.overlap_tokens
        self._tokenizer = tokenizer
        self._pieces = pieces
        self._section_starts = section_starts

    def cut(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Spans of the chunks between two boundaries."""
        starts, before = self._pieces.starts, self._pieces.tokens_before
        first, stop = bisect_left(starts, start), bisect_left(starts, end)
        covered = first  # pieces before this one lie in a chunk already
        while covered < stop:
            last = bisect_right(before, before[first] + self._size, lo=first + 1, hi=stop + 1) - 1
            if last <= covered and first < covered:
                first = covered  # the overlap left no room for anything new
                continue
            last = max(last, first + 1)
            if last < stop:
                last = self._natural_end(max(covered, first), first, last)
            fitting = self._fitting_end(first, last)
            if fitting is None:
                yield from self._by_characters(self._pieces.starts[first], self._pieces.ends[first])
                fitting = first + 1
            elif fitting <= covered and first < covered:
                first = covered
                continue
            else:
                yield self._span(first, fitting)
            covered = fitting
            first = self._overlap_start(first, covered)

    def _span(self, first: int, last: int) -> tuple[int, int]:
        span = _trimmed(self._text, self._pieces.starts[first], self._pieces.ends[last - 1])
        return span if span else (self._pieces.starts[first], self._pieces.ends[last - 1])

    def _natural_end(self, floor: int, first: int, last: int) -> int:
        """The best end in the last third of the room; more than ``floor`` pieces are in.

        Where that third is all one word, the end of a word is looked for in the second third too.
        """
        best, best_rank = last, self._rank(last)
        for share in (2 / 3, 1 / 3):
            for candidate in range(last - 1, max(self._room_share(first, last, share) - 1, floor), -1):
                if best_rank == 4:
                    break
                rank = self._rank(candidate)
                if rank > best_rank:
                    best, best_rank = candidate, rank
            if best_rank > 0:
                break
        return best

    def _room_share(self, first: int, last: int, share: float) -> int:
        before = self._pieces.tokens_before
        return bisect_left(before, before[first] + (before[last] - before[first]) * share, lo=first, hi=last)

    def _rank(self, cut: int) -> int:
        """How good it is to end before piece ``cut``: 4 paragraph, 3 sentence, 2 line, 1 word, 0 inside a word."""
        end, begin = self._pieces.ends[cut - 1], self._pieces.starts[cut]
        gap = self._text[end:begin]
        if "\n" in gap and (_PARAGRAPH_GAP.search(gap) or self._section_begins(end, begin)):
            return 4
        if gap or self._text[end - 1] in _STOPS_WITHOUT_BLANK:
            tail = self._text[max(0, end - 4) : end].rstrip(_CLOSERS)
            if tail and tail[-1] in _STOPS and self._text[begin] not in _STOPS + _CLOSERS:
                return 3
        return 2 if "\n" in gap else 1 if gap else 0

    def _section_begins(self, end: int, begin: int) -> bool:
        return bisect_right(self._section_starts, begin) > bisect_left(self._section_starts, end)

    def _overlap_start(self, first: int, covered: int) -> int:
        """The piece that the next chunk begins with: at most ``overlap_tokens`` back, at the start of a word."""
        before = self._pieces.tokens_before
        start = max(first + 1, bisect_left(before, before[covered] - self._overlap, lo=first, hi=covered))
        for candidate in range(start, covered):
            if self._pieces.starts[candidate] > self._pieces.ends[candidate - 1]:
                return candidate
        return covered if self._is_spaced(first, covered) else start

    def _is_spaced(self, first: int, covered: int) -> bool:
        """Whether the chunk has blanks between words (Chinese has none: there an overlap may begin anywhere)."""
        return any(char.isspace() for char in self._text[self._pieces.starts[first] : self._pieces.ends[covered - 1]])

    def _fitting_end(self, first: int, last: int) -> int | None:
        """An end of at most ``last`` whose text counts at most ``size_tokens`` when it stands alone.

        Between words tokens are the same alone or in the text; inside a word, or at a rare blank, they may be more.
        None: not even one piece fits.
        """
        while True:
            start, end = self._span(first, last)
            if self._text[max(0, start - 1)] in " \n" and self._text[min(end, len(self._text) - 1)] in " \n":
                return last
            n_tokens = len(self._tokenizer.spans(self._text[start:end]))
            if n_tokens <= self._size:
                return last
            if last - first == 1:
                return None
            last = max(first + 1, min(last - 1, first + (last - first) * self._size // n_tokens))

    def _by_characters(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """One piece with more tokens than fit (a long word in tiny chunks): as many visible characters as fit."""
        while start < end:
            stop = start + 1
            best = 0
            while stop <= end:
                if stop == end or not splits_cluster(self._text, stop):
                    if best and len(self._tokenizer.spans(self._text[start:stop])) > self._size:
                        break
                    best = stop
                stop += 1
            span = _trimmed(self._text, start, best)
            if span:
                yield span
            start = best
