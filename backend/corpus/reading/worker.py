"""The process that reads, one file at a time: ``python -m backend.corpus.reading.worker``, told and answered by lines.

It ends when its parent does.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
import time
from pathlib import Path
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


def main(arguments: list[str]) -> None:
    """Answer requests until the input ends.

    Args:
        arguments: Modules to import first (tests bring readers that crash).
    """
    # What a library prints must not end up between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.suppress(OSError, AttributeError):  # not on every system
        os.nice(_NICENESS)
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    for name in arguments:
        importlib.import_module(name)
    answers.write(packed({"ready": True}))
    while line := sys.stdin.buffer.readline():
        answers.write(packed(_answer(unpacked(line), answers)))


def _end_with_parent(parent: int) -> None:
    """Between files the input's end tells; a reader that hangs would never look."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


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
            answers.write(packed({"step": [word, done, total]}))

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
    except Exception as error:  # a fault of a reader: the file is named, the rest of the batch goes on
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
