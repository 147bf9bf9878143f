"""The process that reads: what a reader does to it stays with the one file."""

from __future__ import annotations

import contextlib
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
from backend.corpus.files import DEFAULT_LIMITS, Reading, ReadText
from backend.corpus.reading import ProcessReading
from backend.errors import CancelledError, UnavailableError
from backend.store import Database, FileStore

SHORT = Reading(limits=replace(DEFAULT_LIMITS, max_seconds=1.5, max_memory_bytes=400_000_000))


@pytest.fixture(scope="module")
def reading() -> Iterator[ProcessReading]:
    reading = ProcessReading(modules=["tests.fakes.bad_readers"])
    yield reading
    reading.close()


def bad(what: str) -> SourceFile:
    return SourceFile(f"{what}.bad", what.encode())


def pid_of(read: ReadText) -> str:
    return read.text_path.read_text().split()[-1]


def pid(reading: ProcessReading, folder: Path) -> str:
    return pid_of(reading.read(bad("ok"), folder))


def is_gone(pid: str) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(int(pid)).wait(timeout=5)
    return not psutil.pid_exists(int(pid))


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("hang", "longer than 2 seconds"),
        ("crash", "crashed (by signal 6)"),
        ("segfault", "crashed (by signal 11)"),
        ("exit", "crashed (with code 3)"),
        ("quit", "SystemExit: 4"),
        ("spin", "longer than 2 seconds"),
        ("eat", "more than 400 MB of memory"),
        ("gulp", "more than 400 MB of memory"),
        ("fault", "KeyError"),
        ("call home", "no reader needs socket"),
        ("run", "no reader needs subprocess.Popen"),
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
    for n in range(200):
        reading.read(SourceFile(f"{n}.txt", b"The keeper sleeps."), tmp_path)
    assert time.monotonic() - began < 5  # 0.5 s on a machine that does nothing else
    assert pid(reading, tmp_path) == first


def test_a_process_that_has_grown_is_not_kept(reading: ProcessReading, tmp_path: Path) -> None:
    big = pid_of(reading.read(bad("swell"), tmp_path))
    assert pid(reading, tmp_path) != big
    assert is_gone(big)


def test_a_process_that_waits_too_long_is_ended(tmp_path: Path) -> None:
    reading = ProcessReading(1, ["tests.fakes.bad_readers"], idle_seconds=0.5)
    first = pid(reading, tmp_path)
    assert pid(reading, tmp_path) == first
    assert is_gone(first)
    second = pid(reading, tmp_path)
    assert second != first
    reading.close()
    assert is_gone(second)
    third = pid(reading, tmp_path)  # a job that was at work yet
    assert is_gone(third)


def test_a_process_that_died_while_it_waited_costs_no_file(reading: ProcessReading, tmp_path: Path) -> None:
    first = pid(reading, tmp_path)
    psutil.Process(int(first)).kill()
    assert is_gone(first)
    assert pid(reading, tmp_path) != first


def test_a_process_that_does_not_start_is_no_fault_of_the_file(tmp_path: Path) -> None:
    reading = ProcessReading(1, ["no_such_module"])
    with pytest.raises(UnavailableError) as caught:
        reading.read(bad("ok"), tmp_path)
    assert "no_such_module" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_it_is_told_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never")
    reading = ProcessReading(1, ["tests.fakes.bad_readers"])
    assert "none" in reading.read(bad("secrets"), tmp_path).text_path.read_text()
    reading.close()


def test_folders_are_the_apps_own_however_it_names_them(
    reading: ProcessReading, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("in.txt").write_text("The weir is open.")
    read = reading.read(SourceFile("in.txt", Path("in.txt")), Path("data"))
    assert read.text_path.read_text() == "The weir is open."
    assert {read.text_path, read.sections_path} == set(Path("data").iterdir())


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
    assert time.monotonic() - began < 1.4  # a second after it was asked
    assert list(tmp_path.iterdir()) == []


def test_two_threads_read_at_once(reading: ProcessReading, tmp_path: Path) -> None:
    pids: set[str] = set()

    def read(name: str) -> None:
        folder = tmp_path / name
        folder.mkdir()
        pids.add(pid_of(reading.read(bad("steps"), folder)))

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


def test_children_that_wait_end_with_a_program_that_forgot_them(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from backend.corpus import SourceFile\nfrom backend.corpus.reading import ProcessReading\n"
        "reading = ProcessReading(modules=['tests.fakes.bad_readers'])\n"
        "read = reading.read(SourceFile('ok.bad', b'ok'), Path(sys.argv[1]))\n"
        "print(read.text_path.read_text().split()[-1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert is_gone(done.stdout)


def test_it_starts_without_heavy_libraries() -> None:
    code = (
        "import sys, backend.corpus.reading.worker\n"
        "heavy = {'torch', 'streamlit', 'pandas', 'transformers', 'sentence_transformers', 'faiss', 'numpy',\n"
        "         'sqlalchemy', 'pydantic', 'lxml', 'pypdfium2', 'bs4'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert found == "[]"
