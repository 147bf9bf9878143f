"""What the jobs room hands on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class JobState(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    PAUSED = "paused"  # stopped by a person who means to go on
    INTERRUPTED = "interrupted"  # its process ended before it did

    @property
    def is_active(self) -> bool:
        """Whether the job may still change by itself."""
        return self in {JobState.QUEUED, JobState.RUNNING}


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job as the page sees it.

    Attributes:
        stage: What it is doing, for people.
        n_items: Items in this stage; 0 where unknown.
        n_done: Items done.
        result: What the handler returned, plain data; empty until done.
        error: Message for people; empty unless failed.
        params: As submitted: plain data, never a key.
        is_stopping: Somebody asked it to stop; it still runs.
    """

    job_id: str
    kind: str
    state: JobState
    stage: str
    n_items: int
    n_done: int
    result: Mapping[str, Any]
    error: str
    created_at: str
    params: Mapping[str, Any] = field(default_factory=dict)
    is_stopping: bool = False


class JobContext(Protocol):
    """What a handler gets. Calls are safe from the worker's thread."""

    @property
    def params(self) -> Mapping[str, Any]:
        """The job's plain parameters, as submitted (and as they come back after a restart)."""

    @property
    def secrets(self) -> Mapping[str, str]:
        """Keys given at submission; kept in memory only, so empty after a restart."""

    def progress(self, stage: str, n_done: int, n_items: int) -> None:
        """Tell how far it is; cheap, written a few times a second at most."""

    def cancelled(self) -> bool:
        """Whether a person asked to stop."""

    def finished_items(self) -> dict[str, dict[str, Any]]:
        """Item key -> result of every item finished before, also in an earlier process."""

    def finish_item(self, item_key: str, result: Mapping[str, Any], error: str = "") -> None:
        """Store an item the moment it is done."""


Handler = Callable[[JobContext], Mapping[str, Any]]
