"""The way from a hit or a chunk to its place in its document: a link that holds ids and characters, and no model."""

from __future__ import annotations

import streamlit as st

from backend.retrieval.types import Duel, Hit
from backend.ui import state


def to_place(corpus_id: str, document_id: str, start: int, end: int, duel_id: str = "") -> dict[str, str]:
    """The link's ids: where the reading pane opens, what it marks, and the duel that it leads back to."""
    ids = {
        state.URL_CORPUS: corpus_id,
        state.URL_DOCUMENT: document_id,
        state.URL_FROM: str(start),
        state.URL_TO: str(end),
        state.URL_DUEL: duel_id,
    }
    return {name: value for name, value in ids.items() if value}


def show(duel: Duel, hit: Hit) -> None:
    """A quiet link that opens the hit in its document; the same for both sides, before and after the vote."""
    st.page_link(
        "pages/corpora.py",
        label="Show in context",
        icon=":material/menu_book:",
        help="Opens the document at this place.",
        query_params=to_place(duel.corpus_id, hit.document_id, hit.start, hit.end, duel.duel_id),
    )
