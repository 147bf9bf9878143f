"""One verdict, whole: who won and why, both orders' scores, what the judge contradicted, and what it cost."""

from __future__ import annotations

import re
from typing import Literal

import streamlit as st

from backend.judging.types import DIMENSIONS, JudgeKind, OrderJudgement, Outcome, Side, Verdict
from backend.ui.sides import Sides
from backend.ui.text import count, label, passage, verbatim

Colour = Literal["green", "orange", "blue", "gray"]
_SIDE = re.compile(r"\b[Ss]ide ([AB])\b")  # how the judging room's own sentences name the sides
_DIMENSION_WORDS = {
    "query_relevance": "Query relevance",
    "answer_completeness": "Answer completeness",
    "factual_plausibility": "Factual plausibility",
    "clarity": "Clarity",
    "overall": "Overall (mean)",
}


def headline(verdict: Verdict, sides: Sides) -> str:
    """The outcome in a few plain words, by model name once revealed."""
    if verdict.outcome is Outcome.UNSCORED:
        return "Unscored"
    if verdict.outcome is Outcome.TIE:
        return f"Tie: {tie_kind(verdict)}"
    side: Side = "a" if verdict.outcome is Outcome.A else "b"
    return f"{sides.name(side)} wins"


def tie_kind(verdict: Verdict) -> str:
    """Which kind of tie."""
    if verdict.identical:
        return "identical texts"
    if verdict.order_dependent:
        return "order-dependent"
    if verdict.rule_conflict:
        return "rule conflict"
    return "within the tie band" if verdict.margin is not None else "equally good"


def show(verdict: Verdict, sides: Sides) -> None:
    """Draw the card."""
    with st.container(border=True):
        st.subheader(label(headline(verdict, sides)), anchor=False, icon=_icon(verdict))
        _badges(verdict)
        passage(_placed(verdict.reason, sides))
        if verdict.one_order:
            st.warning(
                "Only one order was asked. A preference for the first text can't be ruled out.",
                icon=":material/warning:",
            )
        if verdict.order_dependent:
            st.caption(
                "The two orders disagreed, so neither side wins: the judge leaned on position, not on the texts."
            )
        if verdict.margin is not None:
            st.caption("This judge speaks about relevance only and gives no reasons.")
        if any(order.scores_a or order.scores_b for order in verdict.orders):
            _scores(verdict, sides)
        for number, order in enumerate(verdict.orders, start=1):
            _order(number, order, sides, alone=len(verdict.orders) == 1)
        st.caption(" · ".join(_footnotes(verdict)))


def _icon(verdict: Verdict) -> str:
    return {
        Outcome.UNSCORED: ":material/help:",
        Outcome.TIE: ":material/balance:",
    }.get(verdict.outcome, ":material/trophy:")


def _badges(verdict: Verdict) -> None:
    marks: list[tuple[str, Colour]] = []
    if verdict.outcome is Outcome.UNSCORED:
        marks.append(("no verdict, counted apart", "gray"))
    elif verdict.order_dependent:
        marks.append(("order-dependent", "orange"))
    elif verdict.identical:
        marks.append(("identical: no call was made", "gray"))
    elif verdict.judge.kind is JudgeKind.LIKELIHOOD:
        marks.append(("order can't matter", "green"))
        marks.append(("relevance only", "gray"))
    elif verdict.one_order:
        marks.append(("one order only", "orange"))
    else:
        marks.append(("both orders agree", "green"))
    if verdict.rule_conflict:
        marks.append(("rule conflict", "orange"))
    if any(order.contradictions for order in verdict.orders):
        marks.append(("contradicts itself", "orange"))
    marks.append((verdict.judge.unit, "blue"))
    with st.container(horizontal=True):
        for words, colour in marks:
            st.badge(words, color=colour)


def _placed(reason: str, sides: Sides) -> str:
    """The sentence in the words of the page: sides by their model or place."""
    return _SIDE.sub(lambda match: sides.name("a" if match[1] == "A" else "b"), reason)


def _scores(verdict: Verdict, sides: Sides) -> None:
    import pandas as pd

    rows: dict[str, list[float | None]] = {}
    for number, order in enumerate(verdict.orders, start=1):
        for side in sides.order:
            scores = order.scores_a if side == "a" else order.scores_b
            column = f"{sides.name(side)}, order {number}" if len(verdict.orders) > 1 else sides.name(side)
            rows[column] = [getattr(scores, name) if scores else None for name in (*DIMENSIONS, "overall")]
    st.dataframe(
        pd.DataFrame(rows, index=[_DIMENSION_WORDS[name] for name in (*DIMENSIONS, "overall")]),
        column_config={name: st.column_config.NumberColumn(format="%.2f") for name in rows},
        alt="Scores from 1 to 10 for each side on the four dimensions and their mean, by order.",
    )


def _order(number: int, order: OrderJudgement, sides: Sides, *, alone: bool) -> None:
    second: Side = "b" if order.first == "a" else "a"
    shown = f"Chunk A was {sides.name(order.first)}, Chunk B was {sides.name(second)}"
    title = "The judge's words" if alone else f"Order {number}"
    with st.expander(f"{title}: {label(_order_outcome(order, sides))}", icon=":material/format_quote:"):
        st.caption(f"In this order {label(shown)}.")
        if order.unscored_reason:
            st.text(f"No score: {order.unscored_reason}")
        if order.reason:
            passage(order.reason)
        if order.deciding_dimension:
            st.text(f"Deciding dimension: {_DIMENSION_WORDS.get(order.deciding_dimension, order.deciding_dimension)}")
        _strengths(order, sides)
        if order.stated_confidence is not None:
            band = (
                f" The scores themselves put it in the band “{label(order.confidence_band)}”."
                if order.confidence_band
                else ""
            )
            st.caption(
                f"Confidence {order.stated_confidence:.2f} (*stated* by the judge; a model's own number, not a "
                f"measured one).{band}"
            )
        if order.contradictions:
            st.markdown("**Contradictions in the reply**")
            for contradiction in order.contradictions:
                st.text(f"– {_placed(contradiction, sides)}")
        if order.repaired:
            st.text(f"The reply had to be made readable: {order.repaired}")
        if order.raw_reply and order.unscored_reason:
            st.markdown("**Raw reply**")
            verbatim(order.raw_reply, height=240 if len(order.raw_reply) > 800 else None)
        cost = _order_cost(order)
        if cost:
            st.caption(" · ".join(cost))


def _order_outcome(order: OrderJudgement, sides: Sides) -> str:
    if order.outcome in (Outcome.A, Outcome.B):
        return f"{sides.name('a' if order.outcome is Outcome.A else 'b')} is better"
    return "rule conflict" if order.rule_conflict else str(order.outcome)


def _strengths(order: OrderJudgement, sides: Sides) -> None:
    told = {"a": (order.strengths_a, order.weaknesses_a), "b": (order.strengths_b, order.weaknesses_b)}
    if not any(any(lists) for lists in told.values()):
        return
    for column, side in zip(st.columns(2), sides.order, strict=True):
        strengths, weaknesses = told[side]
        with column:
            st.markdown(f"**{label(sides.name(side))}**")
            for sign, points in (("+", strengths), ("–", weaknesses)):
                for point in points:
                    st.text(f"{sign} {point}")


def _order_cost(order: OrderJudgement) -> list[str]:
    parts = []
    if order.n_prompt_tokens is not None and order.n_completion_tokens is not None:
        parts.append(f"{order.n_prompt_tokens:,} + {order.n_completion_tokens:,} tokens")
    if order.cost_usd is not None:
        parts.append(f"{order.cost_usd:.5f} USD")
    if order.from_store:
        parts.append("from the store, free of charge")
    elif order.latency_ms:
        parts.append(f"{order.latency_ms:,.0f} ms")
    return parts


def _footnotes(verdict: Verdict) -> list[str]:
    judge = verdict.judge
    kind = "LLM judge" if judge.kind is JudgeKind.LLM else "Likelihood judge"
    parts = [f"{kind} {label(judge.model, 80)}", f"prompt {label(judge.prompt_version)}"]
    if judge.base_url:
        parts.append(label(judge.base_url))
    tokens = [
        n for order in verdict.orders for n in (order.n_prompt_tokens, order.n_completion_tokens) if n is not None
    ]
    if tokens:
        parts.append(count(sum(tokens), "token"))
    costs = [order.cost_usd for order in verdict.orders if order.cost_usd is not None]
    if costs:
        parts.append(f"{sum(costs):.5f} USD")
    if verdict.orders and all(order.from_store for order in verdict.orders):
        parts.append("from the store")
    elif verdict.latency_ms:
        parts.append(f"{verdict.latency_ms:,.0f} ms")
    return parts
