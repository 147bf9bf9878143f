"""Background work that outlives a tab, and shows as interrupted after a restart."""

from backend.jobs.runner import JobRunner
from backend.jobs.types import Handler, JobContext, JobState, JobStatus

__all__ = ["Handler", "JobContext", "JobRunner", "JobState", "JobStatus"]
