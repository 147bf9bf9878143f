"""Reading in processes of their own: one that crashes, hangs or eats memory takes no other work with it."""

from __future__ import annotations

import contextlib
import logging
import shutil
import threading
import time
import uuid
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from backend.corpus.files import UNWATCHED, Reading, ReadText, SourceFile, Unpacked, UnreadableFile
from backend.corpus.reading.child import ReadingChild, too_much_memory
from backend.corpus.reading.wire import Message, read_text_of, unpacked_of

log = logging.getLogger(__name__)

_LOOK_EVERY_S = 0.05


class ProcessReading:
    """Reads files in child processes, which are started when first needed and kept for the next file.

    Safe to share between threads: each takes a child of its own, up to ``n_processes`` at a time.

    Args:
        n_processes: Most children at once.
        modules: Imported by each child before its first file (tests bring readers that crash).
        idle_seconds: A child that waits longer than this for its next file is ended.
    """

    def __init__(self, n_processes: int = 2, modules: Sequence[str] = (), *, idle_seconds: float = 60.0) -> None:
        self._modules = tuple(modules)
        self._idle_seconds = idle_seconds
        self._places = threading.BoundedSemaphore(n_processes)
        self._idle: list[ReadingChild] = []
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._is_closed = False
        # Also when the program ends, or nobody holds this any more.
        weakref.finalize(self, _end_all, self._idle)

    def read(self, file: SourceFile, folder: Path, reading: Reading = UNWATCHED) -> ReadText:
        """As ``FileReading.read``; UnavailableError where no process can be started."""
        with _room_in(folder) as room:
            read = read_text_of(self._ask("read", file, room, reading)["read"])
            return replace(
                read,
                text_path=_brought_out(read.text_path, room),
                sections_path=_brought_out(read.sections_path, room),
            )

    def unpack(self, file: SourceFile, folder: Path, reading: Reading = UNWATCHED) -> Unpacked | None:
        """As ``FileReading.unpack``; UnavailableError where no process can be started."""
        with _room_in(folder) as room:
            found = self._ask("unpack", file, room, reading)["unpacked"]
            if found is None:
                return None
            opened = unpacked_of(found)
            files = [SourceFile(inner.name, _brought_out(inner.content, room)) for inner in opened.files]
            return replace(opened, files=tuple(files))

    def close(self) -> None:
        """End the children that wait; those at work end with their file."""
        with self._lock:
            self._is_closed = True
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            idle = self._idle[:]
            self._idle.clear()
        _end_all(idle)

    def _ask(self, do: str, file: SourceFile, room: Path, reading: Reading) -> Message:
        while not self._places.acquire(timeout=_LOOK_EVERY_S):
            reading.check()
        try:
            request = {
                "do": do,
                "name": file.name,
                "path": str(_on_disk(file, room)),
                "folder": str(room.resolve()),
                "options": asdict(reading.options),
                "limits": asdict(reading.limits),
            }
            child = self._take()
            try:
                answer = child.ask(request, reading)
            except BaseException:
                child.end()
                raise
            self._give_back(child, is_spent="memory" in answer or child.is_spent)
        finally:
            self._places.release()
        return _checked(answer, reading)

    def _take(self) -> ReadingChild:
        with self._lock:
            while self._idle:
                child = self._idle.pop()
                if child.is_alive:
                    return child
                child.end()
        return ReadingChild(self._modules)

    def _give_back(self, child: ReadingChild, *, is_spent: bool) -> None:
        child.idle_since = time.monotonic()
        with self._lock:
            if not is_spent and not self._is_closed:
                self._idle.append(child)
                self._await_idle()
                return
        child.end()

    def _await_idle(self) -> None:
        """One timer looks at all children; the lock is held."""
        if self._timer is None:
            self._timer = threading.Timer(self._idle_seconds, self._end_idle)
            self._timer.daemon = True
            self._timer.start()

    def _end_idle(self) -> None:
        now = time.monotonic()
        with self._lock:
            self._timer = None
            long = [child for child in self._idle if now - child.idle_since >= self._idle_seconds]
            self._idle[:] = [child for child in self._idle if child not in long]
            if self._idle:
                self._await_idle()
        _end_all(long)


def _end_all(children: list[ReadingChild]) -> None:
    for child in children:
        child.end()


@contextlib.contextmanager
def _room_in(folder: Path) -> Iterator[Path]:
    """A folder for one request, gone at the end: what a child leaves when it is killed goes with it."""
    room = folder / f"reading-{uuid.uuid4().hex}"
    room.mkdir()
    try:
        yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _brought_out(path: Path | bytes, room: Path) -> Path:
    """A file of the room in the folder above it; by its name, so that no answer leads anywhere else."""
    name = Path(str(path)).name
    return (room / name).rename(room.parent / name)


def _on_disk(file: SourceFile, room: Path) -> Path:
    """The file's whole path; bytes in memory are written to the room."""
    if isinstance(file.content, Path):
        return file.content.resolve()
    path = room.resolve() / "source"
    path.write_bytes(file.content)
    return path


def _checked(answer: Message, reading: Reading) -> Message:
    if "refused" in answer:
        message, hint = answer["refused"]
        raise UnreadableFile(message, hint=hint)
    if "memory" in answer:
        raise too_much_memory(reading.limits.max_memory_bytes)
    if "fault" in answer:
        log.warning("a reader failed: %s", answer["fault"])
        raise UnreadableFile(
            f"its reader failed ({answer['fault']}).",
            hint="Save it anew or in another format; this is a fault of ours.",
        )
    return answer
