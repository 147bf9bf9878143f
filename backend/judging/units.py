"""What of a duel a judge compares: the chunks at one rank, or the two lists with equal room."""

from __future__ import annotations

from collections.abc import Sequence

from backend.retrieval.types import Duel, Hit, texts_of

SEPARATOR = "\n\n* * *\n\n"
LIST_BUDGET_CHARS = 12_000
_LOOK_BACK = 0.2


def unit_name(rank: int | None, k: int) -> str:
    """How the unit is called in a judge's identity: ``rank 1``, ``top 5``."""
    return f"top {k}" if rank is None else f"rank {rank}"


def judged_texts(duel: Duel, rank: int | None) -> tuple[str, str]:
    """The texts of both sides, without rank, score, name or id.

    Args:
        duel: Two ranked lists.
        rank: The rank to compare, from 1; None: the two lists whole.

    Returns:
        Side a's and side b's text. A rank that a list does not reach is an empty text, which judges leave unscored.
        Two lists get the same room: the length of the shorter, at most LIST_BUDGET_CHARS. The longer one is cut
        there, at the end of a sentence or word, so that neither more text nor a broken word counts.
    """
    if rank is not None:
        return _at_rank(duel.a.hits, rank), _at_rank(duel.b.hits, rank)
    return pair_texts(texts_of(duel.a.hits), texts_of(duel.b.hits))


def pair_texts(texts_a: Sequence[str], texts_b: Sequence[str]) -> tuple[str, str]:
    """Two ranked lists as two texts with the same room."""
    a, b = (SEPARATOR.join(texts) for texts in (texts_a, texts_b))
    budget = min(len(a), len(b), LIST_BUDGET_CHARS)
    return _cut(a, budget), _cut(b, budget)


def _at_rank(hits: Sequence[Hit], rank: int) -> str:
    return next((hit.text for hit in hits if hit.rank == rank), "")


def _cut(text: str, budget: int) -> str:
    """At most ``budget`` characters, ended at a sentence if one ends in the last fifth, else at a word."""
    if len(text) <= budget:
        return text
    kept = text[:budget]
    earliest = int(budget * (1 - _LOOK_BACK))
    sentence = max(kept.rfind(end, earliest) + 1 for end in (". ", "! ", "? ", ".\n", "。", "\n"))
    if sentence > 0:
        return kept[:sentence].rstrip()
    word = kept.rfind(" ", earliest)
    return kept[:word].rstrip() if word > 0 else kept
