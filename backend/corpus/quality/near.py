"""Groups of texts that are nearly the same, found without comparing each with each.

Locality-sensitive hashing (Indyk and Motwani 1998; Leskovec, Rajaraman and Ullman, "Mining of Massive Datasets",
chapter 3): a sketch is cut into 32 bands of 8 values, and texts with an equal band are candidates. A pair with Jaccard
index J becomes one with probability 1 - (1 - J^8)^32: 0.997 at 0.8, 0.42 at 0.6, 0.0006 at 0.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backend.corpus.quality.minhash import N_BINS, densified, jaccard, sketches

if TYPE_CHECKING:
    import numpy as np

    from backend.corpus.quality.minhash import Sketches

MIN_JACCARD = 0.8
N_BANDS = 32
_BATCH_TEXTS = 512
_BATCH_CHARS = 2_000_000
_BATCH_ROWS = 8192
_MOST_TEXT_CHARS = 20_000
# In a large bucket each text is compared with the first one and with the next few, not with all: time stays linear.
_NEIGHBOURS = 2


@dataclass(frozen=True, slots=True)
class Linked:
    """Units that hang together.

    Attributes:
        units: Their numbers, ascending.
        lowest: Estimated Jaccard index of the least similar of the pairs that link them.
        highest: Of the most similar.
    """

    units: tuple[int, ...]
    lowest: float
    highest: float


class NearSearch:
    """Collects sketches, then finds groups. Holds 1 KB a text; copies of a text are left to the exact search."""

    def __init__(self) -> None:
        self._sketches: list[Sketches] = []
        self._units: list[int] = []
        self._digests: set[int] = set()
        self._texts: list[str] = []
        self._n_chars = 0

    @property
    def n_compared(self) -> int:
        """Distinct texts so far."""
        return len(self._units)

    def add_text(self, unit: int, digest: int, text: str) -> None:
        """Add a unit by its text; only its first 20,000 characters count."""
        if not self._is_new(unit, digest):
            return
        self._texts.append(text[:_MOST_TEXT_CHARS])
        self._n_chars += min(len(text), _MOST_TEXT_CHARS)
        if len(self._texts) >= _BATCH_TEXTS or self._n_chars >= _BATCH_CHARS:
            self._sketch_texts()

    def add_sketch(self, unit: int, digest: int, sketch: Sketches) -> None:
        """Add a unit by its sketch of shape (1, 256); a search takes texts or sketches, not both."""
        if self._is_new(unit, digest):
            self._sketches.append(sketch)

    def groups(self, min_jaccard: float = MIN_JACCARD) -> list[Linked]:
        """Groups of at least two, the largest first; among equals by their first unit."""
        import numpy as np

        self._sketch_texts()
        if len(self._units) < 2:
            return []
        found = np.concatenate(self._sketches)
        pairs = _candidates(densified_in_parts(found))
        kept, scores = _verified(found, pairs, min_jaccard)
        return self._grouped(kept, scores)

    def _is_new(self, unit: int, digest: int) -> bool:
        if digest in self._digests:
            return False
        self._digests.add(digest)
        self._units.append(unit)
        return True

    def _sketch_texts(self) -> None:
        if self._texts:
            self._sketches.append(sketches(self._texts))
            self._texts, self._n_chars = [], 0

    def _grouped(self, pairs: np.ndarray, scores: np.ndarray) -> list[Linked]:
        roots = _Roots(len(self._units))
        for left, right in pairs.tolist():
            roots.join(left, right)
        members: dict[int, list[int]] = {}
        for row in sorted(set(pairs.ravel().tolist())):
            members.setdefault(roots.of(row), []).append(row)
        ranges: dict[int, tuple[float, float]] = {}
        for (left, _), score in zip(pairs.tolist(), scores.tolist(), strict=True):
            root = roots.of(left)
            low, high = ranges.get(root, (score, score))
            ranges[root] = (min(low, score), max(high, score))
        groups = [Linked(tuple(self._units[row] for row in rows), *ranges[root]) for root, rows in members.items()]
        return sorted(groups, key=lambda group: (-len(group.units), group.units))


def densified_in_parts(found: Sketches) -> Sketches:
    """As ``densified``, without holding indexes of all empty bins at once."""
    import numpy as np

    parts = [densified(found[at : at + _BATCH_ROWS]) for at in range(0, len(found), _BATCH_ROWS)]
    return np.concatenate(parts)


def _candidates(full: Sketches) -> np.ndarray:
    """Pairs of rows (left < right) that share a band; shape (pairs, 2), int64."""
    import numpy as np

    n_texts, rows_a_band = len(full), N_BINS // N_BANDS
    factors = np.random.default_rng(1).integers(1, 2**63, rows_a_band, dtype=np.uint64) | np.uint64(1)
    found: np.ndarray = np.empty(0, np.int64)
    for band in range(N_BANDS):
        values = full[:, band * rows_a_band : (band + 1) * rows_a_band].astype(np.uint64)
        keys = (values * factors).sum(axis=1, dtype=np.uint64)
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        same = np.flatnonzero(ordered[1:] == ordered[:-1]) + 1
        if not same.size:
            continue
        begins = np.r_[True, ordered[1:] != ordered[:-1]]
        first = np.maximum.accumulate(np.where(begins, np.arange(n_texts), 0))
        partners = [first[same], *(np.maximum(first[same], same - back) for back in range(1, _NEIGHBOURS + 1))]
        codes = [order[partner] * n_texts + order[same] for partner in partners]
        # The order is stable, so partners have the lower numbers.
        found = np.union1d(found, np.concatenate(codes))
    return np.stack(np.divmod(found, n_texts), axis=1) if found.size else np.empty((0, 2), np.int64)


def _verified(found: Sketches, pairs: np.ndarray, min_jaccard: float) -> tuple[np.ndarray, np.ndarray]:
    import numpy as np

    scores = np.empty(len(pairs))
    for at in range(0, len(pairs), _BATCH_ROWS):
        part = pairs[at : at + _BATCH_ROWS]
        scores[at : at + _BATCH_ROWS] = jaccard(found[part[:, 0]], found[part[:, 1]])
    kept = scores >= min_jaccard
    return pairs[kept], scores[kept]


class _Roots:
    """Disjoint sets (Tarjan 1975), with path halving."""

    def __init__(self, n_rows: int) -> None:
        self._parent = list(range(n_rows))

    def of(self, row: int) -> int:
        parent = self._parent
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    def join(self, left: int, right: int) -> None:
        a, b = self.of(left), self.of(right)
        if a != b:
            self._parent[max(a, b)] = min(a, b)
