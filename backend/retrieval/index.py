"""Exact inner-product search with FAISS over unit vectors (so scores are cosines), memory-mapped from disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.embedding.types import Matrix
from backend.errors import InputError
from backend.retrieval.types import Neighbour
from backend.store import written_whole


class FaissIndex:
    """A flat FAISS index whose rows carry the positions of their chunks.

    Args:
        index: ``faiss.IndexFlatIP``.
        positions: Position of each row, ascending, shape [n].
    """

    def __init__(self, index: Any, positions: NDArray[np.int64]) -> None:
        self._index = index
        self._positions = positions

    @staticmethod
    def build(vectors: Matrix, positions: NDArray[np.int64]) -> FaissIndex:
        """Index unit rows.

        Args:
            vectors: Unit rows, shape [n, dimension], all finite.
            positions: Position of each row, ascending, shape [n].
        """
        import faiss

        if not np.isfinite(vectors).all():
            raise InputError("A vector holds NaN or infinity; such a chunk is left out before indexing.")
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(np.ascontiguousarray(vectors, dtype=np.float32))
        return FaissIndex(index, positions.astype(np.int64))

    @staticmethod
    def load(path: Path) -> FaissIndex:
        """Map an index written by ``save`` into memory; pages are read when touched."""
        import faiss

        index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        positions = np.load(_positions_path(path), mmap_mode="r", allow_pickle=False)
        if len(positions) != index.ntotal:
            raise ValueError(f"{path.name} holds {index.ntotal} vectors and {len(positions)} positions")
        return FaissIndex(index, positions)

    @property
    def dimension(self) -> int:
        """Columns of the vectors held."""
        return int(self._index.d)

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def search(self, queries: Matrix, k: int) -> list[list[Neighbour]]:
        """The k nearest positions of each query; see VectorIndex."""
        if k < 1:
            raise InputError(f"The cutoff k is {k}; it must be at least 1.")
        if queries.ndim != 2 or queries.shape[1] != self.dimension:
            raise InputError(
                f"The query has {queries.shape[-1]} dimensions, the index {self.dimension}.",
                hint="The index belongs to another model; it is rebuilt when the model is chosen again.",
            )
        if not np.isfinite(queries).all():
            raise InputError("The query's vector holds NaN or infinity, so nothing can be found with it.")
        rows = np.ascontiguousarray(queries, dtype=np.float32)
        return [self._search_one(row[None, :], min(k, len(self))) for row in rows] if len(self) else [[] for _ in rows]

    def _search_one(self, query: Matrix, k: int) -> list[Neighbour]:
        # FAISS keeps any of several equal scores at the cutoff: look past it until the tie ends, then sort.
        n_wanted = min(len(self), k + 8)
        while True:
            scores, rows = self._index.search(query, n_wanted)
            if n_wanted == len(self) or scores[0, n_wanted - 1] < scores[0, k - 1]:
                break
            n_wanted = min(len(self), n_wanted * 4)
        found = [
            Neighbour(int(self._positions[row]), float(score))
            for row, score in zip(rows[0], scores[0], strict=True)
            if row >= 0
        ]
        found.sort(key=lambda neighbour: (-neighbour.score, neighbour.position))
        # Rounding can lift the cosine of equal vectors a little over 1.
        return [Neighbour(n.position, max(-1.0, min(1.0, n.score))) for n in found[:k]]

    def save(self, path: Path) -> None:
        """Write the index whole, or not at all; the positions first, so that a visible index is complete."""
        import faiss

        with written_whole(_positions_path(path)) as temporary, temporary.open("wb") as file:
            np.save(file, self._positions, allow_pickle=False)
        with written_whole(path) as temporary:
            faiss.write_index(self._index, str(temporary))


def _positions_path(path: Path) -> Path:
    return path.with_name(path.name + ".positions.npy")
