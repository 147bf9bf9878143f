"""The query sets of a corpus: what is asked, and how much of it was judged."""

from __future__ import annotations

import streamlit as st

from backend.corpus.types import Corpus
from backend.ui.text import count, label
from backend.workspace import Workspace

_MOST_ROWS = 1_000


def show(ws: Workspace, corpus: Corpus) -> None:
    """Draw each query set."""
    import pandas as pd

    for query_set in ws.query_sets.of_corpus(corpus.corpus_id):
        st.subheader(label(query_set.name), anchor=False)
        judged = (
            f"{query_set.n_judged:,} of them judged ({', '.join(label(split) for split in query_set.qrels)})"
            if query_set.n_judged
            else "none of them judged"
        )
        st.caption(f"{count(len(query_set.queries), 'query', 'queries')}, {judged}")
        grades: dict[str, int] = {}
        for split in query_set.qrels.values():
            for query_id, of in split.items():
                grades[query_id] = grades.get(query_id, 0) + sum(grade > 0 for grade in of.values())
        rows = query_set.queries[:_MOST_ROWS]
        st.dataframe(
            pd.DataFrame(
                {
                    "Id": [query_id for query_id, _ in rows],
                    "Query": [text for _, text in rows],
                    "Relevant documents": pd.Series([grades.get(query_id) for query_id, _ in rows], dtype="Int64"),
                }
            ),
            hide_index=True,
            column_config={"Query": st.column_config.TextColumn(width="large")},
            alt=f"Queries of {query_set.name} with the number of documents judged relevant.",
        )
        if len(query_set.queries) > _MOST_ROWS:
            st.caption(f"The first {_MOST_ROWS:,} are shown.")
    st.caption(
        "The duel page offers these questions for this corpus. Scores against these judgements (nDCG, recall) come "
        "with experiments; until then from `ragduel score` on the command line."
    )
