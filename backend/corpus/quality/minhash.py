"""Sketches of texts, from which the Jaccard index of their character shingles is estimated.

A text's shingles are its runs of five characters, letters in one case and white space as one blank: they need no
words, so Thai and Chinese work like English. Broder, "On the resemblance and containment of documents" (1997): the
share of common shingles is a text's resemblance, and minima of random hashes estimate it. Here one hash function with
256 bins (Li, Owen and Zhang, "One permutation hashing", 2012): the smallest hash of each bin is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    Sketches = np.ndarray[tuple[int, int], np.dtype[np.uint32]]
    Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]

SHINGLE_CHARS = 5
N_BINS = 256
EMPTY = 0xFFFFFFFF
_BIN_SHIFT = 56  # the highest 8 of 64 bits are the bin, the lowest 32 the value
# Odd 64-bit constants: the golden ratio, and those of David Stafford's 13th mixer (2011).
_FACTOR = 0x9E3779B97F4A7C15
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LAST_SHIFT = 31
_MOST_TRIES = 100


def normalised(text: str) -> str:
    """The text in one case, its white space as single blanks."""
    return " ".join(text.casefold().split())


def sketches(texts: Sequence[str]) -> Sketches:
    """Sketches of several short texts; shape (texts, ``N_BINS``), ``EMPTY`` where a bin has no shingle."""
    import numpy as np

    padded = [normalised(text).ljust(SHINGLE_CHARS) for text in texts]
    found = np.full(len(padded) * N_BINS, EMPTY, np.uint32)
    hashes, starts = _shingles("".join(padded))
    unit = np.repeat(np.arange(len(padded)), [len(text) for text in padded])[: len(starts)]
    # A shingle that reaches into the next text is none.
    ends = np.cumsum([len(text) for text in padded])
    inside = starts + SHINGLE_CHARS <= ends[unit] if len(unit) else np.empty(0, bool)
    _fill(found, unit[inside] * N_BINS, hashes[inside])
    return found.reshape(-1, N_BINS)


class TextSketch:
    """The sketch of one long text that comes block by block; the same whatever the blocks.

    Args:
        most_chars: What follows is left out.
    """

    def __init__(self, most_chars: int) -> None:
        import numpy as np

        self._left = most_chars
        self._found = np.full(N_BINS, EMPTY, np.uint32)
        self._tail = ""
        self._has_shingles = False
        self._blank_follows = False

    def feed(self, block: str) -> None:
        """Add the next block."""
        block = block[: self._left]
        self._left -= len(block)
        if not block:
            return
        folded = block.casefold()
        words = " ".join(folded.split())
        if not words:
            self._blank_follows = True
            return
        between = " " if self._tail and (self._blank_follows or block[0].isspace()) else ""
        self._blank_follows = block[-1].isspace()
        text = self._tail + between + words
        if len(text) >= SHINGLE_CHARS:
            self._add(text)
        self._tail = text[-(SHINGLE_CHARS - 1) :]

    def sketch(self) -> Sketches:
        """Of everything so far; shape (1, ``N_BINS``)."""
        if not self._has_shingles:
            self._add(self._tail.ljust(SHINGLE_CHARS))
        return self._found.reshape(1, N_BINS)

    def _add(self, text: str) -> None:
        import numpy as np

        self._has_shingles = True
        hashes, _ = _shingles(text)
        _fill(self._found, np.zeros(len(hashes), np.int64), hashes)


def _shingles(text: str) -> tuple[Hashes, np.ndarray]:
    """Hash and start of each shingle: a polynomial of its five characters, mixed so that every bit depends on each."""
    import numpy as np

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    n = max(0, len(codes) - SHINGLE_CHARS + 1)
    hashes = codes[:n].copy()
    for at in range(1, SHINGLE_CHARS):
        hashes *= np.uint64(_FACTOR)
        hashes += codes[at : at + n]
    for shift, factor in _MIX:
        hashes ^= hashes >> np.uint64(shift)
        hashes *= np.uint64(factor)
    hashes ^= hashes >> np.uint64(_LAST_SHIFT)
    return hashes, np.arange(n)


def _fill(found: np.ndarray, rows: np.ndarray, hashes: Hashes) -> None:
    import numpy as np

    bins = (hashes >> np.uint64(_BIN_SHIFT)).astype(np.int64)
    values = (hashes & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    np.minimum.at(found, rows + bins, np.minimum(values, np.uint32(EMPTY - 1)))


def jaccard(left: Sketches, right: Sketches) -> np.ndarray:
    """Estimated Jaccard index of each pair of rows: equal minima among the bins that either has (Li et al., eq. 8).

    Its standard error is at most sqrt(J (1 - J) / 256), 0.025 at J = 0.8; for texts of fewer than 256 shingles it is
    nearly exact, as most bins hold a single one.
    """
    import numpy as np

    filled = np.maximum(1, N_BINS - ((left == EMPTY) & (right == EMPTY)).sum(axis=1))
    equal = ((left == right) & (left != EMPTY)).sum(axis=1)
    ratio: np.ndarray = equal / filled
    return ratio


def densified(found: Sketches) -> Sketches:
    """The sketches with empty bins filled from others of the same text, in an order that is the same for all texts.

    After Shrivastava, "Optimal densification for fast and accurate minwise hashing" (2017): equal texts stay equal,
    and a filled bin is equal in two texts with probability J. For finding candidates only.
    """
    import numpy as np

    full = found.copy()
    rng = np.random.default_rng(0)
    rows, bins = np.nonzero(found == EMPTY)
    for _ in range(_MOST_TRIES):
        if not rows.size:
            return full
        taken = found[rows, rng.integers(0, N_BINS, N_BINS)[bins]]
        got = taken != EMPTY
        full[rows[got], bins[got]] = taken[got]
        rows, bins = rows[~got], bins[~got]
    # A handful of shingles: the smallest value that the text has at all.
    full[rows, bins] = found.min(axis=1)[rows]
    return full
