"""How long the chunks are, in characters or in a tokenizer's tokens."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from backend.corpus.quality.types import ChunkLengths, LengthBin

if TYPE_CHECKING:
    import numpy as np

CountTokens = Callable[[Sequence[str]], Sequence[int]]
"""Tokens of each text: ``JsonTokenizer.count``."""

_BATCH_CHUNKS = 256
_MOST_COUNTED = 5_000
_N_BINS = 20


class LengthCounter:
    """Counts chunk by chunk. Tokens of at most 5,000 chunks are counted, evenly spread over them all.

    Args:
        count_tokens: Counts tokens; None: characters are counted, of every chunk.
        most_counted: Chunks whose tokens are counted.
    """

    def __init__(self, count_tokens: CountTokens | None = None, most_counted: int = _MOST_COUNTED) -> None:
        self._count_tokens = count_tokens
        self._most = max(1, most_counted)
        self._lengths = array("L")
        self._waiting: list[str] = []
        self._stride = 1
        self._n_chunks = 0

    def feed(self, text: str) -> None:
        """Count the next chunk."""
        at, self._n_chunks = self._n_chunks, self._n_chunks + 1
        if self._count_tokens is None:
            self._lengths.append(len(text))
        elif at % self._stride == 0:
            self._waiting.append(text)
            if len(self._waiting) >= _BATCH_CHUNKS:
                self._count_waiting()

    def _count_waiting(self) -> None:
        if not self._waiting or self._count_tokens is None:
            return
        self._lengths.extend(self._count_tokens(self._waiting))
        self._waiting = []
        while len(self._lengths) > self._most:  # every other one goes, and of those to come every other is looked at
            self._lengths = self._lengths[::2]
            self._stride *= 2

    def counted(self, short_below: int, long_above: int) -> ChunkLengths:
        """The distribution so far; ``long_above`` 0: no limit."""
        import numpy as np

        self._count_waiting()
        unit = "characters" if self._count_tokens is None else "tokens"
        lengths = np.array(self._lengths, np.int64)
        if not lengths.size:
            return ChunkLengths(unit, self._n_chunks, short_below=short_below, long_above=long_above)
        quartile_1, median, quartile_3, percentile_95 = (
            float(value) for value in np.percentile(lengths, (25, 50, 75, 95))
        )
        weight = self._n_chunks / lengths.size
        return ChunkLengths(
            unit=unit,
            n_chunks=self._n_chunks,
            n_counted=int(lengths.size),
            shortest=int(lengths.min()),
            quartile_1=quartile_1,
            median=median,
            quartile_3=quartile_3,
            percentile_95=percentile_95,
            longest=int(lengths.max()),
            mean=float(lengths.mean()),
            histogram=_histogram(lengths),
            short_below=short_below,
            n_short=round(int((lengths < short_below).sum()) * weight),
            long_above=long_above,
            n_long=round(int((lengths > long_above).sum()) * weight) if long_above else 0,
        )


def _histogram(lengths: np.ndarray) -> tuple[LengthBin, ...]:
    """About twenty bins of equal, round width from 0 to the longest."""
    import numpy as np

    width = _round_up(max(1, int(lengths.max()) // _N_BINS))
    counts = np.bincount(lengths // width)
    return tuple(LengthBin(at * width, (at + 1) * width, int(n)) for at, n in enumerate(counts.tolist()))


def _round_up(width: int) -> int:
    """The next of 1, 2, 5, 10, 20, 50 and so on."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if step * factor >= width:
                return step * factor
        step *= 10
