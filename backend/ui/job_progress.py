"""A background job on the page: its progress while it runs, then its result, its failure, or the way to go on."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from backend.jobs import JobState, JobStatus
from backend.ui import state
from backend.ui.shell import show_error
from backend.ui.text import label
from backend.workspace import Workspace

_INLINE_WAIT_S = 0.5
_POLL = "1s"


def settled(ws: Workspace, job_id: str) -> JobStatus:
    """The job's state after waiting a moment for it, so that quick work shows at once and without a progress bar."""
    return ws.jobs.wait(job_id, _INLINE_WAIT_S)


def follow(ws: Workspace, job_id: str, title: str, on_done: Callable[[JobStatus], None]) -> bool:
    """Show a job by its id from the URL; a closed tab or a second device can join it again.

    Args:
        ws: The workspace.
        job_id: From the link.
        title: What the job does, for people. Plain text: it may name a corpus.
        on_done: Called in the page's own run when the job is done, with its result.

    Returns:
        Whether the job is still at work.

    Raises:
        NotFoundError: There is no such job.
    """
    status = ws.jobs.status(job_id)
    if status.state.is_active:
        st.session_state[state.JOB_WATCHED] = job_id  # before the wait: it may end in it
        status = settled(ws, job_id)
    if status.state.is_active:
        # Polls only while the job runs: the full run after its end wraps no fragment at all.
        st.fragment(_panel, run_every=_POLL)(ws, job_id, title)
    elif status.state is JobState.DONE:
        on_done(status)
    else:
        _stopped(ws, status, title)
    return status.state.is_active


def _panel(ws: Workspace, job_id: str, title: str) -> None:
    status = ws.jobs.status(job_id)
    if not status.state.is_active:
        st.rerun()
    with st.container(border=True, key="job_panel"):
        share = min(status.n_done / status.n_items, 1.0) if status.n_items else 0.0
        told = f"{status.n_done:,} of {status.n_items:,}" if status.n_items > 1 else ""
        if status.is_stopping:
            waiting = "stopping…"
        else:
            waiting = "waiting for a free worker" if status.state is JobState.QUEUED else status.stage or "starting"
        st.progress(share, text=" · ".join(part for part in (f"**{label(title)}**", label(waiting), told) if part))
        if st.button(
            "Stopping…" if status.is_stopping else "Stop",
            icon=":material/stop_circle:",
            key="job_stop",
            disabled=status.is_stopping,
            help=None if status.is_stopping else "What is finished stays stored.",
        ):
            ws.jobs.cancel(job_id)
            st.rerun(scope="fragment")


def _stopped(ws: Workspace, status: JobStatus, title: str) -> None:
    if status.state is JobState.FAILED:
        show_error(f"{title}: it failed. {status.error}")
    elif status.state is JobState.CANCELLED:
        st.info(f"{label(title)}: stopped. What was finished is kept.", icon=":material/stop_circle:")
    else:
        st.warning(
            f"{label(title)}: interrupted when the server stopped. What was finished is kept.",
            icon=":material/pause_circle:",
        )
    again = "Try again" if status.state is JobState.FAILED else "Go on"
    if st.button(again, icon=":material/play_arrow:", key="job_resume"):
        job_id = ws.resume_job(status.job_id, state.session_keys())
        state.go(**{**st.query_params.to_dict(), state.URL_JOB: job_id})
