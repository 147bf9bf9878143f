"""Lines that stand again and again: headers, footers, licences. They take space in chunks and say nothing."""

from __future__ import annotations

from collections import Counter

from backend.corpus.quality.types import RepeatedLine

_SHORTEST, _LONGEST = 12, 200
_MOST_LINES_A_DOCUMENT = 20_000
_MOST_KEPT = 100_000
_MOST_REPORTED = 20
_MIN_DOCUMENTS = 3
_MIN_SHARE = 0.2
_MIN_PAGES = 4
_DIGITS = str.maketrans("123456789", "000000000")


class LineCounter:
    """Counts lines over documents, and within each of them.

    Memory is bounded by forgetting lines that were seen in few documents, as in Manku and Motwani, "Approximate
    frequency counts over data streams" (2002): what is kept may be counted low, by as many as were forgotten rounds.
    """

    def __init__(self, most_kept: int = _MOST_KEPT) -> None:
        self._most_kept = most_kept
        self._documents: Counter[str] = Counter()
        self._floor = 0
        self._n_documents = 0
        self._within: list[RepeatedLine] = []

    def add(self, lines: Counter[str], name: str, n_pages: int) -> None:
        """Add a document's lines, with the pages that it has (0: none)."""
        self._n_documents += 1
        if n_pages >= _MIN_PAGES:
            for line, n_times in lines.most_common(3):
                if n_times * 2 > n_pages:
                    self._within.append(RepeatedLine(_shown(line), 1, name, n_times))
        self._documents.update(lines.keys())
        while len(self._documents) > self._most_kept:
            self._floor += 1
            self._documents = Counter({line: n for line, n in self._documents.items() if n > self._floor})

    def repeated(self) -> tuple[RepeatedLine, ...]:
        """Lines of at least a fifth of the documents, and of most pages of one; the most frequent first."""
        least = max(_MIN_DOCUMENTS, round(_MIN_SHARE * self._n_documents))
        over = [RepeatedLine(_shown(line), n) for line, n in self._documents.items() if n >= least]
        over.sort(key=lambda line: (-line.n_documents, line.text))
        within = sorted(self._within, key=lambda line: (-line.n_times, line.document, line.text))
        return (*over[:_MOST_REPORTED], *within[:_MOST_REPORTED])


class DocumentLines:
    """The lines of one document that comes block by block; digits are all the same, as page numbers differ."""

    def __init__(self) -> None:
        self.lines: Counter[str] = Counter()
        self._open = ""
        self._n_lines = 0

    def feed(self, block: str) -> None:
        """Count the lines of the next block."""
        if self._n_lines >= _MOST_LINES_A_DOCUMENT:
            return
        *whole, rest = block.split("\n", _MOST_LINES_A_DOCUMENT)
        if whole:
            whole[0] = self._open + whole[0]
            self._open = ""
            self._count(whole)
        # A line beyond the longest is none that repeats: its beginning is enough to know that.
        self._open = (self._open + rest)[: 4 * _LONGEST]

    def finish(self) -> Counter[str]:
        """All lines."""
        if self._n_lines < _MOST_LINES_A_DOCUMENT:
            self._count([self._open])
        self._open = ""
        return self.lines

    def _count(self, lines: list[str]) -> None:
        self._n_lines += len(lines)
        kept = (line.strip() for line in lines)
        self.lines.update(line.translate(_DIGITS) for line in kept if _SHORTEST <= len(line) <= _LONGEST)


def _shown(line: str) -> str:
    return line.replace("0", "#")
