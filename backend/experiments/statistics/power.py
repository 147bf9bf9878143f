"""How many queries: what a number of them can show, and how many more would settle a question."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from backend.experiments.statistics.counts import Record

Counts = NDArray[np.int64]

POWER = 0.8
ALPHA = 0.05
_MOST_QUERIES = 100_000


@dataclass(frozen=True, slots=True)
class MoreNeeded:
    """Queries that would settle which side is better, if the shares seen so far are the true ones.

    Attributes:
        decisive: Further decisive queries.
        queries: Further queries in all, at the share of ties seen so far.
    """

    decisive: int
    queries: int


def sign_test_power(n_decisive: int, share: float, alpha: float = ALPHA) -> float:
    """Chance that the exact two-sided sign test rejects, when one side truly wins ``share`` of decisive queries."""
    return float(_power(np.array([n_decisive]), share, alpha)[0])


@lru_cache(maxsize=4096)
def decisive_needed(share: float, power: float = POWER, alpha: float = ALPHA) -> int | None:
    """The fewest decisive queries from which on the sign test has this power; None at a share of one half.

    The power of an exact test rises with dents: the number is the first after which no dent falls below ``power``
    any more, so that one query more never loses it. None too where more than 100,000 are needed.
    """
    share = max(share, 1 - share)
    if share <= 0.5:
        return None
    high = 2
    while sign_test_power(high, share, alpha) < power:
        high *= 2
        if high > _MOST_QUERIES:
            return None
    n = np.arange(1, high * 3 // 2 + 10)
    short = np.flatnonzero(_power(n, share, alpha) < power)
    return int(n[short[-1]]) + 1 if len(short) else 1


def smallest_difference(n_decisive: int, power: float = POWER, alpha: float = ALPHA) -> float | None:
    """The smallest true share above one half that so many decisive queries show with this power; None: none at all."""
    if sign_test_power(n_decisive, 1.0, alpha) < power:
        return None
    low, high = 0.5, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if sign_test_power(n_decisive, middle, alpha) < power:
            low = middle
        else:
            high = middle
    return high


def more_needed(record: Record, power: float = POWER, alpha: float = ALPHA) -> MoreNeeded | None:
    """Queries that are missing for a clear answer, if things go on as they went.

    Returns:
        None where nothing can be said: no decisive query, or as many wins as losses.
    """
    if record.decisive == 0 or record.wins == record.losses:
        return None
    wanted = decisive_needed(max(record.wins, record.losses) / record.decisive, power, alpha)
    if wanted is None:
        return None
    missing = max(0, wanted - record.decisive)
    return MoreNeeded(missing, -(-missing * record.n // record.decisive))


def _power(n: Counts, share: float, alpha: float) -> NDArray[np.float64]:
    from scipy.stats import binom

    # The most losses at which the test still rejects; -1: it can't with so few.
    critical = binom.ppf(alpha / 2, n, 0.5).astype(np.int64)
    critical -= 2 * binom.cdf(critical, n, 0.5) > alpha
    rejects = binom.cdf(critical, n, share) + binom.sf(n - critical - 1, n, share)
    return np.where(critical < 0, 0.0, rejects)
