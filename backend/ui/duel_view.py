"""The duel in the link, and what the duel page does with jobs that make duels and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import streamlit as st

from backend.errors import NotFoundError
from backend.jobs import JobStatus
from backend.retrieval.types import Duel
from backend.ui import job_progress, judge_panel, model_facts, ranked_lists, state, vote
from backend.ui.shell import errors
from backend.ui.text import label, question
from backend.workspace import JudgeChoice, Workspace

_TITLES = {"duel": "Running the duel", "sample": "Preparing the sample", "judging": "Asking the judge"}


def current(ws: Workspace) -> Duel | None:
    """The duel that the link names; without one, the newest on the sample corpus, else the newest of all.

    Raises:
        NotFoundError: The link names a duel that is not here.
    """
    duel_id = state.linked(state.URL_DUEL)
    job_id = state.linked(state.URL_JOB)
    if not duel_id and job_id:
        duel_id = _made_by(ws, job_id)
        if not duel_id:
            return None  # still at work, or failed: an older duel in its place would mislead
    if duel_id:
        return ws.duels.get(duel_id)
    sample = next((corpus.corpus_id for corpus in ws.corpora.list() if corpus.is_sample), None)
    recent = ws.duels.recent(1, sample) if sample else []
    return next(iter(recent or ws.duels.recent(1)), None)


def job_in_view(ws: Workspace) -> str:
    """The job that the link names; on a page without a duel yet, the one that prepares the sample right now."""
    linked = state.linked(state.URL_JOB)
    if linked or state.linked(state.URL_DUEL) or ws.duels.recent(1):
        return linked
    return next((job.job_id for job in ws.jobs.active() if job.kind == "sample"), "")


def is_judging(ws: Workspace, job_id: str) -> bool:
    """Whether the job asks a judge about the duel in the link: it is shown where it was asked, not above the duel."""
    if not job_id or not state.linked(state.URL_DUEL):
        return False
    with suppress(NotFoundError):
        return ws.jobs.status(job_id).kind == "judging"
    return False


def follow_job(ws: Workspace, job_id: str) -> bool:
    """Show the job in the link; when it ends while watched, go to what it made.

    Returns:
        Whether it is still at work.

    Raises:
        NotFoundError: There is no such job.
    """

    def arrive(status: JobStatus) -> None:
        # A finished job reached by the back button is shown in place: going on would trap the reader.
        if st.session_state.pop(state.JOB_WATCHED, "") == job_id:
            state.go(**{state.URL_DUEL: _arrival(status.result) or state.linked(state.URL_DUEL)})

    return job_progress.follow(ws, job_id, _TITLES.get(ws.jobs.status(job_id).kind, "Working"), arrive)


def start(ws: Workspace, job_id: str, duel_id: str = "") -> None:
    """Go to a job just started; one that ends within a moment goes straight to its result."""
    status = job_progress.settled(ws, job_id)
    made = _arrival(status.result) or duel_id
    if status.state.is_active or not status.result:
        state.go(**{state.URL_DUEL: duel_id, state.URL_JOB: job_id})
    state.go(**{state.URL_DUEL: made})


def show(ws: Workspace, duel: Duel, judging_job: str = "") -> None:
    """Question, ranked lists, ballot, verdict; below its form the job that asks the judge just now."""
    sides = vote.sides_of(ws, duel)
    gone = all(corpus.corpus_id != duel.corpus_id for corpus in ws.corpora.list())
    note = " · This corpus was deleted; the duel stays." if gone else ""
    st.caption(f":material/library_books: {label(duel.corpus_name)} · top {duel.k} of each model{note}")
    question(duel.query)
    ranked_lists.hyde(duel)
    vote.show(ws, sides)
    ranked_lists.show(sides, in_context=not gone)
    choice: JudgeChoice | None = judge_panel.show(ws, sides)
    if judging_job:
        with errors():
            follow_job(ws, judging_job)
    _models(ws, duel)
    if choice is not None:
        st.session_state[state.DUEL_PEEKED] = duel.duel_id
        start(ws, ws.start_judging(duel.duel_id, choice, state.session_keys()), duel.duel_id)


def _models(ws: Workspace, duel: Duel) -> None:
    """The two models in the order of the form: which of them stands left is not told."""
    specs = []
    for key in dict.fromkeys((duel.a.model, duel.b.model)):
        with suppress(NotFoundError):  # a model that was removed since leaves its duels readable
            specs.append(ws.registry.get(key))
    if specs:
        with st.expander("About these models: prompts, pooling, dimensions, licence", icon=":material/info:"):
            model_facts.facts_table(specs)


def _made_by(ws: Workspace, job_id: str) -> str:
    try:
        return _arrival(ws.jobs.status(job_id).result)
    except NotFoundError:
        return ""


def _arrival(result: Mapping[str, object]) -> str:
    return str(result.get("duel_id", ""))
