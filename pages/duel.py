"""One question, two models, their results side by side, and a blind verdict."""

import streamlit as st

from backend.ui import duel_form, duel_view, first_visit, shell, sidebar, state
from backend.ui.workspace import workspace

with shell.begin(__file__, "Duel", "Two embedding models, one question, a blind verdict."):
    ws = workspace()
    sidebar.obey()
    job_id = duel_view.job_in_view(ws)
    judging = duel_view.is_judging(ws, job_id)
    at_work = False
    if job_id and not judging:
        with shell.errors():
            at_work = duel_view.follow_job(ws, job_id)
    duel = None
    with shell.errors():
        duel = duel_view.current(ws)
    if ws.corpora.list():
        duel_form.fill_from(duel)
        sidebar.opener("New duel", "duel_new")
        with shell.errors():
            with st.sidebar:
                request = duel_form.show(ws)
            if request is not None:
                sidebar.close_on_phone()
                duel_view.start(ws, ws.start_duel(request, state.session_keys()))
    elif not at_work:
        first_visit.show(ws)
    if duel is not None:
        duel_view.show(ws, duel, job_id if judging else "")
