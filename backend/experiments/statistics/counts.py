"""Wins, ties and losses over queries: win rate, share of decisive queries, exact test. The query is the unit.

Every interval is two-sided at ``confidence`` (95 % by default) and comes from a score test, so that it has its
coverage with few queries and at the edges, where Wald's and percentile bootstrap intervals have not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

_STEPS = 100  # halvings: below any float's resolution


@dataclass(frozen=True, slots=True)
class Record:
    """What came of the scored queries of one pair of arms, from the first arm's side."""

    wins: int
    losses: int
    ties: int

    def __post_init__(self) -> None:
        if min(self.wins, self.losses, self.ties) < 0:
            raise ValueError("counts are not negative")

    @property
    def n(self) -> int:
        """Scored queries."""
        return self.wins + self.losses + self.ties

    @property
    def decisive(self) -> int:
        """Queries that one side won."""
        return self.wins + self.losses

    def swapped(self) -> Record:
        """As the other arm sees it."""
        return Record(self.losses, self.wins, self.ties)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share with its interval; all three lie in 0 to 1.

    Attributes:
        value: The share observed.
        low: Lower end.
        high: Upper end.
        n: Queries that it stands on.
        confidence: Of the interval.
    """

    value: float
    low: float
    high: float
    n: int
    confidence: float = 0.95

    @property
    def includes_half(self) -> bool:
        """Whether no difference is among what the data allow."""
        return self.low <= 0.5 <= self.high


def win_rate(record: Record, confidence: float = 0.95) -> Estimate | None:
    """Share of queries won, ties half, with an interval; None without a scored query.

    The win rate is (1 + d) / 2 with d the difference of two paired proportions, those of wins and of losses. The
    interval is Tango's score interval for d (Tango 1998, Statistics in Medicine 17:891-908).
    """
    if record.n == 0:
        return None
    value = (record.wins + record.ties / 2) / record.n
    low, high = _tango(record.wins, record.losses, record.n, _z(confidence))
    return Estimate(value, (1 + low) / 2, (1 + high) / 2, record.n, confidence)


def decisive_share(record: Record, confidence: float = 0.95) -> Estimate | None:
    """Share of the decisive queries won, with Wilson's interval; None without a decisive query."""
    return wilson(record.wins, record.decisive, confidence) if record.decisive else None


def wilson(successes: int, n: int, confidence: float = 0.95) -> Estimate:
    """A share with Wilson's score interval (Wilson 1927, JASA 22:209-212).

    Raises:
        ValueError: ``n`` is 0, or successes lie outside 0 to n.
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no share")
    z = _z(confidence)
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == n else min(1.0, middle + half)
    return Estimate(share, low, high, n, confidence)


def sign_test(record: Record) -> float | None:
    """Two-sided p of the exact sign test on decisive queries, McNemar's exact test; None without one.

    Ties say nothing about which side is better and are left out (Conover 1999, Practical Nonparametric Statistics).
    """
    if record.decisive == 0:
        return None
    from scipy.stats import binomtest

    return float(binomtest(record.wins, record.decisive, 0.5).pvalue)


def _z(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is none")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _tango(wins: int, losses: int, n: int, z: float) -> tuple[float, float]:
    """Ends of the score interval for (wins - losses) / n."""

    def statistic(d: float) -> float:
        """Score statistic for a true difference d; falls as d grows."""
        a, b = 2 * n, -wins - losses + (2 * n - wins + losses) * d
        c = -losses * d * (1 - d)
        q = (sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)  # share of losses that fits best under d
        variance = n * (2 * q + d * (1 - d))
        lead = wins - losses - n * d
        if variance <= 0:
            return 0.0 if lead == 0 else float("inf") if lead > 0 else float("-inf")
        return lead / sqrt(variance)

    observed = (wins - losses) / n
    # With only wins (or only losses) nothing speaks against a difference of 1 (or -1).
    low = -1.0 if losses == n else _root(lambda d: statistic(d) - z, -1.0, observed)
    high = 1.0 if wins == n else _root(lambda d: statistic(d) + z, observed, 1.0)
    return low, high


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if falling(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
