"""Every verdict so far: filters, counts, CSV, and the card of the one in the link."""

import streamlit as st

from backend.ui import shell, state, verdict_list
from backend.ui.workspace import workspace

INTRO = (
    "What the judges said, by model name, also where you have not voted yet. Unscored ones are counted, never dropped."
)

with shell.begin(__file__, "Verdicts", INTRO):
    ws = workspace()
    rows = verdict_list.rows_of(ws)
    if state.linked(state.URL_VERDICT):
        with shell.errors():
            verdict_list.card(ws, state.linked(state.URL_VERDICT))
    if rows:
        verdict_list.show(rows)
    else:
        with st.container(border=True):
            st.markdown("**No verdict yet.**")
            st.caption("Run a duel, vote, then ask a judge: its verdict is kept here, with what it cost.")
            st.page_link("pages/duel.py", label="Go to the duel", icon=":material/compare:")
