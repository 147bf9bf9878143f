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


def keys_for(named_url: str) -> SessionKeys:
    """Keys for a chat endpoint: whoever names one on the command line means the environment's key for it.

    Without such a name there are none: the environment's keys then go where the environment says, and not to an
    endpoint that somebody saved on the settings page.
    """
    return SessionKeys(chat=load_settings().llm_api_key, chat_url=named_url) if named_url else SessionKeys()
