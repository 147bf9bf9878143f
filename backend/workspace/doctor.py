"""``ragduel doctor``: one line for everything that a duel and a verdict need."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING

from backend.embedding import OFFLINE_DEFAULTS, AvailabilityState, availability
from backend.errors import RagduelError
from backend.llm import find_smollm2
from backend.workspace.types import Check, CheckState, SessionKeys

if TYPE_CHECKING:
    from backend.workspace.workspace import Workspace

_PACKAGES = ("streamlit", "sentence-transformers", "torch", "transformers", "faiss-cpu", "openai", "pandas")
_MIN_FREE_BYTES = 1_000_000_000


def examine(workspace: Workspace, keys: SessionKeys) -> list[Check]:
    """All checks, in the order a person would make them. Never raises; a network check waits 10 s at most."""
    return [check for part in (_storage, _models, _judges) for check in part(workspace, keys)]


def _storage(workspace: Workspace, _keys: SessionKeys) -> Iterator[Check]:
    folder = workspace.settings.data_dir.resolve()
    free = shutil.disk_usage(folder).free
    yield Check(
        "Data folder",
        "ok" if free > _MIN_FREE_BYTES else "warning",
        f"{folder}, {free / 1e9:.1f} GB free",
        "" if free > _MIN_FREE_BYTES else "Less than 1 GB is left: free some space, or move RAGDUEL_DATA_DIR.",
    )

    def write() -> str:
        workspace.database.set_note("doctor", {"checked": True})
        return f"{workspace.database.dialect}, writable"

    yield _attempt("Database", write)
    versions = []
    for package in _PACKAGES:
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            yield Check("Packages", "failed", f"{package} is not installed", "Run make install.")
    yield Check("Packages", "ok", ", ".join(versions))


def _models(workspace: Workspace, _keys: SessionKeys) -> Iterator[Check]:
    for spec in workspace.registry.list():
        found = availability(spec, workspace.settings)
        ready = found.state is AvailabilityState.READY
        needed = spec.key in OFFLINE_DEFAULTS
        state: CheckState = "ok" if ready else "failed" if needed else "warning"
        yield Check(f"Model {spec.key}", state, str(found.state), found.how_to_get)


def _judges(workspace: Workspace, keys: SessionKeys) -> Iterator[Check]:
    yield _attempt("Likelihood judge", lambda: f"{find_smollm2().name} found")
    local = find_spec("xllamacpp") is not None
    yield Check(
        "Local chat server",
        "ok" if local else "failed",
        "running" if workspace.local_chat.running else "installed, not running" if local else "xllamacpp is missing",
        "" if local else "Run make install.",
    )
    chosen = workspace.chat_settings()
    if not (chosen.base_url or chosen.use_local):
        yield Check(
            "Chat endpoint", "warning", "none set",
            "Only the LLM judge and HyDE need one: enter it on the settings page, or set RAGDUEL_LLM_BASE_URL.",
        )  # fmt: skip
        return

    where = "the local chat server" if chosen.use_local else chosen.base_url
    try:
        names = workspace.check_chat(keys)
    except RagduelError as error:
        yield Check("Chat endpoint", "failed", error.message, error.hint)
        return
    if chosen.use_local or not chosen.model or chosen.model in names or not names:
        yield Check("Chat endpoint", "ok", f"{where}: {len(names)} models")
        return
    yield Check(
        "Chat endpoint", "warning", f"{where}: {len(names)} models, but not {chosen.model}",
        "Some servers take names that they do not list; else correct the name on the settings page.",
    )  # fmt: skip


def _attempt(name: str, work: Callable[[], str]) -> Check:
    try:
        return Check(name, "ok", work())
    except RagduelError as error:
        return Check(name, "failed", error.message, error.hint)
