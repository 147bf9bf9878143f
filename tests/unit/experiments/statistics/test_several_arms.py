"""Bradley-Terry with ties, Holm, rank groups and Krippendorff's alpha."""

from __future__ import annotations

import random as python_random

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import false_discovery_control

from backend.experiments.statistics import PairOutcome, fit_bradley_terry, holm, krippendorff_alpha, rank_groups
from backend.experiments.statistics import bradley_terry as module


def simulated(n_queries: int, strengths: dict[str, float], log_nu: float, seed: int) -> list[PairOutcome]:
    random = np.random.default_rng(seed)
    arms = list(strengths)
    outcomes = []
    for query in range(n_queries):
        for at, first in enumerate(arms):
            for second in arms[at + 1 :]:
                a, b = strengths[first], strengths[second]
                weights = np.exp([a, b, log_nu + (a + b) / 2])
                result = random.choice(["first", "second", "tie"], p=weights / weights.sum())
                outcomes.append(PairOutcome(f"q{query}", first, second, result))
    return outcomes


def test_against_a_general_optimiser() -> None:
    outcomes = simulated(40, {"a": 0.8, "b": 0.0, "c": -0.5}, -0.4, 3)
    fit = fit_bradley_terry(outcomes, seed=1, resamples=50)
    arms = ["a", "b", "c"]

    def against(x: np.ndarray) -> float:
        total = sum(value**2 for value in x[:3]) / (2 * 1.5**2) + x[3] ** 2 / (2 * 2**2)
        for o in outcomes:
            a, b = x[arms.index(o.first)], x[arms.index(o.second)]
            logits = {"first": a, "second": b, "tie": x[3] + (a + b) / 2}
            total -= logits[o.result] - np.log(sum(np.exp(value) for value in logits.values()))
        return total

    found = minimize(against, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x
    assert fit is not None
    assert {s.arm: s.log_strength for s in fit.strengths} == pytest.approx(
        {arm: found[n] - found[:3].mean() for n, arm in enumerate(arms)}, abs=1e-4
    )
    assert fit.tie_log_odds == pytest.approx(found[3], abs=1e-4)


def test_without_ties_and_prior_against_a_published_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """1987 American League baseball (Agresti, Categorical Data Analysis, section 10.6): wins of 7 teams."""
    teams = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
    wins = [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ]
    published = [1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0.0]
    monkeypatch.setattr(module, "_PRIOR_SD", 1e3)
    outcomes = [
        PairOutcome(f"{a}{b}{n}", teams[a], teams[b], "first")
        for a in range(7)
        for b in range(7)
        for n in range(wins[a][b])
    ]
    fit = fit_bradley_terry(outcomes, seed=1, resamples=2)
    assert fit is not None
    found = {s.arm: s.log_strength for s in fit.strengths}
    assert [round(found[team] - found["Baltimore"], 2) for team in teams] == pytest.approx(published, abs=0.011)


def test_a_perfect_record_stays_finite_and_names_and_rows_change_nothing() -> None:
    outcomes = [PairOutcome(f"q{n}", "best", other, "first") for n in range(12) for other in ("x", "y")]
    outcomes += [PairOutcome(f"q{n}", "x", "y", "tie") for n in range(12)]
    fit = fit_bradley_terry(outcomes, seed=1, resamples=200)
    assert fit is not None
    assert [s.arm for s in fit.strengths] == ["best", "x", "y"]
    assert [s.rank for s in fit.strengths] == [1, 2, 2]
    assert all(np.isfinite([s.log_strength, s.low, s.high]).all() for s in fit.strengths)
    mixed = [
        PairOutcome(o.query_id, o.second, o.first, {"first": "second", "second": "first", "tie": "tie"}[o.result])
        for o in outcomes
    ]
    python_random.Random(1).shuffle(mixed)
    assert fit_bradley_terry(mixed, seed=1, resamples=200) == fit
    assert fit_bradley_terry([], seed=1) is None
    one = fit_bradley_terry(outcomes[:1], seed=1, resamples=20)
    assert one is not None
    assert one.strengths[0].low == one.strengths[0].high


def test_bootstrap_intervals_cover_the_true_difference() -> None:
    """Two of three arms over 40 queries, 200 times: the interval of the strongest holds its true value."""
    truth = {"a": 0.6, "b": 0.0, "c": -0.6}
    covered = 0
    for seed in range(200):
        fit = fit_bradley_terry(simulated(40, truth, -0.5, seed), seed=seed, resamples=100)
        assert fit is not None
        covered += next(s.low <= 0.6 <= s.high for s in fit.strengths if s.arm == "a")
    assert 0.90 <= covered / 200 <= 0.985  # 200 runs: two standard errors of 95 %, and a prior that shrinks a little


def test_holm_by_hand_and_its_order() -> None:
    # Four hypotheses: 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 (raised to the one before).
    adjusted = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert adjusted == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})
    assert list(adjusted) == ["a", "b", "c", "d"]
    assert holm({}) == {}
    p = [0.001, 0.2, 0.8]
    assert all(
        x >= y - 1e-12 for x, y in zip(holm(dict(enumerate(p))).values(), false_discovery_control(p), strict=True)
    )


def test_groups_that_can_not_be_told_apart() -> None:
    apart = {("a", "c"), ("a", "d"), ("b", "d")}
    assert rank_groups(["a", "b", "c", "d"], lambda x, y: (x, y) in apart) == [("a", "b"), ("b", "c"), ("c", "d")]
    assert rank_groups(["a", "b"], lambda x, y: False) == [("a", "b")]
    assert rank_groups(["a", "b"], lambda x, y: True) == [("a",), ("b",)]
    assert rank_groups([], lambda x, y: True) == []


def test_alpha_against_krippendorffs_own_example() -> None:
    # Four observers, twelve units, with gaps: nominal alpha 0.743 (Krippendorff 2011, section C).
    rows = [
        "1 2 3 3 2 1 4 1 2 - - -",
        "1 2 3 3 2 2 4 1 2 5 - 3",
        "- 3 3 3 2 3 4 2 2 5 1 -",
        "1 2 3 3 2 4 4 1 2 5 1 -",
    ]
    units = list(zip(*[[None if v == "-" else v for v in row.split()] for row in rows], strict=True))
    assert krippendorff_alpha(units) == pytest.approx(0.743, abs=5e-4)


def test_alpha_of_degenerate_judgements() -> None:
    assert krippendorff_alpha([]) is None
    assert krippendorff_alpha([["a", "a"], ["a", None]]) is None
    assert krippendorff_alpha([["a"], ["b"]]) is None
    assert krippendorff_alpha([["a", "a"], ["b", "b"]]) == 1
    assert (krippendorff_alpha([["a", "b"], ["b", "a"]]) or 0) < 0
