"""A vector index in a few lines of numpy: the second implementation that FAISS is held against."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from backend.embedding.types import Matrix
from backend.errors import InputError
from backend.retrieval.types import Neighbour


class NumpyIndex:
    """Exact search by sorting every cosine."""

    def __init__(self, vectors: Matrix) -> None:
        self._vectors = vectors

    @property
    def dimension(self) -> int:
        return self._vectors.shape[1]

    def __len__(self) -> int:
        return len(self._vectors)

    def search(self, queries: Matrix, k: int) -> list[list[Neighbour]]:
        if k < 1:
            raise InputError("at least 1")
        if queries.shape[1] != self.dimension:
            raise InputError(f"{queries.shape[1]} dimensions, the index {self.dimension}")
        if not np.isfinite(queries).all():
            raise InputError("NaN")
        found = []
        for query in queries:
            scores = (self._vectors @ query).clip(-1, 1)
            order = sorted(range(len(scores)), key=lambda row: (-float(scores[row]), row))[:k]
            found.append([Neighbour(row, float(scores[row])) for row in order])
        return found

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, self._vectors)
