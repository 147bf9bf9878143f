"""Corpora: add, look into, delete."""

import streamlit as st

from backend.ui import corpora_jobs, corpus_form, corpus_list, corpus_view, shell, state
from backend.ui.workspace import workspace

with shell.begin(__file__, "Corpora", "The documents that models are compared on."):
    ws = workspace()
    opened = state.linked(state.URL_CORPUS)
    corpora = ws.corpora.list()
    with (
        st.expander(
            "Add a corpus", icon=":material/add:", expanded=not opened and all(corpus.is_sample for corpus in corpora)
        ),
        shell.errors(),
    ):
        job_id = corpus_form.show(ws)
        if job_id:
            corpora_jobs.start(ws, job_id)
    if state.linked(state.URL_JOB):
        with shell.errors():
            corpora_jobs.follow(ws, state.linked(state.URL_JOB))
    if corpora:
        corpus_list.show(corpora, opened)
    else:
        st.caption("No corpus yet. Add your documents above, or prepare the sample on the duel page.")
    if opened:
        with shell.errors():
            corpus_view.show(ws, ws.corpora.get(opened))
