"""Agreement of judges: Krippendorff's alpha for nominal data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence


def krippendorff_alpha(units: Sequence[Sequence[str | None]]) -> float | None:
    """Agreement beyond chance among any number of judges, with gaps.

    1 is perfect, 0 is chance, below 0 is systematic disagreement (Krippendorff 2011, "Computing Krippendorff's
    Alpha-Reliability", section C: nominal data).

    Args:
        units: For each judged item what each judge said; None where a judge said nothing usable.

    Returns:
        None where no item has two values, or where all values are the same: nothing varies, so nothing is shown.
    """
    paired = [values for unit in units if len(values := [value for value in unit if value is not None]) > 1]
    totals: Counter[str] = Counter(value for values in paired for value in values)
    n = sum(totals.values())
    if n == 0 or len(totals) == 1:
        return None
    observed = sum(_disagreeing(Counter(values)) / (len(values) - 1) for values in paired)
    expected = _disagreeing(totals) / (n - 1)
    return 1 - observed / expected


def _disagreeing(counts: Mapping[str, int]) -> int:
    """Ordered pairs of different values."""
    n = sum(counts.values())
    return n * n - sum(count * count for count in counts.values())
