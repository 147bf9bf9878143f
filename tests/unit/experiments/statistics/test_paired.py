"""Paired differences: against scipy, exhaustive tests and simulation; no matter how arms and rows are named."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap, permutation_test

from backend.experiments.statistics import paired_difference

numbers = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30)


def test_against_scipy() -> None:
    random = np.random.default_rng(4)
    first = random.beta(2, 2, 60)
    second = np.clip(first + random.normal(-0.05, 0.15, 60), 0, 1)
    found = paired_difference(first, second, seed=1)
    assert found is not None
    d = first - second
    theirs = bootstrap((d,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(2))
    interval = theirs.confidence_interval
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=0.003)
    test = permutation_test(
        (first, second), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=20_000,
        rng=np.random.default_rng(3),
    )  # fmt: skip
    assert found.p == pytest.approx(test.pvalue, abs=0.01)
    assert (found.mean, found.n) == (pytest.approx(d.mean()), 60)
    assert found.wins + found.losses == 60


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=9))
def test_few_queries_are_tested_exactly(differences: list[float]) -> None:
    found = paired_difference(differences, [0.0] * len(differences), seed=1, resamples=200)
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    observed = abs(sum(differences))
    assert found is not None
    assert found.p == pytest.approx(np.mean([value >= observed - 1e-12 for value in sums]))


@settings(deadline=None, max_examples=60)
@given(numbers, st.randoms(use_true_random=False))
def test_neither_names_nor_order_change_the_result(pairs: list[tuple[float, float]], random) -> None:
    first, second = zip(*pairs, strict=True)
    found = paired_difference(first, second, seed=7, resamples=400)
    swapped = paired_difference(second, first, seed=7, resamples=400)
    shuffled_pairs = list(pairs)
    random.shuffle(shuffled_pairs)
    shuffled = paired_difference(*zip(*shuffled_pairs, strict=True), seed=7, resamples=400)
    assert found is not None
    assert swapped is not None
    assert shuffled is not None
    assert (swapped.mean, swapped.low, swapped.high) == pytest.approx((-found.mean, -found.high, -found.low), abs=1e-9)
    assert (swapped.p, swapped.wins, swapped.losses) == (pytest.approx(found.p), found.losses, found.wins)
    assert (shuffled.mean, shuffled.low, shuffled.high, shuffled.p) == pytest.approx(
        (found.mean, found.low, found.high, found.p), abs=1e-9
    )


def test_degenerate_data() -> None:
    assert paired_difference([], [], seed=1) is None
    same = paired_difference([0.4] * 5, [0.4] * 5, seed=1)
    assert same is not None
    assert (same.mean, same.low, same.high, same.p) == (0, 0, 0, 1)
    one = paired_difference([0.9], [0.1], seed=1)
    assert one is not None
    assert one.p == 1
    with pytest.raises(ValueError, match="not paired"):
        paired_difference([1], [1, 2], seed=1)
    with pytest.raises(ValueError, match="finite"):
        paired_difference([float("nan")], [1], seed=1)


def test_coverage_and_error_over_2000_simulated_experiments() -> None:
    """Differences as of nDCG: many zeros, the rest skewed; 60 queries."""
    random = np.random.default_rng(11)
    covered = alarms = 0
    truth = 0.3 * (0.6 * 0.5 - 0.4 * 0.375)  # share that differs, wins of mean 0.5, losses of mean 0.375
    for _ in range(2_000):
        differs = random.random(60) < 0.3
        wins = random.random(60) < 0.6
        d = np.where(differs, np.where(wins, random.beta(2, 2, 60), -random.beta(1.5, 2.5, 60)), 0)
        found = paired_difference(d, np.zeros(60), seed=5, resamples=600)
        assert found is not None
        covered += found.low <= truth <= found.high
        null = np.where(differs, random.choice([-1, 1], 60) * random.beta(2, 2, 60), 0)
        tested = paired_difference(null, np.zeros(60), seed=5, resamples=600)
        assert tested is not None
        alarms += tested.p <= 0.05
    assert 0.93 <= covered / 2_000 <= 0.97
    assert alarms / 2_000 <= 0.055
