"""The documents of a corpus: a table that opens one, and removes some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from backend.corpus.types import Corpus, Document
from backend.reporting import to_csv
from backend.ui import corpora_jobs, corpus_words, state
from backend.ui.text import count, short
from backend.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd

_COUNTED_CHUNKS = 200_000
_NAMED = 5
READ = ":material/menu_book: Read"


def show(ws: Workspace, corpus: Corpus) -> None:
    """Draw the table and, below it, what can be done with the ticked rows."""
    documents = ws.corpora.documents(corpus.corpus_id)
    table_key, click_key = f"corpora_documents_{corpus.version_id}", f"corpora_read_{corpus.version_id}"

    def open_row() -> None:
        click = st.session_state.get(click_key)
        if click:
            row = int(click["row"])
            st.query_params.from_dict(
                {state.URL_CORPUS: corpus.corpus_id, state.URL_DOCUMENT: documents[row].document_id}
            )

    numbers = {name: st.column_config.NumberColumn(format="localized") for name in ("Characters", "Chunks")}
    table = _table(ws, corpus, documents)
    shown = st.dataframe(
        table,
        hide_index=True,
        key=table_key,
        on_select="rerun",
        selection_mode="multi-row",
        column_config={
            "Read": st.column_config.ButtonColumn(
                "", type="tertiary", on_click=open_row, key=click_key, pinned=True, width=80
            ),
            "Document": st.column_config.TextColumn(width="medium"),
            "Title": st.column_config.TextColumn(width="medium"),
            "Size": st.column_config.NumberColumn(format="bytes"),
            **numbers,
            "Warnings": st.column_config.TextColumn(width="large"),
        },
        alt="Documents of this corpus with kind, size, encoding, language and warnings.",
    )
    ticked = [documents[row] for row in shown.selection.rows if row < len(documents)]
    if ticked:
        _remove(ws, corpus, ticked)
    else:
        st.caption("Press Read to open a document. Tick rows to remove documents.")
    st.download_button(
        "Download as CSV",
        lambda: to_csv(table.drop(columns="Read")),  # built on the click, not on each run
        file_name="ragduel-documents.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        key="corpora_documents_csv",
    )


def _table(ws: Workspace, corpus: Corpus, documents: Sequence[Document]) -> pd.DataFrame:
    import pandas as pd

    columns: dict[str, object] = {
        "Read": [READ] * len(documents),
        "Document": [document.name for document in documents],
        "Title": [document.title for document in documents],
        "Kind": [corpus_words.kind(document.media_type) for document in documents],
        "Size": pd.Series([document.source_bytes or None for document in documents], dtype="Int64"),
        "Characters": [document.n_chars for document in documents],
        "Pages or records": [corpus_words.extent(document) for document in documents],
        "Chunks": None,
        "Language": None,
        "Encoding": [corpus_words.encoding(document) for document in documents],
        "Warnings": ["; ".join(document.warnings) for document in documents],
    }
    if corpus.n_chunks <= _COUNTED_CHUNKS:
        chunks = _chunk_counts(ws, corpus.version_id)
        columns["Chunks"] = [chunks.get(document.document_id, 0) for document in documents]
    report = ws.corpus_work.report(corpus)
    if report is not None:
        columns["Language"] = corpus_words.languages(documents, report)
    return pd.DataFrame({name: cells for name, cells in columns.items() if cells is not None})


def _remove(ws: Workspace, corpus: Corpus, ticked: Sequence[Document]) -> None:
    n = len(ticked)
    if n >= corpus.n_documents:
        st.info(
            "All documents are ticked. A corpus can't be empty: delete the corpus instead, or leave one document.",
            icon=":material/info:",
        )
        return
    with st.popover(f"Remove {count(n, 'document')}", icon=":material/delete:", key="corpora_remove"):
        st.markdown("These will be gone for good:")
        for document in ticked[:_NAMED]:
            st.text(short(document.name, 100))
        if n > _NAMED:
            st.text(f"and {n - _NAMED:,} more")
        st.caption(
            "With them go their chunks, the vectors that models made of these, and the indexes that held them; "
            "indexes are built anew at the next duel, from the vectors that stay. Duels that were run stay readable."
        )
        if st.button("Remove for good", type="primary", icon=":material/delete_forever:", key="corpora_remove_sure"):
            ids = [document.document_id for document in ticked]
            corpora_jobs.start(ws, ws.corpus_work.start_remove(corpus.corpus_id, ids))


@st.cache_data(max_entries=32, show_spinner=False)
def _chunk_counts(_ws: Workspace, version_id: str) -> dict[str, int]:
    return _ws.corpora.chunk_counts(version_id)
