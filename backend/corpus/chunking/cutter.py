"""One way through a text for every strategy: fill a chunk, step back to a natural end, begin the next one."""

from __future__ import annotations

from collections.abc import Iterator

from backend.corpus.chunking.breaks import Breaks, Kind
from backend.corpus.chunking.rulers import Ruler
from backend.corpus.chunking.strategies import Policy
from backend.corpus.graphemes import splits_cluster
from backend.corpus.types import Chunking

_OVERLAP_TRIES = 4


class Cutter:
    """Cuts the stretches between hard boundaries of one text.

    Args:
        breaks: The text's natural places.
        ruler: Measures the text.
        chunking: Size, overlap and minimum.
        policy: Of the strategy.
    """

    def __init__(self, breaks: Breaks, ruler: Ruler, chunking: Chunking, policy: Policy) -> None:
        self._text = breaks.text
        self._breaks = breaks
        self._ruler = ruler
        self._size = chunking.size
        self._overlap = chunking.overlap
        self._min_size = chunking.min_size
        self._policy = policy

    def cut(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """(start, end) of the chunks between two boundaries, ascending."""
        start, stop = self._breaks.after_blanks(start), self._breaks.before_blanks(stop)
        covered = start  # everything before lies in a chunk already
        while covered < stop:
            end = self._end(start, covered, stop)
            if end is None:
                start = covered  # the overlap left no room for anything new
                continue
            yield start, end
            covered = self._breaks.after_blanks(end)
            start = self._next_start(start, end, covered) if covered < stop else covered

    def merged(self, spans: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
        """Chunks below the minimum joined with a neighbour, where both fit into one."""
        found: list[tuple[int, int]] = []
        for start, end in spans:
            if self._min_size and found:
                before = found[-1]
                is_short = min(self._ruler.alone(*before), self._ruler.alone(start, end)) < self._min_size
                if is_short and self._ruler.alone(before[0], end) <= self._size:
                    found[-1] = (before[0], end)
                    continue
            found.append((start, end))
        return found

    def _end(self, start: int, covered: int, stop: int) -> int | None:
        """The end of the chunk that begins at ``start``; None if it needs the room that the overlap takes."""
        limit = min(self._ruler.reach(start, self._size), stop)
        while True:
            limit = self._whole_character(limit, start) if limit < stop else stop
            if limit <= covered and start < covered:
                return None
            if limit <= start:
                return self._first_character(start, stop)
            end = stop if limit == stop else self._natural_end(start, covered, limit)
            if end is None:
                return None
            n_units = self._ruler.alone(start, end)
            if n_units <= self._size:
                return end
            # Between words units are the same alone or in the text; a word that was cut may have more of them.
            inside = self._ruler.size(start, end)
            fitting = self._ruler.reach(start, max(1, min(inside - 1, inside * self._size // n_units)))
            limit = min(fitting, end - 1)

    def _natural_end(self, start: int, covered: int, limit: int) -> int | None:
        for at, attempt in enumerate(self._policy.attempts):
            if at == self._policy.n_with_overlap and start < covered:
                return None
            low = covered
            if attempt.least:
                least = min(self._ruler.reach(start, attempt.least), limit)
                low = max(low, self._breaks.before_blanks(least) - 1)
            if end := self._breaks.last(attempt.kind, low, limit):
                return end
        if start < covered:
            return None
        return self._breaks.before_blanks(limit)

    def _whole_character(self, at: int, start: int) -> int:
        while at > start and splits_cluster(self._text, at):
            at -= 1
        return at

    def _first_character(self, start: int, stop: int) -> int:
        at = start + 1
        while at < stop and splits_cluster(self._text, at):
            at += 1
        return at

    def _next_start(self, start: int, end: int, covered: int) -> int:
        """Where the next chunk begins: at most the overlap back, where something begins."""
        if not self._overlap:
            return covered
        low = max(start + 1, self._ruler.back(end, self._overlap))
        for _ in range(_OVERLAP_TRIES):
            found = self._overlap_start(start, low, end)
            if found is None or found >= end:
                return covered
            if self._ruler.alone(found, end) <= self._overlap:
                return found
            low = found + 1
        return covered

    def _overlap_start(self, start: int, low: int, end: int) -> int | None:
        for kind in self._policy.starts:
            found = self._breaks.first_start(kind, low, end)
            if found is not None:
                return found
        if Kind.WORD not in self._policy.starts or self._breaks.is_spaced(start, end):
            return None
        while low < end and splits_cluster(self._text, low):
            low += 1
        return low
