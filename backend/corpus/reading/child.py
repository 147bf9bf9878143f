"""One process that reads: started, asked, watched, and killed where it takes too long or too much."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO

import psutil

from backend.corpus.files import Reading, UnreadableFile
from backend.corpus.reading.wire import Message, packed, unpacked
from backend.errors import UnavailableError

log = logging.getLogger(__name__)

_LOOK_EVERY_S = 0.05
_CHILDREN_EVERY_S = 0.5  # to find a process' children, all processes of the machine are looked through
_START_WITHIN_S = 60.0
_MOST_ANSWER_BYTES = 100_000_000  # the list of an archive's files is the longest
_MOST_REMARK_BYTES = 2_000
_SPENT_BYTES = 300_000_000  # a process that has grown to this gives its memory back by ending
_KILLED = -9  # by somebody else
_ROOT = Path(__file__).resolve().parents[3]
_SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "DATABASE_URL")  # a file that takes a parser over finds none


class ReadingChild:
    """A process that answers one request after the other.

    Args:
        modules: What it imports before its first file.
    """

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self.idle_since = 0.0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "backend.corpus.reading.worker", *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=_ROOT,
            env={name: value for name, value in os.environ.items() if not _is_secret(name)},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._answers: SimpleQueue[bytes | None] = SimpleQueue()
        self._remarks: deque[str] = deque(maxlen=20)
        for pipe, listen in ((self._process.stdout, self._take_answers), (self._process.stderr, self._take_remarks)):
            threading.Thread(target=listen, args=(pipe,), name="reading", daemon=True).start()
        self._is_ready = False
        self._children: list[psutil.Process] = []
        self._children_at = 0.0

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    @property
    def is_spent(self) -> bool:
        """Whether it holds so much memory after a file that the next one is better read by another."""
        return self._memory_bytes() > _SPENT_BYTES

    def ask(self, request: Message, reading: Reading) -> Message:
        """Send a request and wait for its answer; the caller ends the process where this raises.

        Raises:
            UnreadableFile: It crashed, took too long or too much memory.
            UnavailableError: It did not start at all.
            CancelledError: From ``reading.check``.
        """
        if not self._is_ready:
            self._await_start(reading)
        began = time.monotonic()
        with contextlib.suppress(OSError):  # it died: told below
            self._send(request)
        while (answer := self._next(reading)) is not None:
            if "step" in answer:
                reading.step(*answer["step"])
            elif answer:
                return answer
            if self._memory_bytes() > reading.limits.max_memory_bytes:
                raise too_much_memory(reading.limits.max_memory_bytes)
            if time.monotonic() - began > reading.limits.max_seconds:
                raise _too_slow(reading.limits.max_seconds)
        raise self._crash()

    def end(self) -> None:
        """Kill it with its children."""
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(self._process.pid).children(recursive=True):
                child.kill()
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _await_start(self, reading: Reading) -> None:
        began = time.monotonic()
        while (answer := self._next(reading)) is not None:
            if answer:
                self._is_ready = True
                return
            if time.monotonic() - began > _START_WITHIN_S:
                break
        said = self._remarks[-1] if self._remarks else "it said nothing"
        log.error("the process that reads files did not start: %s", " | ".join(self._remarks))
        raise UnavailableError(
            "The process that reads files did not start.", hint=f"Its last words: {said[:300]}. See the log."
        )

    def _next(self, reading: Reading) -> Message | None:
        """The next answer; empty if none came for a moment, None if none will come that makes sense."""
        try:
            line = self._answers.get(timeout=_LOOK_EVERY_S)
        except Empty:
            line = b"{}"
        if line is not None:
            reading.check()
            with contextlib.suppress(ValueError, TypeError):
                return unpacked(line)
        return None

    def _crash(self) -> UnreadableFile:
        hint = "The file is damaged or hostile: save it anew."
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return UnreadableFile("its reader fell silent.", hint=hint)
        if code == _KILLED:
            hint = "The machine likely ran out of memory: split the file, or lower RAGDUEL_MAX_FILE_MEMORY_MB."
        how = f"by signal {-code}" if code < 0 else f"with code {code}"
        return UnreadableFile(f"its reader crashed ({how}).", hint=hint)

    def _send(self, request: Message) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(packed(request))
            self._process.stdin.flush()

    def _memory_bytes(self) -> int:
        try:
            process = psutil.Process(self._process.pid)
            if time.monotonic() - self._children_at > _CHILDREN_EVERY_S:
                self._children = process.children(recursive=True)
                self._children_at = time.monotonic()
            n_bytes = int(process.memory_info().rss)
        except psutil.Error:
            return 0
        for child in self._children:
            with contextlib.suppress(psutil.Error):
                n_bytes += child.memory_info().rss
        return n_bytes

    def _take_answers(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):  # closed under our hands
            while (line := pipe.readline(_MOST_ANSWER_BYTES)).endswith(b"\n"):
                self._answers.put(line)
        self._answers.put(None)

    def _take_remarks(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while line := pipe.readline(_MOST_REMARK_BYTES):
                self._remarks.append(line.decode("utf-8", "replace").rstrip())
                log.debug("reading: %s", self._remarks[-1])


def too_much_memory(max_bytes: int) -> UnreadableFile:
    """The error of a file that takes more memory than it may."""
    return UnreadableFile(
        f"reading it takes more than {max_bytes / 1e6:,.0f} MB of memory and was stopped.",
        hint="Split it, save it anew, or raise RAGDUEL_MAX_FILE_MEMORY_MB.",
    )


def _too_slow(seconds: float) -> UnreadableFile:
    return UnreadableFile(
        f"reading took longer than {seconds:,.0f} seconds and was stopped.",
        hint="Split it, save it anew, or raise RAGDUEL_MAX_FILE_SECONDS.",
    )


def _is_secret(name: str) -> bool:
    return any(word in name.upper() for word in _SECRETS)
