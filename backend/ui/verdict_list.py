"""All verdicts in one table with filters, counts and a CSV; picking a row opens its card."""

from __future__ import annotations

import streamlit as st

from backend.reporting import to_csv, verdict_table
from backend.ui import state, verdict_card
from backend.ui.sides import Sides, left_side
from backend.ui.text import count, label, moment, question
from backend.ui.verdict_rows import TIE, UNSCORED, WIN, Filters, VerdictRow, counted
from backend.workspace import Workspace

_KIND_WORDS = {WIN: "A model wins", TIE: "Tie", UNSCORED: "Unscored"}


def rows_of(ws: Workspace) -> list[VerdictRow]:
    """Every verdict with its duel, newest first."""
    stored = sorted(ws.verdicts.list(), key=lambda one: one.created_at, reverse=True)
    duels = {duel_id: ws.duels.find(duel_id) for duel_id in {one.duel_id for one in stored}}
    return [VerdictRow(one, duel) for one in stored if (duel := duels[one.duel_id]) is not None]


def show(rows: list[VerdictRow]) -> None:
    """Filters, counts, table, download."""
    filters = _filters(rows)
    kept = [row for row in rows if filters.keep(row)]
    _counts(kept, len(rows))
    _table(kept)
    st.download_button(
        "Download as CSV",
        lambda: to_csv(verdict_table([(row.duel, row.stored) for row in kept])),  # built on the click, not on each run
        file_name="ragduel-verdicts.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        key="verdicts_csv",
        disabled=not kept,
    )


def card(ws: Workspace, verdict_id: str) -> None:
    """The verdict in the link, by model names.

    Raises:
        NotFoundError: There is no such verdict.
    """
    stored = ws.verdicts.get(verdict_id)
    duel = ws.duels.get(stored.duel_id)
    with st.container(border=False, key="verdict_card"):
        st.caption(f":material/library_books: {label(duel.corpus_name)} · {moment(stored.created_at)}")
        question(duel.query)
        verdict_card.show(stored.verdict, Sides(duel, left_side(duel), revealed=True))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link(
                "pages/duel.py",
                label="Open the duel",
                icon=":material/compare:",
                query_params={state.URL_DUEL: duel.duel_id},
            )
            if st.button("Close", icon=":material/close:", type="tertiary", key="verdict_close"):
                state.go()


def _filters(rows: list[VerdictRow]) -> Filters:
    with st.container(horizontal=True, vertical_alignment="bottom", key="verdict_filters"):
        text = st.text_input("Question holds", key="verdicts_text", width=220, icon=":material/search:")
        kinds = st.multiselect(
            "Outcome", list(_KIND_WORDS), format_func=_KIND_WORDS.__getitem__, key="verdicts_kinds", width=220
        )
        judges = st.multiselect("Judge", sorted({row.judge for row in rows}), key="verdicts_judges", width=220)
        corpora = st.multiselect(
            "Corpus", sorted({row.duel.corpus_name for row in rows}), key="verdicts_corpora", width=220
        )
        models = st.multiselect(
            "Model", sorted({model for row in rows for model in row.models}), key="verdicts_models", width=220
        )
        dependent = st.toggle("Order-dependent only", key="verdicts_order_dependent")
    return Filters(text or "", kinds, judges, corpora, models, bool(dependent))


def _counts(kept: list[VerdictRow], n_all: int) -> None:
    counts = counted(kept)
    dependent = sum(row.stored.verdict.order_dependent for row in kept)
    columns = st.columns(4)
    columns[0].metric("Verdicts shown", f"{len(kept):,} of {n_all:,}")
    columns[1].metric("A model wins", f"{counts[WIN]:,}")
    columns[2].metric(
        "Ties", f"{counts[TIE]:,}", delta=f"{dependent} order-dependent", delta_color="off", delta_arrow="off"
    )
    columns[3].metric("Unscored", f"{counts[UNSCORED]:,}", help="Counted apart: neither a tie nor a loss.")


def _table(kept: list[VerdictRow]) -> None:
    import pandas as pd

    frame = pd.DataFrame(
        {
            "Question": [row.duel.query for row in kept],
            "Outcome": [_outcome(row) for row in kept],
            "Model A": [row.duel.a.model for row in kept],
            "Model B": [row.duel.b.model for row in kept],
            "Judge": [row.judge for row in kept],
            "Compared": [row.stored.verdict.judge.unit for row in kept],
            "Corpus": [row.duel.corpus_name for row in kept],
            "When": [moment(row.stored.created_at) for row in kept],
        }
    )
    ids = [row.stored.verdict_id for row in kept]

    def open_row() -> None:
        rows = st.session_state["verdicts_table"]["selection"]["rows"]
        st.query_params.from_dict({state.URL_VERDICT: ids[rows[0]]} if rows else {})

    st.dataframe(
        frame,
        hide_index=True,
        key="verdicts_table",
        on_select=open_row,
        selection_mode="single-row",
        column_config={"Question": st.column_config.TextColumn(width="medium")},
        alt="Verdicts with question, outcome, models, judge, corpus and time.",
    )
    if kept:
        st.caption(f"{count(len(kept), 'verdict')}. Pick a row to open its card.")
    else:
        st.caption("No verdict passes these filters.")


def _outcome(row: VerdictRow) -> str:
    return verdict_card.headline(row.stored.verdict, Sides(row.duel, "a", revealed=True))
