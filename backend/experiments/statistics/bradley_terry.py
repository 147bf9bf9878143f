"""Strengths of several arms from pairwise outcomes with ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Result = Literal["first", "second", "tie"]

_PRIOR_SD = 1.5  # of a log strength: puts 95 % of pairs of arms within odds of 64 to 1
_PRIOR_SD_TIES = 2.0
_MOST_STEPS = 100
_CLOSE = 1e-9
RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """What came of one query between two arms."""

    query_id: str
    first: str
    second: str
    result: Result


@dataclass(frozen=True, slots=True)
class Strength:
    """An arm's place.

    Attributes:
        log_strength: Relative to the arms' mean; the odds of winning against another are e to the difference.
        low: Lower end of the bootstrap interval over queries.
        high: Upper end.
        rank: From 1, by log strength.
        best_rank: The best within the interval of ranks.
        worst_rank: The worst.
    """

    arm: str
    log_strength: float
    low: float
    high: float
    rank: int
    best_rank: int
    worst_rank: int


@dataclass(frozen=True, slots=True)
class BradleyTerryFit:
    """All arms, strongest first.

    Attributes:
        tie_log_odds: Davidson's log nu: how readily equal arms tie.
    """

    strengths: tuple[Strength, ...]
    tie_log_odds: float
    n_queries: int
    confidence: float = 0.95


def fit_bradley_terry(
    outcomes: Sequence[PairOutcome], *, seed: int, confidence: float = 0.95, resamples: int = RESAMPLES
) -> BradleyTerryFit | None:
    """Fit Davidson's model of pairwise outcomes with ties, under a normal prior that keeps perfect records finite.

    P(first wins) : P(second wins) : P(tie) = p1 : p2 : nu sqrt(p1 p2) (Davidson 1970, JASA 65:317-328). The prior is
    N(0, 1.5) on log strengths and N(0, 2) on log nu. Intervals are percentiles over queries drawn anew: a query with
    all its pairs is one observation.

    Returns:
        None without an outcome.
    """
    if not outcomes:
        return None
    arms = sorted({arm for outcome in outcomes for arm in (outcome.first, outcome.second)})
    queries = sorted({outcome.query_id for outcome in outcomes})
    counts = _counts(outcomes, arms, queries)
    theta, log_nu = _fit(counts.sum(axis=0), len(arms))
    random = np.random.default_rng(seed)
    drawn = np.empty((resamples, len(arms)))
    for at in range(resamples):
        weights = np.bincount(random.integers(0, len(queries), len(queries)), minlength=len(queries))
        drawn[at] = _fit(np.tensordot(weights, counts, axes=1), len(arms), start=(theta, log_nu))[0]
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(drawn, tails, axis=0)
    # Ties in rank, which only equal records give, count as the better rank.
    ranks = 1 + (drawn[:, :, None] < drawn[:, None, :] - _CLOSE).sum(axis=2)
    best, worst = np.quantile(ranks, tails, axis=0, method="inverted_cdf")
    order = sorted(range(len(arms)), key=lambda n: (-round(float(theta[n]), 9), arms[n]))
    place = {n: 1 + sum(theta[other] > theta[n] + _CLOSE for other in range(len(arms))) for n in order}
    return BradleyTerryFit(
        tuple(
            Strength(
                arms[n], float(theta[n]), float(low[n]), float(high[n]), int(place[n]), int(best[n]), int(worst[n])
            )
            for n in order
        ),
        log_nu,
        len(queries),
        confidence,
    )


def _counts(outcomes: Sequence[PairOutcome], arms: list[str], queries: list[str]) -> Array:
    """Shape [queries, 2, arms, arms]: wins of row over column, and ties (both ways)."""
    arm_at = {arm: n for n, arm in enumerate(arms)}
    query_at = {query: n for n, query in enumerate(queries)}
    counts = np.zeros((len(queries), 2, len(arms), len(arms)))
    for outcome in outcomes:
        q, first, second = query_at[outcome.query_id], arm_at[outcome.first], arm_at[outcome.second]
        if outcome.result == "tie":
            counts[q, 1, first, second] += 1
            counts[q, 1, second, first] += 1
        elif outcome.result == "first":
            counts[q, 0, first, second] += 1
        else:
            counts[q, 0, second, first] += 1
    return counts


def _fit(counts: Array, n_arms: int, start: tuple[Array, float] | None = None) -> tuple[Array, float]:
    """Posterior mode by Newton's method with halved steps; the log posterior is concave, so there is one."""
    wins, ties = counts
    won = wins.sum(axis=1) + ties.sum(axis=1) / 2
    n_ties = ties.sum() / 2
    upper = np.triu_indices(n_arms, 1)
    met = (wins + wins.T + ties)[upper]
    x = np.concatenate([start[0], [start[1]]]) if start else np.zeros(n_arms + 1)
    precision = np.concatenate([np.full(n_arms, _PRIOR_SD**-2), [_PRIOR_SD_TIES**-2]])
    design = np.zeros((len(met), 3, n_arms + 1))  # log weights of first, second, tie are linear in the parameters
    rows = np.arange(len(met))
    design[rows, 0, upper[0]] = design[rows, 1, upper[1]] = 1.0
    design[rows, 2, upper[0]] = design[rows, 2, upper[1]] = 0.5
    design[rows, 2, n_arms] = 1.0
    sums = np.concatenate([won, [n_ties]])

    def value(at: Array) -> float:
        logits = design @ at
        return float(sums @ at - met @ np.logaddexp.reduce(logits, axis=1) - precision @ at**2 / 2)

    best = value(x)
    for _ in range(_MOST_STEPS):
        logits = design @ x
        shares = np.exp(logits - np.logaddexp.reduce(logits, axis=1)[:, None])
        means = np.einsum("pk,pkd->pd", shares, design)
        gradient = sums - met @ means - precision * x
        spread = np.einsum("p,pk,pkd,pke->de", met, shares, design, design) - np.einsum(
            "p,pd,pe->de", met, means, means
        )
        step = np.linalg.solve(spread + np.diag(precision), gradient)
        size = 1.0
        while (reached := value(x + size * step)) < best - 1e-12 and size > 1e-6:
            size /= 2
        x, best = x + size * step, reached
        if np.abs(step).max() < _CLOSE:
            break
    theta = x[:n_arms] - x[:n_arms].mean()
    return theta, float(x[n_arms])
