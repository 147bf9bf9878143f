"""Differences of paired numbers, one pair a query: nDCG of two arms, scores on a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

RESAMPLES = 10_000
_MOST_EXACT = 14  # 2^14 sign patterns are as many as are drawn otherwise
_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean difference, first minus second, over queries.

    Attributes:
        mean: Of the differences.
        low: Lower end of the bias-corrected and accelerated bootstrap interval.
        high: Upper end.
        p: Two-sided, of the randomisation test that swaps the sides of each query.
        n: Queries.
        wins: Queries on which the first is higher.
        losses: Queries on which it is lower.
        confidence: Of the interval.
    """

    mean: float
    low: float
    high: float
    p: float
    n: int
    wins: int
    losses: int
    confidence: float = 0.95


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    seed: int,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
) -> PairedDifference | None:
    """Compare two arms on the same queries.

    The interval is BCa over queries (Efron 1987, JASA 82:171-185), the test Fisher's randomisation test (Smucker,
    Allan and Carterette 2007, CIKM, doi 10.1145/1321440.1321528). Swapping the arms swaps the result's signs exactly:
    one set of draws serves both.

    Args:
        first: A number a query.
        second: Of the same queries in the same order.
        seed: Of the draws.
        confidence: Of the interval.
        resamples: Bootstrap samples and random swaps.

    Returns:
        None without a query.

    Raises:
        ValueError: Not as many numbers on both sides, or one is no number.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} numbers are not paired")
    differences = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    if not np.isfinite(differences).all():
        raise ValueError("a number is not finite")
    if not len(differences):
        return None
    # Seen from the side that leads, and in an order of their own: the draws then depend neither on which arm is named
    # first nor on the order in which the queries came.
    lead = float(np.sum(differences)) or float(np.sum(differences**3))
    sign = -1.0 if lead < 0 else 1.0
    seen = differences * sign
    seen = seen[np.lexsort((seen, np.abs(seen)))]
    low, high = _bca(seen, np.random.default_rng(seed), confidence, resamples)
    low, high = (low, high) if sign > 0 else (-high, -low)
    return PairedDifference(
        mean=float(differences.mean()),
        low=low,
        high=high,
        p=_randomisation(np.abs(seen), abs(float(seen.sum())), np.random.default_rng(seed), resamples),
        n=len(differences),
        wins=int((differences > 0).sum()),
        losses=int((differences < 0).sum()),
        confidence=confidence,
    )


def _bca(values: Vector, random: np.random.Generator, confidence: float, resamples: int) -> tuple[float, float]:
    from scipy.special import ndtr, ndtri

    n, observed = len(values), float(values.mean())
    if n == 1 or np.ptp(values) == 0:
        return observed, observed  # nothing varies: the sentence beside it says that one value shows no spread
    means = np.concatenate(
        [
            values[random.integers(0, n, (min(_BATCH, resamples - done), n))].mean(axis=1)
            for done in range(0, resamples, _BATCH)
        ]
    )
    below = ((means < observed).sum() + (means == observed).sum() / 2) / len(means)
    shift = float(ndtri(np.clip(below, 1 / (len(means) + 1), 1 - 1 / (len(means) + 1))))
    jackknife = (values.sum() - values) / (n - 1)
    spread = jackknife.mean() - jackknife
    bend = float((spread**3).sum() / (6 * ((spread**2).sum()) ** 1.5))
    tail = ndtri(np.array([(1 - confidence) / 2, (1 + confidence) / 2]))
    levels = ndtr(shift + (shift + tail) / (1 - bend * (shift + tail)))
    low, high = np.quantile(means, levels)
    return float(low), float(high)


def _randomisation(sizes: Vector, observed: float, random: np.random.Generator, resamples: int) -> float:
    """Share of swaps of sides whose sum is at least as far from 0; exact with few queries that differ."""
    sizes = sizes[sizes > 0]
    if not len(sizes):
        return 1.0
    edge = observed * (1 - 1e-12)  # sums of the same numbers in another order
    if len(sizes) <= _MOST_EXACT:
        patterns = (np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes))) & 1
        return float((np.abs((1 - 2 * patterns) @ sizes) >= edge).mean())
    n_far = 0
    for done in range(0, resamples, _BATCH):
        signs = random.integers(0, 2, (min(_BATCH, resamples - done), len(sizes))) * 2 - 1
        n_far += int((np.abs(signs @ sizes) >= edge).sum())
    # The observed arrangement is one of those that could have been (Phipson and Smyth 2010).
    return (n_far + 1) / (resamples + 1)
