"""The process that reads: what a reader does to it stays with the one file."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from backend.corpus import CorpusLibrary, SourceFile, UnreadableFile
from backend.corpus.files import DEFAULT_LIMITS, Reading
from backend.corpus.reading import ProcessReading
from backend.errors import CancelledError
from backend.store import Database, FileStore

SHORT = Reading(limits=replace(DEFAULT_LIMITS, max_seconds=1.5, max_memory_bytes=400_000_000))


@pytest.fixture(scope="module")
def reading() -> Iterator[ProcessReading]:
    reading = ProcessReading(modules=["tests.fakes.bad_readers"])
    yield reading
    reading.close()


def bad(what: str) -> SourceFile:
    return SourceFile(f"{what}.bad", what.encode())


def pid(reading: ProcessReading, folder: Path) -> str:
    return reading.read(bad("ok"), folder).text_path.read_text().split()[-1]


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("hang", "longer than 2 seconds"),
        ("crash", "crashed (by signal 6)"),
        ("exit", "crashed (with code 3)"),
        ("eat", "more than 400 MB of memory"),
        ("gulp", "more than 400 MB of memory"),
        ("fault", "KeyError"),
    ],
)
def test_a_reader_that_misbehaves_is_stopped_and_the_next_file_read(
    reading: ProcessReading, tmp_path: Path, what: str, says: str
) -> None:
    began = time.monotonic()
    with pytest.raises(UnreadableFile) as caught:
        reading.read(bad(what), tmp_path, SHORT)
    assert says in str(caught.value)
    assert caught.value.hint
    assert time.monotonic() - began < 20
    assert list(tmp_path.iterdir()) == []
    assert "process" in reading.read(bad("ok"), tmp_path).text_path.read_text()


def test_one_process_reads_file_after_file(reading: ProcessReading, tmp_path: Path) -> None:
    first = pid(reading, tmp_path)
    began = time.monotonic()
    for n in range(100):
        reading.read(SourceFile(f"{n}.txt", b"The keeper sleeps."), tmp_path)
    assert time.monotonic() - began < 5
    assert pid(reading, tmp_path) == first


def test_what_a_library_prints_is_no_answer(reading: ProcessReading, tmp_path: Path) -> None:
    assert "process" in reading.read(bad("chatter"), tmp_path).text_path.read_text()


def test_progress_comes_while_it_reads(reading: ProcessReading, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    reading.read(bad("steps"), tmp_path, Reading(step=lambda *step: seen.append(step)))
    assert len(seen) > 2
    assert all(word == "page" and total == 30 for word, _, total in seen)


def test_a_stop_is_heard_at_once(reading: ProcessReading, tmp_path: Path) -> None:
    began = time.monotonic()

    def check() -> None:
        if time.monotonic() - began > 0.4:
            raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        reading.read(bad("hang"), tmp_path, Reading(check=check))
    assert time.monotonic() - began < 3
    assert list(tmp_path.iterdir()) == []


def test_two_threads_read_at_once(reading: ProcessReading, tmp_path: Path) -> None:
    pids: set[str] = set()

    def read(name: str) -> None:
        folder = tmp_path / name
        folder.mkdir()
        pids.add(reading.read(bad("steps"), folder).text_path.read_text().split()[-1])

    threads = [threading.Thread(target=read, args=(str(n),)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pids) == 2


def test_a_batch_goes_on_after_a_crash(database: Database, files: FileStore, reading: ProcessReading) -> None:
    library = CorpusLibrary(database, files, reading=reading)
    report = library.add("a", [SourceFile("a.txt", b"First."), bad("crash"), SourceFile("b.md", b"# B\n\nLast.")])
    assert (report.documents, [item.file for item in report.skipped]) == (2, ["crash.bad"])
    assert list((files.root / "scratch").iterdir()) == []


def test_children_end_with_their_parent(tmp_path: Path) -> None:
    code = (
        "import sys, threading, time\nfrom pathlib import Path\n"
        "from backend.corpus import SourceFile\nfrom backend.corpus.reading import ProcessReading\n"
        "reading = ProcessReading(modules=['tests.fakes.bad_readers'])\n"
        "folder = Path(sys.argv[1])\n"
        "print(reading.read(SourceFile('ok.bad', b'ok'), folder).text_path.read_text().split()[-1], flush=True)\n"
        "reading.read(SourceFile('hang.bad', b'hang'), folder)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    time.sleep(0.3)
    parent.kill()
    parent.communicate()
    child.wait(timeout=10)


def test_it_starts_without_heavy_libraries() -> None:
    code = (
        "import sys, backend.corpus.reading.worker\n"
        "heavy = {'torch', 'streamlit', 'pandas', 'transformers', 'sentence_transformers', 'faiss', 'sqlalchemy.orm'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert found in ("[]", "['sqlalchemy.orm']")
