"""All corpora in one table; picking a row opens it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from backend.corpus.types import Corpus
from backend.ui import chunking_form, corpus_words, state
from backend.ui.text import moment
from backend.workspace import Workspace


def show(ws: Workspace, corpora: Sequence[Corpus]) -> None:
    """Draw the table. Cells are plain text, whatever the names hold."""
    import pandas as pd

    files = [_files(ws, corpus.corpus_id, corpus.version_id) for corpus in corpora]
    frame = pd.DataFrame(
        {
            "Name": [corpus.name for corpus in corpora],
            "Documents": [corpus.n_documents for corpus in corpora],
            "Chunks": [corpus.n_chunks for corpus in corpora],
            "Files": [kinds for kinds, _ in files],
            "Size": [size_bytes for _, size_bytes in files],
            "Cut into": [chunking_form.in_words(corpus.chunking) for corpus in corpora],
            "Skipped": [len(corpus.skipped) for corpus in corpora],
            "Warnings": [len(corpus.warnings) for corpus in corpora],
            "Added": [moment(corpus.created_at) for corpus in corpora],
        }
    )

    def open_row() -> None:
        rows = st.session_state["corpora_table"]["selection"]["rows"]
        st.query_params.from_dict({state.URL_CORPUS: corpora[rows[0]].corpus_id} if rows else {})

    numbers = {name: st.column_config.NumberColumn(format="localized") for name in ("Documents", "Chunks")}
    st.dataframe(
        frame,
        hide_index=True,
        key="corpora_table",
        on_select=open_row,
        selection_mode="single-row",
        column_config={
            "Name": st.column_config.TextColumn(width="medium", pinned=True),
            "Size": st.column_config.NumberColumn(format="bytes"),
            **numbers,
        },
        alt="Corpora with their documents, chunks, skipped files and warnings.",
    )
    st.caption("Pick a row to look into a corpus.")


@st.cache_data(max_entries=256, show_spinner=False)
def _files(_ws: Workspace, corpus_id: str, version_id: str) -> tuple[str, int]:
    """Kinds of files in words, and their bytes as they came. A version's documents never change."""
    documents = _ws.corpora.documents(corpus_id)
    return corpus_words.kinds(documents), sum(document.source_bytes for document in documents)
