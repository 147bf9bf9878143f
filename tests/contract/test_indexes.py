"""What every VectorIndex does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from backend.errors import InputError
from backend.retrieval import FaissIndex, VectorIndex
from tests.fakes.indexes import NumpyIndex

Build = Callable[[np.ndarray], VectorIndex]


@pytest.fixture(params=["faiss", "numpy"])
def build(request: pytest.FixtureRequest) -> Build:
    if request.param == "numpy":
        return NumpyIndex
    return lambda vectors: FaissIndex.build(vectors, np.arange(len(vectors)))


VECTORS = np.array([[1, 0], [0, 1], [0.6, 0.8], [1, 0]], np.float32)


def test_best_first_ties_by_position(build: Build) -> None:
    found = build(VECTORS).search(np.array([[1, 0]], np.float32), 3)[0]
    assert [n.position for n in found] == [0, 3, 2]
    assert [n.score for n in found] == pytest.approx([1, 1, 0.6])


def test_one_list_a_query_in_order(build: Build) -> None:
    found = build(VECTORS).search(VECTORS[:3], 1)
    assert [hits[0].position for hits in found] == [0, 1, 2]


def test_fewer_than_k(build: Build) -> None:
    assert len(build(VECTORS).search(VECTORS[:1], 99)[0]) == 4


def test_size_and_dimension(build: Build) -> None:
    index = build(VECTORS)
    assert (len(index), index.dimension) == (4, 2)


@pytest.mark.parametrize(
    ("query", "k", "said"),
    [(np.ones((1, 3)), 1, "3 dimensions"), (np.array([[np.nan, 0]]), 1, "NaN"), (np.ones((1, 2)), 0, "at least 1")],
)
def test_what_cannot_be_searched_is_said(build: Build, query: np.ndarray, k: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        build(VECTORS).search(query.astype(np.float32), k)


def test_saved_whole(build: Build, tmp_path: Path) -> None:
    build(VECTORS).save(tmp_path / "deep" / "index")
    assert list((tmp_path / "deep").iterdir())
