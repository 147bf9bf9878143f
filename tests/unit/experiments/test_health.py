"""Planted pairs: what is planted, where, and which outcomes pass."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.experiments.health import EXPECTATIONS, Plant, planted_pairs
from backend.judging.types import Outcome

CHUNKS = [
    f"Number {n} tells about the subject of tree {n}, which grows tall in the north. "
    f"Its bark number {n} is brown and it is cut every {n} years by people who know. It has {n} leaves."
    for n in range(40)
]


def test_every_kind_is_planted_and_the_right_judge_passes() -> None:
    pairs = planted_pairs(len(CHUNKS), CHUNKS.__getitem__, seed=1)
    assert {pair.kind for pair in pairs} == set(Plant) == set(EXPECTATIONS)
    for pair in pairs:
        texts = (pair.text_a, pair.text_b)
        planted = texts[0 if pair.planted == "a" else 1]
        other = texts[1 if pair.planted == "a" else 0]
        won, lost = (Outcome.A, Outcome.B) if pair.planted == "a" else (Outcome.B, Outcome.A)
        assert not pair.passes(Outcome.UNSCORED)
        if pair.kind is Plant.SAME_TEXT:
            assert planted == other
            assert pair.passes(Outcome.TIE)
            assert not pair.passes(won)
        elif pair.kind is Plant.SOURCE:
            assert pair.query in planted
            assert pair.query not in other
            assert [pair.passes(outcome) for outcome in (won, Outcome.TIE, lost)] == [True, False, False]
        else:
            assert len(planted) > len(other) or pair.kind is Plant.INJECTED
            assert pair.query in other
            assert [pair.passes(outcome) for outcome in (won, Outcome.TIE, lost)] == [False, True, True]


def test_labels_are_asked_before_sentences() -> None:
    pairs = planted_pairs(len(CHUNKS), CHUNKS.__getitem__, [("my own query", CHUNKS[3])], seed=2, n_each=1)
    assert {pair.query for pair in pairs} == {"my own query"}


def test_sides_are_drawn_both_ways_and_the_same_seed_plants_the_same() -> None:
    first = planted_pairs(len(CHUNKS), CHUNKS.__getitem__, seed=3, n_each=20)
    assert {pair.planted for pair in first if pair.kind is not Plant.SAME_TEXT} == {"a", "b"}
    assert first == planted_pairs(len(CHUNKS), CHUNKS.__getitem__, seed=3, n_each=20)


@pytest.mark.parametrize("chunks", [[], ["short"], ["x" * 500], CHUNKS[:1]])
def test_a_corpus_that_gives_little_plants_what_it_can(chunks: list[str]) -> None:
    pairs = planted_pairs(len(chunks), chunks.__getitem__, seed=1)
    assert all(pair.kind in {Plant.SAME_TEXT, Plant.PADDED} for pair in pairs)


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_a_source_is_never_paired_with_itself(seed: int, n_each: int) -> None:
    for pair in planted_pairs(len(CHUNKS), CHUNKS.__getitem__, seed=seed, n_each=n_each):
        assert pair.kind is Plant.SAME_TEXT or pair.text_a != pair.text_b
