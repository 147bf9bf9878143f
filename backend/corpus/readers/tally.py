"""Which rows something happened to, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from backend.corpus.text import numbered

_KEPT = 12


@dataclass(slots=True)
class Tally:
    """Numbers of rows: all counted, the first kept.

    Attributes:
        word: What they number: ``row``, ``line`` or ``item``.
        n: How many there are.
    """

    word: str
    n: int = 0
    _first: list[int] = field(default_factory=list)

    def add(self, number: int) -> None:
        """Count one."""
        self.n += 1
        if len(self._first) < _KEPT:
            self._first.append(number)

    def __str__(self) -> str:
        """``row 2``, ``rows 2 and 4`` or ``rows 2, 4, … and 30 more``."""
        if self.n <= _KEPT:
            return numbered(self.word, self._first)
        return f"{self.word}s {', '.join(map(str, self._first))} and {self.n - _KEPT:,} more"
