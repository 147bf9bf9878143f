"""A record of a table: its id, its title and the columns that were kept beside its text."""

from __future__ import annotations

import streamlit as st

from backend.corpus.files import Section

_MOST_FIELDS = 100


def show(record: Section) -> None:
    """Draw them as a small table; cells are plain text. Nothing where the record has none of them."""
    import pandas as pd

    fields = [("Id", record.record_id), ("Title", record.title), *record.metadata]
    told = [(name, value) for name, value in fields if value][:_MOST_FIELDS]
    if told:
        st.dataframe(
            pd.DataFrame({"Field": [name for name, _ in told], "Value": [value for _, value in told]}),
            hide_index=True,
            height="content" if len(told) <= 6 else 250,
            column_config={"Value": st.column_config.TextColumn(width="large")},
            alt="Id, title and other columns of this record.",
        )
