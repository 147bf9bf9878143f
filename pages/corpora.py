"""Corpora: all of them, one of them, or a document of one."""

import streamlit as st

from backend.ui import corpora_jobs, corpus_form, corpus_list, corpus_view, document_view, shell, state
from backend.ui.workspace import workspace

with shell.begin(__file__, "Corpora", "The documents that models are compared on."):
    ws = workspace()
    opened, job_id = state.linked(state.URL_CORPUS), state.linked(state.URL_JOB)
    if job_id:
        with shell.errors():
            corpora_jobs.follow(ws, job_id)
    with shell.errors():
        corpora_jobs.others(ws, job_id)
    if opened and state.linked(state.URL_DOCUMENT):
        with shell.errors():
            document_view.show(ws, opened, state.linked(state.URL_DOCUMENT))
    elif opened:
        with shell.errors():
            corpus_view.show(ws, ws.corpora.get(opened))
    else:
        corpora = ws.corpora.list()
        only_sample = all(corpus.is_sample for corpus in corpora)
        with (
            st.expander("Add a corpus", icon=":material/add:", expanded=only_sample and not job_id),
            shell.errors(),
        ):
            started = corpus_form.show(ws)
            if started:
                corpora_jobs.start(ws, started)
        if corpora:
            corpus_list.show(ws, corpora)
        else:
            st.caption("No corpus yet. Add your documents above, or prepare the sample on the duel page.")
