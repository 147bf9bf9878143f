"""Fixtures that every kind of test shares."""

from __future__ import annotations

import os

# Before any import of a library that reads them: no test reaches a model hub.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import importlib.util
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from backend.settings import Settings
from backend.store import Database, FileStore

SHARED = Path(__file__).resolve().parents[1].parent / "shared"


def shared_path(*parts: str) -> Path:
    """A file of ../shared; the test fails in CI, and skips elsewhere, where it is absent."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        message = f"../shared/{'/'.join(parts)} is missing: it lies beside the project where the maintainers work"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees the developer's own keys, endpoints or data folder."""
    for name in list(os.environ):
        if name.startswith(("RAGDUEL_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("RAGDUEL_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(_env_file=None, data_dir=tmp_path / "data", llm_timeout_s=5)


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    database = Database(settings.sqlalchemy_url)
    yield database
    database.close()


@pytest.fixture
def files(settings: Settings) -> FileStore:
    return FileStore(settings.data_dir)


@dataclass
class Replay:
    """A running replay of one case: its base URL and the requests it got."""

    base_url: str
    log: Path

    def requests(self, suffix: str = "") -> list[dict[str, Any]]:
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        return [entry for entry in map(json.loads, lines) if entry["path"].endswith(suffix)]

    def chats(self) -> list[dict[str, Any]]:
        return self.requests("/chat/completions")


@pytest.fixture
def replay(tmp_path: Path) -> Iterator[Callable[[Path], Replay]]:
    """Start the cases' scripted server on a free loopback port: ``replay(path_of_responses_json)``."""
    tool = shared_path("cases", "tools", "replay.py")
    spec = importlib.util.spec_from_file_location("case_replay", tool)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    servers = []

    def start(script: Path) -> Replay:
        log = tmp_path / f"requests-{len(servers)}.jsonl"
        server = module.serve(module.Script(str(script)), 0, str(log))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return Replay(f"http://127.0.0.1:{server.server_address[1]}/v1", log)

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Set environment variables for a block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
