"""The same judgement with its sides exchanged."""

from __future__ import annotations

import re
from dataclasses import replace

from backend.judging.rules import combine
from backend.judging.types import OrderJudgement, Outcome, Side, Verdict

_SIDE = re.compile(r"\b([Ss]ide) ([AB])\b")  # how the judging room's own sentences name the sides
_OUTCOMES = {Outcome.A: Outcome.B, Outcome.B: Outcome.A}


def mirrored(verdict: Verdict) -> Verdict:
    """The verdict as if a's text had been b's. The judge's own words stay: they speak of Chunk A and B of an order."""
    orders = tuple(map(_order, verdict.orders))
    return replace(
        verdict,
        outcome=_exchanged(verdict.outcome),
        reason=combine(orders).reason if orders else _renamed(verdict.reason),
        orders=orders,
        margin=None if verdict.margin is None else -verdict.margin,
    )


def _order(order: OrderJudgement) -> OrderJudgement:
    first: Side = "b" if order.first == "a" else "a"
    return replace(
        order,
        first=first,
        outcome=_exchanged(order.outcome),
        scores_a=order.scores_b,
        scores_b=order.scores_a,
        stated_winner=None if order.stated_winner is None else _exchanged(order.stated_winner),
        strengths_a=order.strengths_b,
        weaknesses_a=order.weaknesses_b,
        strengths_b=order.strengths_a,
        weaknesses_b=order.weaknesses_a,
        contradictions=tuple(map(_renamed, order.contradictions)),
    )


def _exchanged(outcome: Outcome) -> Outcome:
    return _OUTCOMES.get(outcome, outcome)


def _renamed(sentence: str) -> str:
    return _SIDE.sub(lambda match: f"{match[1]} {'B' if match[2] == 'A' else 'A'}", sentence)
