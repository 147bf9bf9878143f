"""Jobs on corpora: the one in the page's link, those that run elsewhere, and those that a stopped server left."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import streamlit as st

from backend.jobs import JobState, JobStatus
from backend.ui import corpus_words, job_progress, state
from backend.ui.text import label
from backend.workspace import Workspace

_KEPT_FOR = timedelta(days=7)  # as long as the files of an interrupted job are held
_MOST_RECENT = 20
_DONE = {
    "ingest": "This corpus was added.",
    "extend": "The files were added.",
    "rechunk": "The corpus was cut anew.",
    "remove": "The documents were removed.",
    "report": "The report was written.",
}


def start(ws: Workspace, job_id: str) -> None:
    """Go to a job just started; a quick one goes straight to its corpus."""
    status = job_progress.settled(ws, job_id)
    corpus_id = str(status.result.get("corpus_id", ""))
    if corpus_id:
        _told(status)
    else:
        st.session_state[state.JOB_WATCHED] = job_id  # it may end before the page looks at it again
    state.go(**{state.URL_CORPUS: corpus_id} if corpus_id else {state.URL_JOB: job_id})


def follow(ws: Workspace, job_id: str) -> None:
    """Show the job; when it ends while watched, go to the corpus that it made or changed.

    Raises:
        NotFoundError: There is no such job.
    """

    def arrive(status: JobStatus) -> None:
        corpus_id = str(status.result.get("corpus_id", ""))
        if st.session_state.pop(state.JOB_WATCHED, "") == job_id:
            _told(status)
            state.go(**{state.URL_CORPUS: corpus_id})
        st.success(_DONE.get(status.kind, "Done."), icon=":material/check:")
        st.page_link("pages/corpora.py", label="Open the corpus", query_params={state.URL_CORPUS: corpus_id})

    status = ws.jobs.status(job_id)
    job_progress.follow(ws, job_id, corpus_words.job_title(status.kind, status.params, _names(ws)), arrive)


def others(ws: Workspace, in_link: str) -> None:
    """A line for each job on corpora that runs, or was interrupted lately, and is not the one in the link."""
    oldest = (datetime.now(UTC) - _KEPT_FOR).isoformat()
    left = [job for job in ws.jobs.recent(_MOST_RECENT) if job.state is JobState.INTERRUPTED]
    jobs = [*ws.jobs.active(), *(job for job in left if job.created_at > oldest)]
    jobs = [job for job in jobs if job.kind in corpus_words.CORPUS_JOBS and job.job_id != in_link]
    if not jobs:
        return
    names = _names(ws)
    for job in jobs:
        title = corpus_words.job_title(job.kind, job.params, names)
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"corpora_job_{job.job_id}"):
            if job.state.is_active:
                st.markdown(f":material/progress_activity: {label(title)}…", width="content")
            else:
                st.markdown(f":material/pause_circle: Interrupted: {label(title)}", width="content")
            words = "Watch" if job.state.is_active else "Look at it"
            st.page_link("pages/corpora.py", label=words, query_params={state.URL_JOB: job.job_id})


def _told(status: JobStatus) -> None:
    st.toast(_DONE.get(status.kind, "Done."), icon=":material/check:")


def _names(ws: Workspace) -> dict[str, str]:
    return {corpus.corpus_id: corpus.name for corpus in ws.corpora.list()}
