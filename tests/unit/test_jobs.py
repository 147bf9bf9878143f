"""Jobs: one row each, cancel, resume, dedupe, orphans, errors for people."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from backend.errors import CancelledError, InputError, NotFoundError
from backend.jobs import JobContext, JobRunner, JobState
from backend.store import Database
from backend.store.tables import JobRow


@pytest.fixture
def runner(database: Database) -> Iterator[JobRunner]:
    runner = JobRunner(database, 2)
    yield runner
    runner.close()


def test_a_job_ends_with_its_result(runner: JobRunner) -> None:
    runner.register("add", lambda context: {"sum": sum(context.params["numbers"])})
    job_id = runner.submit("add", {"numbers": [1, 2]})
    status = runner.wait(job_id, 5)
    assert (status.state, status.result) == (JobState.DONE, {"sum": 3})


def test_the_same_key_while_running_is_the_same_job(runner: JobRunner) -> None:
    gate = threading.Event()
    runs: list[int] = []

    def work(context: JobContext) -> dict[str, int]:
        runs.append(1)
        gate.wait(5)
        return {}

    runner.register("slow", work)
    first, second = runner.submit("slow", {}, key="same"), runner.submit("slow", {}, key="same")
    gate.set()
    runner.wait(first, 5)
    assert first == second
    assert len(runs) == 1
    assert runner.submit("slow", {}, key="same") != first


def test_cancel_keeps_finished_items_and_resume_goes_on(runner: JobRunner) -> None:
    reached, done = threading.Event(), []

    def work(context: JobContext) -> dict[str, int]:
        for n in range(4):
            if str(n) in context.finished_items():
                continue
            if context.cancelled():
                raise CancelledError("stopped")
            done.append(n)
            context.finish_item(str(n), {"n": n})
            if n == 1 and not reached.is_set():
                reached.set()
                while not context.cancelled():
                    pass
        return {"n": len(context.finished_items())}

    runner.register("items", work)
    job_id = runner.submit("items", {})
    assert reached.wait(5)
    runner.cancel(job_id)
    assert runner.wait(job_id, 5).state is JobState.CANCELLED
    runner.resume(job_id)
    status = runner.wait(job_id, 5)
    assert (status.state, status.result) == (JobState.DONE, {"n": 4})
    assert done == [0, 1, 2, 3]


def test_an_error_for_people_is_shown_and_an_accident_gets_a_reference(runner: JobRunner) -> None:
    def people(context: JobContext) -> dict[str, int]:
        raise InputError("File x is empty.", hint="Pick another.")

    def accident(context: JobContext) -> dict[str, int]:
        raise ZeroDivisionError("secret details")

    runner.register("people", people)
    runner.register("accident", accident)
    assert runner.wait(runner.submit("people", {}), 5).error == "File x is empty. Pick another."
    status = runner.wait(runner.submit("accident", {}), 5)
    assert status.state is JobState.FAILED
    assert "secret details" not in status.error


def test_a_dead_process_leaves_interrupted_jobs_that_resume(database: Database) -> None:
    with database.session() as session:
        session.add(
            JobRow(
                job_id="j", key="j", kind="k", status="running", owner="nowhere", params={"x": 1},
                created_at="2026", updated_at="2026",
            )
        )  # fmt: skip
    runner = JobRunner(database)
    assert runner.status("j").state is JobState.INTERRUPTED
    runner.register("k", lambda context: {"x": context.params["x"]})
    runner.resume("j")
    assert runner.wait("j", 5).result == {"x": 1}
    runner.close()


def test_a_living_process_keeps_its_jobs_when_another_starts(runner: JobRunner, database: Database) -> None:
    gate = threading.Event()
    runner.register("slow", lambda context: {"ok": gate.wait(5)})
    job_id = runner.submit("slow", {})
    other = JobRunner(database)
    assert other.status(job_id).state.is_active
    gate.set()
    runner.wait(job_id, 5)
    other.close()


def test_secrets_are_never_written(runner: JobRunner, database: Database) -> None:
    runner.register("k", lambda context: {"length": len(context.secrets["chat"])})
    runner.wait(runner.submit("k", {}, secrets={"chat": "sk-very-secret"}), 5)
    raw = b"".join(path.read_bytes() for path in (p for p in _database_files(database)))
    assert b"sk-very-secret" not in raw


def _database_files(database: Database):
    from pathlib import Path

    folder = Path(str(database.engine.url.database)).parent
    return [p for p in folder.iterdir() if p.is_file()]


def test_an_unknown_job_is_named(runner: JobRunner) -> None:
    with pytest.raises(NotFoundError, match="nope"):
        runner.status("nope")


def test_pause_stops_as_cancel_does_and_shows_as_paused(runner: JobRunner) -> None:
    started, go_on = threading.Event(), threading.Event()

    def work(context: JobContext) -> dict[str, int]:
        started.set()
        while not context.cancelled():
            if go_on.wait(0.01):
                return {"n": 1}
        raise CancelledError("stopped")

    runner.register("waits", work)
    job_id = runner.submit("waits", {"n": 1})
    assert started.wait(5)
    runner.cancel(job_id, pause=True)
    paused = runner.wait(job_id, 5)
    assert (paused.state, paused.params) == (JobState.PAUSED, {"n": 1})
    started.clear()
    runner.resume(job_id)
    assert started.wait(5)
    runner.cancel(job_id)  # asked to stop for good this time
    assert runner.wait(job_id, 5).state is JobState.CANCELLED
    go_on.set()
    runner.resume(job_id)
    assert runner.wait(job_id, 5).result == {"n": 1}


def test_a_waiting_job_can_be_paused(database: Database) -> None:
    runner, gate = JobRunner(database, 1), threading.Event()
    runner.register("holds", lambda _: {"held": gate.wait(5)})
    runner.submit("holds", {})
    waiting = runner.submit("holds", {})
    runner.cancel(waiting, pause=True)
    assert runner.status(waiting).state is JobState.PAUSED
    gate.set()
    runner.close()
