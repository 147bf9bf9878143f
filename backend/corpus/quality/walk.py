"""Stretches of a text that comes block by block, and one text in N."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

Observer = Callable[[str], None]


def observed(blocks: Iterable[str], observers: Iterable[Observer]) -> Iterator[str]:
    """The blocks as they come; each observer sees every block once, before it is handed on."""
    watching = tuple(observers)
    for block in blocks:
        for observe in watching:
            observe(block)
        yield block


class TextWindow:
    """Cuts stretches out of a text that goes by; only what may still be asked for stays in memory.

    Args:
        blocks: The text, in order.
    """

    def __init__(self, blocks: Iterable[str]) -> None:
        self._blocks = iter(blocks)
        self._held = ""
        self._start = 0

    def take(self, start: int, end: int) -> str:
        """The characters ``start`` to ``end``; starts ascend from call to call. What went by is lost."""
        while self._start + len(self._held) < end:
            block = next(self._blocks, None)
            if block is None:
                break
            if start >= self._start + len(self._held):
                self._start += len(self._held)
                self._held = block
            else:
                gone = max(0, start - self._start)
                self._held = self._held[gone:] + block
                self._start += gone
        return self._held[max(0, start - self._start) : max(0, end - self._start)]

    def drain(self) -> None:
        """Let the rest go by."""
        self._held = ""
        for _ in self._blocks:
            pass


class EvenSample:
    """Every unit of a few, or so many of a lot, evenly spread.

    Args:
        n_units: How many come.
        most: How many are wanted.
    """

    def __init__(self, n_units: int, most: int) -> None:
        self._n_units, self._most = n_units, most

    @property
    def is_sample(self) -> bool:
        """Whether some are left out."""
        return self._n_units > self._most

    def takes(self, index: int) -> bool:
        """Whether the unit with this number, from 0, is one of them; none beyond those that were announced."""
        if not self.is_sample:
            return index < self._most
        if index >= self._n_units:
            return False
        return (index + 1) * self._most // self._n_units > index * self._most // self._n_units
