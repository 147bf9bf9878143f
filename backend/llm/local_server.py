"""A chat server on this machine: llama.cpp (through xllamacpp) with SmolLM2, in a process of its own.

A process of its own, since a crash of native code must not take the app with it, and since ending the process is
a clean stop that gives all its memory back. ``local_process.py`` is what runs there.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import queue
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from backend.errors import UnavailableError
from backend.llm.weights import SMOLLM2_MODEL, find_smollm2
from backend.settings import Settings

HOST = "127.0.0.1"
READY = "listening on "
_START_TIMEOUT_S = 60.0
_STOP_TIMEOUT_S = 5.0

# One server a process: the settings page and HyDE each make a LocalChatServer and mean the same one.
_lock = threading.Lock()
_process: subprocess.Popen[str] | None = None
_base_url = ""


class LocalChatServer:
    """Starts and stops the local chat server of this process.

    Args:
        settings: ``llm_port`` is taken if it is free, else any free port.
    """

    model = SMOLLM2_MODEL

    def __init__(self, settings: Settings) -> None:
        self._port = settings.llm_port

    @property
    def running(self) -> bool:
        """Whether the server's process is alive."""
        return _process is not None and _process.poll() is None

    @property
    def base_url(self) -> str:
        """Where it listens; "" while it is not running."""
        return _base_url if self.running else ""

    @staticmethod
    def availability() -> str:
        """What is missing and how to get it; an empty text where the server can be started."""
        try:
            _check_installed()
        except UnavailableError as error:
            return str(error)
        return ""

    def start(self) -> str:
        """Start it, unless it runs already; return its base URL once it answers (about a second).

        Raises:
            UnavailableError: A package is missing, or the server does not start.
        """
        global _process, _base_url
        with _lock:
            if not self.running:
                _check_installed()
                _process, _base_url = _started(self._port if _is_free(self._port) else 0)
            return _base_url

    def stop(self) -> None:
        """End it, if it runs."""
        global _process, _base_url
        with _lock:
            process, _process, _base_url = _process, None, ""
            if process is not None:
                _end(process)

    def wait(self) -> None:
        """Return once the server has ended (for a foreground command)."""
        process = _process
        if process is not None:
            process.wait()


def _check_installed() -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        raise UnavailableError(
            "The local chat server (xllamacpp) is not installed.", hint="Run: pip install xllamacpp, or make install."
        )
    find_smollm2()


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _started(port: int) -> tuple[subprocess.Popen[str], str]:
    # Keys are none of its business; the package is found without a look into the current folder (-P).
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    paths = filter(None, (str(Path(__file__).parents[2]), environment.get("PYTHONPATH", "")))
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "backend.llm.local_process", "--port", str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment,
            start_new_session=True,  # Ctrl-C in the terminal reaches the parent alone, which then ends this one
        )
        address = _first_line(process)
        if address.startswith(READY):
            atexit.register(_end, process)
            return process, address.removeprefix(READY).strip() + "/v1"
        _end(process)
        log.seek(0)
        last = [line.strip() for line in log.read().splitlines() if line.strip()][-3:]
    raise UnavailableError(
        f"The local chat server did not start: {' / '.join(last) or f'exit code {process.returncode}'}.",
        hint="Run ragduel doctor to see what is missing.",
    )


def _first_line(process: subprocess.Popen[str]) -> str:
    """The child's first line; "" where it ends, or stays silent, before it is ready."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    stream = process.stdout
    if stream is None:
        return ""
    threading.Thread(target=lambda: lines.put(stream.readline()), daemon=True).start()
    try:
        return lines.get(timeout=_START_TIMEOUT_S)
    except queue.Empty:
        return ""


def _end(process: subprocess.Popen[str]) -> None:
    atexit.unregister(_end)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    try:
        process.wait(_STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
