"""The FAISS index: exact, ordered, safe with fewer rows than k, wrong dimensions and NaN."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.errors import InputError
from backend.retrieval import FaissIndex


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def build(vectors: np.ndarray) -> FaissIndex:
    return FaissIndex.build(vectors, np.arange(len(vectors)))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 60), k=st.integers(1, 80))
def test_it_agrees_with_sorting_every_cosine(seed: int, n: int, k: int) -> None:
    random = np.random.default_rng(seed)
    # few distinct vectors, so that equal scores are common
    vectors = unit(random.integers(-1, 2, (n, 4)) + np.array([0.1, 0.2, 0.3, 0.4]))
    query = unit(random.normal(size=(1, 4)))
    found = build(vectors).search(query, k)[0]
    scores = vectors @ query[0]
    expected = sorted(range(n), key=lambda row: (-round(float(scores[row]), 5), row))[:k]
    assert len(found) == min(n, k)
    assert [round(float(scores[n.position]), 5) for n in found] == [round(float(scores[row]), 5) for row in expected]
    assert all(-1 <= n.score <= 1 for n in found)


def test_equal_scores_are_ordered_by_position_even_past_the_cutoff() -> None:
    vectors = np.tile(np.array([[1, 0]], np.float32), (40, 1))
    assert [n.position for n in build(vectors).search(vectors[:1], 5)[0]] == [0, 1, 2, 3, 4]


def test_fewer_hits_than_k_give_no_ghost_rows() -> None:
    index = build(np.eye(3, dtype=np.float32))
    assert len(index.search(np.eye(3, dtype=np.float32)[:1], 10)[0]) == 3


def test_positions_survive_a_left_out_row_and_the_disk(tmp_path: Path) -> None:
    index = FaissIndex.build(np.eye(3, dtype=np.float32), np.array([0, 2, 7]))
    index.save(tmp_path / "x" / "i.faiss")
    loaded = FaissIndex.load(tmp_path / "x" / "i.faiss")
    assert [n.position for n in loaded.search(np.eye(3, dtype=np.float32)[2:], 1)[0]] == [7]
    assert (len(loaded), loaded.dimension) == (3, 3)


def test_another_dimension_names_both() -> None:
    with pytest.raises(InputError, match="4 dimensions, the index 3"):
        build(np.eye(3, dtype=np.float32)).search(np.ones((1, 4), np.float32), 1)


def test_nan_is_refused_in_rows_and_in_queries() -> None:
    bad = np.array([[np.nan, 1]], np.float32)
    with pytest.raises(InputError, match="NaN"):
        build(bad)
    with pytest.raises(InputError, match="NaN"):
        build(np.eye(2, dtype=np.float32)).search(bad, 1)


def test_a_cutoff_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1"):
        build(np.eye(2, dtype=np.float32)).search(np.eye(2, dtype=np.float32), 0)
