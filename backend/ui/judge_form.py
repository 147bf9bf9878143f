"""Which judge to ask about a duel, and about what."""

from __future__ import annotations

import streamlit as st

from backend.errors import InputError
from backend.judging.types import JudgeKind
from backend.retrieval.types import Duel
from backend.ui import chat_facts, state
from backend.workspace import JudgeChoice, Workspace

_KIND_WORDS = {JudgeKind.LIKELIHOOD: "Likelihood judge (local)", JudgeKind.LLM: "LLM judge"}
_TOP, _RANK, _LISTS = "Rank 1", "Another rank", "Top-k lists"


def show(ws: Workspace, duel: Duel) -> JudgeChoice | None:
    """Draw the form.

    Returns:
        The judge to ask, when the button was pressed just now.

    Raises:
        InputError: The button was pressed, and the LLM judge has no endpoint.
    """
    chat = ws.chat_settings()
    with st.container(border=True, key="judge_form"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            kind = st.segmented_control(
                "Judge",
                list(_KIND_WORDS),
                format_func=_KIND_WORDS.__getitem__,
                default=None if state.JUDGE_KIND in st.session_state else JudgeKind.LIKELIHOOD,
                required=True,
                key=state.JUDGE_KIND,
                persist_state="session",
            )
            unit = st.segmented_control(
                "Compare",
                [_TOP, _RANK, _LISTS],
                default=None if state.JUDGE_UNIT in st.session_state else _TOP,
                required=True,
                key=state.JUDGE_UNIT,
                persist_state="session",
                help="One result against one result, or the two lists under equal length budgets.",
            )
            rank = _rank(duel) if unit == _RANK else 1
        both = _about(ws, kind or JudgeKind.LIKELIHOOD)
        pressed = st.button("Ask the judge", icon=":material/gavel:", key="judge_ask")
    if not pressed:
        return None
    if kind is JudgeKind.LLM and not chat_facts.judge_name(chat):
        raise InputError("The LLM judge has no chat endpoint yet.", hint="Set one on the settings page.")
    return JudgeChoice(kind=kind or JudgeKind.LIKELIHOOD, both_orders=both, rank=None if unit == _LISTS else rank)


def _rank(duel: Duel) -> int:
    deepest = max(1, min(len(duel.a.hits), len(duel.b.hits)))
    st.session_state[state.JUDGE_RANK] = min(max(int(st.session_state.get(state.JUDGE_RANK, 2)), 1), deepest)
    return int(
        st.number_input(
            "Rank", min_value=1, max_value=deepest, key=state.JUDGE_RANK, persist_state="session", width=140
        )
    )


def _about(ws: Workspace, kind: JudgeKind) -> bool:
    """Say what this judge can tell; gives whether both orders are to be asked."""
    if kind is JudgeKind.LIKELIHOOD:
        st.caption(
            "Measures how likely the question is, given each text, under a small language model on this machine. Free, "
            "the same both ways round, and **speaks about relevance only**: not about completeness, truth or style."
        )
        return True
    chat = ws.chat_settings()
    name = chat_facts.judge_name(chat)
    if not name:
        st.caption("No chat endpoint is set, so this judge can't be asked yet.")
        st.page_link("pages/settings.py", label="Set a chat endpoint", icon=":material/settings:")
        return True
    st.caption(f"{name} scores both texts on four dimensions, knowing nothing but the question and the two texts.")
    if chat_facts.is_unfit(chat):
        st.warning(chat_facts.NOT_FIT, icon=":material/warning:")
    st.session_state.setdefault(state.JUDGE_BOTH_ORDERS, True)
    both = st.toggle("Ask in both orders", key=state.JUDGE_BOTH_ORDERS, persist_state="session")
    if not both:
        st.caption(
            ":material/warning: With one order only, a preference for whichever text comes first can't be told from a "
            "real difference. The verdict will say so."
        )
    return bool(both)
