"""One corpus: what it is, what can be done with it, and its tabs."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from backend.corpus.types import Corpus
from backend.ui import (
    corpus_actions,
    corpus_chunks,
    corpus_cuts,
    corpus_documents,
    corpus_queries,
    corpus_report,
    corpus_words,
    state,
)
from backend.ui.shell import errors
from backend.ui.text import count, label, moment
from backend.workspace import Workspace

REPORT = "Report"
DOCUMENTS = "Documents"
CHUNKS = "Chunks"
CUTS = "What models cut"
QUERIES = "Queries"


def show(ws: Workspace, corpus: Corpus) -> None:
    """Draw the corpus."""
    st.page_link("pages/corpora.py", label="All corpora", icon=":material/arrow_back:")
    st.header(label(corpus.name), anchor=False)
    facts = (
        count(corpus.n_documents, "document"),
        count(corpus.n_chunks, "chunk"),
        label(corpus_words.chunking_whole(corpus.chunking)),
        f"version {corpus.version_fingerprint[:8]}",
        f"added {moment(corpus.created_at)}",
    )
    st.caption(" · ".join(facts))
    corpus_actions.show(ws, corpus)
    tabs: dict[str, Callable[[Workspace, Corpus], None]] = {
        REPORT: corpus_report.show,
        DOCUMENTS: corpus_documents.show,
        CHUNKS: corpus_chunks.show,
        CUTS: corpus_cuts.show,
    }
    if ws.query_sets.of_corpus(corpus.corpus_id):
        tabs[QUERIES] = corpus_queries.show
    state.keep_choice(state.CORPUS_TAB, list(tabs))
    # Only the open tab runs: another corpus' million chunks are not counted for somebody who reads the report.
    for tab, draw in zip(st.tabs(list(tabs), key=state.CORPUS_TAB, on_change="rerun"), tabs.values(), strict=True):
        if tab.open:
            with tab, errors():
                draw(ws, corpus)
