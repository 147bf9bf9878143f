"""Several comparisons at once: Holm's adjustment, and groups of arms that can't be told apart."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def holm(p_values: Mapping[Key, float]) -> dict[Key, float]:
    """Adjusted p values: those below alpha may be believed together (Holm 1979, Scand. J. Statistics 6:65-70)."""
    adjusted: dict[Key, float] = {}
    reached = 0.0
    for at, (key, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        reached = max(reached, min(1.0, p * (len(p_values) - at)))
        adjusted[key] = reached
    return {key: adjusted[key] for key in p_values}


def rank_groups(arms: Sequence[str], differ: Callable[[str, str], bool]) -> list[tuple[str, ...]]:
    """The longest runs of neighbouring arms in which no two differ; an arm may stand in several.

    Args:
        arms: By rank.
        differ: Whether two arms are told apart.
    """
    groups: list[tuple[str, ...]] = []
    reached = 0
    for first in range(len(arms)):
        last = first + 1
        while last < len(arms) and not any(differ(arm, arms[last]) for arm in arms[first:last]):
            last += 1
        if last > reached:
            groups.append(tuple(arms[first:last]))
            reached = last
    return groups
