"""Background work: a durable row a job, a worker pool owned by the process, no browser needed.

Workers get plain data and never touch Streamlit. After a restart, jobs whose process is gone show as interrupted
and can be resumed: the handler runs again with the same parameters and finds its finished items.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, field
from typing import Any

import psutil
from sqlalchemy import select

from backend.errors import CancelledError, InputError, NotFoundError, RagduelError
from backend.jobs.types import Handler, JobState, JobStatus
from backend.store.database import Database, now_iso
from backend.store.tables import JobItemRow, JobRow
from backend.store.text import storable

log = logging.getLogger(__name__)

_PROGRESS_INTERVAL_S = 0.2
_ACTIVE = (JobState.QUEUED.value, JobState.RUNNING.value)
_PAUSE = "_pause"  # among a job's parameters: whoever asked it to stop means to go on


def _this_process() -> str:
    return f"{socket.gethostname()}|{os.getpid()}|{psutil.Process().create_time():.0f}"


def _is_alive(owner: str) -> bool:
    """Whether the process that owns a job still runs. A process on another host is given the benefit of the doubt."""
    try:
        host, pid, created = owner.split("|")
        return host != socket.gethostname() or f"{psutil.Process(int(pid)).create_time():.0f}" == created
    except (ValueError, psutil.Error):
        return False


@dataclass(slots=True)
class _Context:
    """The JobContext of one run."""

    database: Database
    job_id: str
    params: Mapping[str, Any]
    secrets: Mapping[str, str]
    stop: threading.Event
    _told: tuple[str, float] = field(default=("", 0.0))

    def progress(self, stage: str, n_done: int, n_items: int) -> None:
        now = time.monotonic()
        if stage == self._told[0] and n_done < n_items and now - self._told[1] < _PROGRESS_INTERVAL_S:
            return
        self._told = (stage, now)
        with self.database.session() as session:
            row = session.get_one(JobRow, self.job_id)
            row.stage, row.n_done, row.n_items, row.updated_at = storable(stage), n_done, n_items, now_iso()
            if row.cancel_requested:  # asked for by another process
                self.stop.set()

    def cancelled(self) -> bool:
        return self.stop.is_set()

    def finished_items(self) -> dict[str, dict[str, Any]]:
        with self.database.session() as session:
            rows = session.scalars(select(JobItemRow).where(JobItemRow.job_id == self.job_id))
            return {row.item_key: dict(row.result) for row in rows if row.status == JobState.DONE}

    def finish_item(self, item_key: str, result: Mapping[str, Any], error: str = "") -> None:
        status = JobState.FAILED if error else JobState.DONE
        with self.database.session() as session:
            known = session.scalar(
                select(JobItemRow).where(JobItemRow.job_id == self.job_id, JobItemRow.item_key == item_key)
            )
            row = known or JobItemRow(job_id=self.job_id, item_key=item_key)
            row.status, row.result, row.error = status, dict(result), storable(error)
            session.add(row)


class JobRunner:
    """Submits, watches, cancels and resumes jobs.

    Args:
        database: Where jobs are kept.
        n_workers: Jobs that run at the same time in this process.
    """

    def __init__(self, database: Database, n_workers: int = 2) -> None:
        self._database = database
        self._handlers: dict[str, Handler] = {}
        self._pool = ThreadPoolExecutor(n_workers, thread_name_prefix="job")
        self._lock = threading.Lock()
        self._running: dict[str, tuple[Future[None], threading.Event]] = {}
        self._owner = _this_process()
        self._mark_orphans()

    def register(self, kind: str, handler: Handler) -> None:
        """Say who does jobs of this kind."""
        self._handlers[kind] = handler

    def submit(
        self, kind: str, params: Mapping[str, Any], *, key: str | None = None, secrets: Mapping[str, str] | None = None
    ) -> str:
        """Start a job and return its id; the same ``key`` asked again while it runs is the same job.

        Args:
            kind: A registered kind.
            params: Plain JSON data; never a key.
            key: Names the work, so that a double click or a second tab joins instead of paying twice.
            secrets: Keys for this run; memory only.
        """
        with self._lock:
            if key is not None and (known := self._active_with_key(key)):
                return known
            job_id = uuid.uuid4().hex[:16]
            now = now_iso()
            with self._database.session() as session:
                session.add(
                    JobRow(
                        job_id=job_id, key=key or job_id, kind=kind, status=JobState.QUEUED, owner=self._owner,
                        params=dict(params), created_at=now, updated_at=now,
                    )
                )  # fmt: skip
            self._start(job_id, kind, params, secrets or {})
            return job_id

    def status(self, job_id: str) -> JobStatus:
        """Where the job stands.

        Raises:
            NotFoundError: There is no such job.
        """
        with self._database.session() as session:
            row = session.get(JobRow, job_id)
            if row is None:
                raise NotFoundError(f"There is no job {job_id!r}.", hint="It may belong to another data folder.")
            return _status(row)

    def active(self) -> list[JobStatus]:
        """Jobs that run or wait, oldest first."""
        return self._select(JobRow.status.in_(_ACTIVE))

    def recent(self, limit: int = 20) -> list[JobStatus]:
        """The newest jobs, newest first."""
        return list(reversed(self._select(True)))[:limit]

    def cancel(self, job_id: str, *, pause: bool = False) -> None:
        """Ask a job to stop. It stops between items; what is finished is kept. No effect on an ended job.

        Args:
            job_id: The job.
            pause: It shows as paused, not as cancelled; ``resume`` goes on either way.
        """
        with self._database.session() as session:
            row = session.get(JobRow, job_id)
            if row is None or row.status not in _ACTIVE:
                return
            row.cancel_requested = True
            row.params = {**row.params, _PAUSE: True} if pause else row.params
            running = self._running.get(job_id)  # may end, and go, at any moment
            if running is not None:
                running[1].set()
                if running[0].cancel():
                    row.status = _stopped_as(row)

    def resume(self, job_id: str, *, secrets: Mapping[str, str] | None = None) -> str:
        """Run an interrupted, cancelled or failed job again, from where it was.

        Raises:
            InputError: The job is done or running.
        """
        with self._lock:
            with self._database.session() as session:
                row = session.get(JobRow, job_id)
                if row is None:
                    raise NotFoundError(f"There is no job {job_id!r}.")
                if row.status in {*_ACTIVE, JobState.DONE.value}:
                    raise InputError(f"Job {job_id} is {row.status}; there is nothing to resume.")
                row.status, row.error, row.cancel_requested, row.owner = JobState.QUEUED, "", False, self._owner
                row.params = {name: value for name, value in row.params.items() if name != _PAUSE}
                kind, params = row.kind, dict(row.params)
            self._start(job_id, kind, params, secrets or {})
            return job_id

    def wait(self, job_id: str, timeout_s: float) -> JobStatus:
        """Wait until the job ends or the time is over; return where it stands then."""
        running = self._running.get(job_id)
        if running is not None:
            wait_for([running[0]], timeout=timeout_s)
        return self.status(job_id)

    def close(self) -> None:
        """Ask every job to stop and let the workers end."""
        for _, stop in list(self._running.values()):
            stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _start(self, job_id: str, kind: str, params: Mapping[str, Any], secrets: Mapping[str, str]) -> None:
        handler = self._handlers[kind]
        stop = threading.Event()
        context = _Context(self._database, job_id, params, secrets, stop)
        self._running[job_id] = (self._pool.submit(self._run, handler, context), stop)

    def _run(self, handler: Handler, context: _Context) -> None:
        result: Mapping[str, Any] = {}
        error = ""
        self._set(context.job_id, status=JobState.RUNNING)
        try:
            result = handler(context)
            state = JobState.DONE
        except CancelledError:
            with self._database.session() as session:
                state = _stopped_as(session.get_one(JobRow, context.job_id))
        except RagduelError as failure:
            state, error = JobState.FAILED, storable(str(failure))
        except Exception:
            reference = uuid.uuid4().hex[:8]
            log.exception("job %s failed (reference %s)", context.job_id, reference)
            state, error = JobState.FAILED, f"Something went wrong inside Ragduel; the log has it as {reference}."
        try:
            self._set(context.job_id, status=state, result=dict(result), error=error)
        finally:
            self._running.pop(context.job_id, None)

    def _set(self, job_id: str, **values: Any) -> None:
        with self._database.session() as session:
            row = session.get_one(JobRow, job_id)
            for name, value in values.items():
                setattr(row, name, value)
            row.updated_at = now_iso()

    def _active_with_key(self, key: str) -> str | None:
        with self._database.session() as session:
            rows = session.scalars(select(JobRow).where(JobRow.key == key, JobRow.status.in_(_ACTIVE)))
            return next((row.job_id for row in rows if self._is_at_work(row)), None)

    def _is_at_work(self, row: JobRow) -> bool:
        # A job of this process that it no longer holds could not write its own end: nobody must wait for it.
        return row.job_id in self._running if row.owner == self._owner else _is_alive(row.owner)

    def _mark_orphans(self) -> None:
        with self._database.session() as session:
            for row in session.scalars(select(JobRow).where(JobRow.status.in_(_ACTIVE))):
                if not _is_alive(row.owner):
                    row.status, row.updated_at = JobState.INTERRUPTED, now_iso()

    def _select(self, condition: Any) -> list[JobStatus]:
        with self._database.session() as session:
            rows = session.scalars(select(JobRow).where(condition).order_by(JobRow.created_at))
            return [_status(row) for row in rows]


def _stopped_as(row: JobRow) -> JobState:
    return JobState.PAUSED if row.params.get(_PAUSE) else JobState.CANCELLED


def _status(row: JobRow) -> JobStatus:
    state = JobState(row.status)
    return JobStatus(
        row.job_id, row.kind, state, row.stage, row.n_items, row.n_done, dict(row.result), row.error,
        row.created_at, {name: value for name, value in row.params.items() if name != _PAUSE},
        row.cancel_requested and state.is_active,
    )  # fmt: skip
