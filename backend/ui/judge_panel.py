"""The judges' part of the duel page: stored verdicts, and the form that asks for another."""

from __future__ import annotations

import re

import streamlit as st

from backend.judging import StoredVerdict
from backend.judging.types import Outcome, Verdict
from backend.ui import judge_form, state, verdict_card
from backend.ui.sides import Sides
from backend.ui.text import count, label, moment
from backend.workspace import JudgeChoice, Workspace


def show(ws: Workspace, sides: Sides) -> JudgeChoice | None:
    """Draw verdicts and form.

    While the duel is blind and unjudged by the reader, stored verdicts stay folded away: they would sway the vote.

    Returns:
        The judge to ask, when the reader asked just now.
    """
    st.header("Verdict", anchor="verdict")
    stored = sorted(ws.verdicts.for_duel(sides.duel.duel_id), key=lambda one: one.created_at, reverse=True)
    again = None
    if stored and not sides.revealed and st.session_state.get(state.DUEL_PEEKED) != sides.duel.duel_id:
        st.caption(f"{count(len(stored), 'verdict')} stored, folded away until you have voted.")
        if st.button("Show before voting", icon=":material/visibility:", type="tertiary", key="verdict_peek"):
            st.session_state[state.DUEL_PEEKED] = sides.duel.duel_id
            st.rerun()
    elif stored:
        again = _newest(stored[0], sides)
        _earlier(stored[1:], sides)
    elif not sides.revealed:
        st.caption("No judge was asked yet. Vote first, or ask blind: the verdict then says Left or Right.")
    return judge_form.show(ws, sides.duel) or again


def _newest(stored: StoredVerdict, sides: Sides) -> JudgeChoice | None:
    verdict_card.show(stored.verdict, sides)
    with st.container(horizontal=True, vertical_alignment="center"):
        if sides.revealed:
            st.page_link(
                "pages/verdicts.py",
                label="Link to this verdict",
                icon=":material/link:",
                query_params={state.URL_VERDICT: stored.verdict_id},
            )
        if stored.verdict.outcome is Outcome.UNSCORED and st.button(
            "Judge again", icon=":material/refresh:", key="judge_again"
        ):
            return same_judge(stored.verdict)
    return None


def _earlier(stored: list[StoredVerdict], sides: Sides) -> None:
    for one in stored:
        title = (
            f"{verdict_card.headline(one.verdict, sides)} · {one.verdict.judge.kind} judge · {one.verdict.judge.unit}"
        )
        with st.expander(f"Earlier: {label(title)} · {moment(one.created_at)}", icon=":material/gavel:"):
            verdict_card.show(one.verdict, sides)


def same_judge(verdict: Verdict) -> JudgeChoice:
    """The choice that asks the judge of this verdict again."""
    rank = re.fullmatch(r"rank (\d+)", verdict.judge.unit)
    return JudgeChoice(
        kind=verdict.judge.kind,
        base_url=verdict.judge.base_url,
        model=verdict.judge.model if verdict.judge.base_url else "",
        both_orders=verdict.judge.both_orders,
        rank=int(rank[1]) if rank else None,
        again=True,
    )
