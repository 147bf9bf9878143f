"""All corpora in one table; picking a row opens it."""

from __future__ import annotations

import streamlit as st

from backend.corpus.types import Corpus
from backend.ui import state
from backend.ui.text import moment


def show(corpora: list[Corpus], opened: str) -> None:
    """Draw the table. Cells are plain text, whatever the names hold."""
    import pandas as pd

    frame = pd.DataFrame(
        {
            "Name": [corpus.name for corpus in corpora],
            "Documents": [corpus.n_documents for corpus in corpora],
            "Chunks": [corpus.n_chunks for corpus in corpora],
            "Skipped": [len(corpus.skipped) for corpus in corpora],
            "Warnings": [len(corpus.warnings) for corpus in corpora],
            "Cut into": [chunking(corpus) for corpus in corpora],
            "Added": [moment(corpus.created_at) for corpus in corpora],
        }
    )

    def open_row() -> None:
        rows = st.session_state["corpora_table"]["selection"]["rows"]
        st.query_params.from_dict({state.URL_CORPUS: corpora[rows[0]].corpus_id} if rows else {})

    chosen = [row for row, corpus in enumerate(corpora) if corpus.corpus_id == opened]
    st.dataframe(
        frame,
        hide_index=True,
        key="corpora_table",
        on_select=open_row,
        selection_mode="single-row",
        selection_default={"selection": {"rows": chosen, "columns": [], "cells": []}} if chosen else None,
        alt="Corpora with their documents, chunks, skipped files and warnings.",
    )
    st.caption("Pick a row to look into a corpus.")


def chunking(corpus: Corpus) -> str:
    """How a corpus was cut, in words."""
    cut = corpus.chunking
    if cut.whole_documents:
        return "whole documents"
    return f"{cut.size_tokens} tokens, {cut.overlap_tokens} shared"
