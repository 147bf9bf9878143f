"""Reading in processes of their own: one that crashes, hangs or eats memory takes no other work with it."""

from __future__ import annotations

import contextlib
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from queue import Empty, Queue
from tempfile import NamedTemporaryFile

import psutil

from backend.corpus.files import UNWATCHED, Reading, ReadText, SourceFile, Unpacked, UnreadableFile
from backend.corpus.reading.wire import Message, packed, read_text_of, unpacked, unpacked_of

log = logging.getLogger(__name__)

_LOOK_EVERY_S = 0.05
_START_WITHIN_S = 60.0
_ROOT = Path(__file__).resolve().parents[3]


class ProcessReading:
    """Reads files in child processes, which are started when first needed and kept for the next file.

    Safe to share between threads: each takes a child of its own, up to ``n_processes`` at a time.

    Args:
        n_processes: Most children at once.
        modules: Imported by each child before its first file (tests bring readers that crash).
    """

    def __init__(self, n_processes: int = 2, modules: Sequence[str] = ()) -> None:
        self._modules = tuple(modules)
        self._places = threading.BoundedSemaphore(n_processes)
        self._idle: list[_Child] = []
        self._lock = threading.Lock()

    def read(self, file: SourceFile, folder: Path, reading: Reading = UNWATCHED) -> ReadText:
        """As ``FileReading.read``."""
        before = set(folder.iterdir())
        try:
            answer = self._ask("read", file, folder, reading)
        except BaseException:
            _remove_new(folder, before)
            raise
        return read_text_of(answer["read"])

    def unpack(self, file: SourceFile, folder: Path, reading: Reading = UNWATCHED) -> Unpacked | None:
        """As ``FileReading.unpack``."""
        before = set(folder.iterdir())
        try:
            answer = self._ask("unpack", file, folder, reading)
        except BaseException:
            _remove_new(folder, before)
            raise
        found = answer["unpacked"]
        return None if found is None else unpacked_of(found)

    def close(self) -> None:
        """End the children that wait; those at work end with their file."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.end()

    def _ask(self, do: str, file: SourceFile, folder: Path, reading: Reading) -> Message:
        while not self._places.acquire(timeout=_LOOK_EVERY_S):
            reading.check()
        try:
            with _on_disk(file, folder) as path:
                request = {
                    "do": do,
                    "name": file.name,
                    "path": str(path),
                    "folder": str(folder),
                    "options": asdict(reading.options),
                    "limits": asdict(reading.limits),
                }
                child = self._take()
                try:
                    answer = child.ask(request, reading)
                except BaseException:
                    child.end()
                    raise
                with self._lock:
                    self._idle.append(child)
        finally:
            self._places.release()
        return _checked(answer, reading)

    def _take(self) -> _Child:
        with self._lock:
            while self._idle:
                child = self._idle.pop()
                if child.is_alive:
                    return child
        return _Child(self._modules)


class _Child:
    """One process that reads."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "backend.corpus.reading.worker", *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=_ROOT,
        )
        self._requests, answers, remarks = self._process.stdin, self._process.stdout, self._process.stderr
        self._answers: Queue[bytes | None] = Queue()
        threading.Thread(target=self._listen, args=(answers,), name="reading-answers", daemon=True).start()
        threading.Thread(target=_log_lines, args=(remarks,), name="reading-log", daemon=True).start()
        self._is_ready = False

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: Message, reading: Reading) -> Message:
        """Send a request and wait for its answer.

        Raises:
            UnreadableFile: The process crashed, took too long or too much memory.
            CancelledError: From ``reading.check``.
        """
        began = time.monotonic()
        if not self._is_ready:
            self._wait(began + _START_WITHIN_S, reading, watched=False)
            self._is_ready = True
            began = time.monotonic()
        with contextlib.suppress(OSError):  # it died: told below
            if self._requests is not None:
                self._requests.write(packed(request))
                self._requests.flush()
        return self._wait(began + reading.limits.max_seconds, reading, watched=True)

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

    def _wait(self, until: float, reading: Reading, *, watched: bool) -> Message:
        while True:
            try:
                line = self._answers.get(timeout=_LOOK_EVERY_S)
            except Empty:
                line = b""
            if line is None:
                raise _crashed(self._process.wait())
            reading.check()
            if line:
                answer = unpacked(line)
                if "step" not in answer:
                    return answer
                reading.step(*answer["step"])
            elif watched and self._memory_bytes() > reading.limits.max_memory_bytes:
                raise _too_much_memory(reading.limits.max_memory_bytes)
            if time.monotonic() > until:
                raise _too_slow(reading.limits.max_seconds)

    def _memory_bytes(self) -> int:
        try:
            process = psutil.Process(self._process.pid)
            return sum(p.memory_info().rss for p in [process, *process.children(recursive=True)])
        except psutil.Error:
            return 0

    def _listen(self, answers: Iterable[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):  # closed under our hands
            for line in answers:
                self._answers.put(line)
        self._answers.put(None)


def _log_lines(remarks: Iterable[bytes]) -> None:
    with contextlib.suppress(OSError, ValueError):
        for line in remarks:
            log.debug("reading: %s", line.decode("utf-8", "replace").rstrip()[:500])


@contextlib.contextmanager
def _on_disk(file: SourceFile, folder: Path) -> Iterator[Path]:
    """The file's path; bytes in memory lie in the folder for the time."""
    if isinstance(file.content, Path):
        yield file.content.resolve()
        return
    with NamedTemporaryFile(dir=folder, prefix="source-", delete=False) as copy:
        copy.write(file.content)
    path = Path(copy.name)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _checked(answer: Message, reading: Reading) -> Message:
    if "refused" in answer:
        message, hint = answer["refused"]
        raise UnreadableFile(message, hint=hint)
    if "memory" in answer:
        raise _too_much_memory(reading.limits.max_memory_bytes)
    if "fault" in answer:
        log.warning("a reader failed: %s", answer["fault"])
        raise UnreadableFile(
            f"its reader failed ({answer['fault']}).",
            hint="Save it anew or in another format; this is a fault of ours.",
        )
    return answer


def _too_slow(seconds: float) -> UnreadableFile:
    return UnreadableFile(
        f"reading took longer than {seconds:,.0f} seconds and was stopped.",
        hint="Split it, save it anew, or raise RAGDUEL_MAX_FILE_SECONDS.",
    )


def _too_much_memory(max_bytes: int) -> UnreadableFile:
    return UnreadableFile(
        f"reading it takes more than {max_bytes / 1e6:,.0f} MB of memory and was stopped.",
        hint="Split it, save it anew, or raise RAGDUEL_MAX_FILE_MEMORY_MB.",
    )


def _crashed(code: int) -> UnreadableFile:
    how = f"by signal {-code}" if code < 0 else f"with code {code}"
    return UnreadableFile(f"its reader crashed ({how}).", hint="The file is damaged or hostile: save it anew.")


def _remove_new(folder: Path, before: set[Path]) -> None:
    """Remove what a reading that failed left in the folder."""
    for path in set(folder.iterdir()) - before:
        with contextlib.suppress(OSError):
            path.unlink()
