"""The process that reads, one file at a time: ``python -m backend.corpus.reading.worker``, told and answered by lines.

It ends when its parent does.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO

from backend.corpus.files import Reading, SourceFile, UnreadableFile
from backend.corpus.reading.spill import InProcessReading
from backend.corpus.reading.wire import (
    Message,
    limits_from,
    options_of,
    packed,
    read_text_data,
    unpacked,
    unpacked_data,
)

_TOLD_EVERY_S = 0.1
_ROOM_BYTES = 1_500_000_000  # address space that Python and its libraries take without using it
_NICENESS = 5
_LATE_S = 30.0  # beyond the time limit, at which the app ends this process itself
_FORBIDDEN = (
    "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname",
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty",
)  # fmt: skip


def main(arguments: list[str]) -> None:
    """Answer requests until the input ends.

    Args:
        arguments: Modules to import first (tests bring readers that crash).
    """
    # What a library prints must not end up between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    faulthandler.enable()  # a crash says where, in the app's log
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the app's, which ends this process in its own time
    for name in arguments:
        importlib.import_module(name)
    sys.addaudithook(_forbid)
    with contextlib.suppress(OSError, AttributeError):  # not on every system
        os.nice(_NICENESS)
    requests: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_take_requests, args=(requests,), daemon=True).start()
    _say(answers, {"ready": True})
    while True:
        request = unpacked(requests.get())
        # A reader that holds Python's lock keeps every other thread from noticing that the app is gone.
        faulthandler.dump_traceback_later(request["limits"]["max_seconds"] + _LATE_S, exit=True)
        answer = _answer(request, answers)
        faulthandler.cancel_dump_traceback_later()
        _say(answers, answer)


def _take_requests(requests: SimpleQueue[bytes]) -> None:
    """The input ends with the app, and this process with it, whatever it does just then."""
    while line := sys.stdin.buffer.readline():
        requests.put(line)
    os._exit(0)


def _forbid(event: str, _arguments: tuple[object, ...]) -> None:
    """Reading needs no network and no other program; what asks for one was made to by a file."""
    if event in _FORBIDDEN:
        raise PermissionError(f"no reader needs {event}")


def _say(answers: BinaryIO, message: Message) -> None:
    answers.write(packed(message))
    answers.flush()


def _answer(request: Message, answers: BinaryIO) -> Message:
    file = SourceFile(request["name"], Path(request["path"]))
    folder = Path(request["folder"])
    limits = limits_from(request["limits"])
    _bound_memory(limits.max_memory_bytes)
    told = 0.0

    def step(word: str, done: int, total: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told > _TOLD_EVERY_S:
            told = now
            _say(answers, {"step": [word, done, total]})

    reading = Reading(options_of(request["options"]), limits, step=step)
    try:
        if request["do"] == "unpack":
            found = InProcessReading().unpack(file, folder, reading)
            return {"unpacked": None if found is None else unpacked_data(found)}
        return {"read": read_text_data(InProcessReading().read(file, folder, reading))}
    except UnreadableFile as error:
        return {"refused": [error.message, error.hint]}
    except MemoryError:
        return {"memory": True}
    except BaseException as error:  # a fault of a reader, or one that wants out: the rest of the batch goes on
        traceback.print_exc()
        return {"fault": f"{type(error).__name__}: {str(error)[:200]}"}


def _bound_memory(max_bytes: int) -> None:
    """A second fence behind the parent's eye: a sudden huge allocation fails instead of filling the machine."""
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(ValueError, OSError):
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = max_bytes + _ROOM_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))


if __name__ == "__main__":
    main(sys.argv[1:])
