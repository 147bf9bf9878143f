"""One workspace a command, closed at its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from backend.settings import load_settings
from backend.workspace import SessionKeys, Workspace


@contextmanager
def open_workspace() -> Iterator[Workspace]:
    """The workspace of the data folder that the environment names."""
    workspace = Workspace()
    try:
        yield workspace
    finally:
        workspace.close()


def environment_keys() -> SessionKeys:
    """The environment's keys. Whoever names an endpoint on the command line owns its key too."""
    settings = load_settings()
    return SessionKeys(chat=settings.llm_api_key, embedding=settings.embedding_api_key)
