"""The ingest job in the corpora page's link."""

from __future__ import annotations

import streamlit as st

from backend.jobs import JobStatus
from backend.ui import job_progress, state
from backend.workspace import Workspace


def start(ws: Workspace, job_id: str) -> None:
    """Go to a job just started; a quick one goes straight to its corpus."""
    status = job_progress.settled(ws, job_id)
    corpus_id = str(status.result.get("corpus_id", ""))
    state.go(**({state.URL_CORPUS: corpus_id} if corpus_id else {state.URL_JOB: job_id}))


def follow(ws: Workspace, job_id: str) -> None:
    """Show the job; when it ends while watched, go to the corpus that it made."""

    def arrive(status: JobStatus) -> None:
        corpus_id = str(status.result.get("corpus_id", ""))
        if st.session_state.pop(state.JOB_WATCHED, "") == job_id:
            state.go(**{state.URL_CORPUS: corpus_id})
        st.success("This corpus was added.", icon=":material/check:")
        st.page_link("pages/corpora.py", label="Open it", query_params={state.URL_CORPUS: corpus_id})

    job_progress.follow(ws, job_id, "Reading the files", arrive)
