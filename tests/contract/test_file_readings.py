"""What every ``FileReading`` does: in this process, and in one of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from backend.corpus import ReadOptions, SourceFile, UnreadableFile, read_file
from backend.corpus.files import DEFAULT_LIMITS, FileReading, Reading, ReadText
from backend.corpus.reading import InProcessReading, ProcessReading, read_sections
from backend.errors import CancelledError
from tests.unit.corpus.made import docx_bytes, pdf_bytes
from tests.unit.corpus.made_office import zipped

ROWS = "id;text;note\n" + "\n".join(f"r{n};The weir of yard {n} is shut.;n{n}" for n in range(30))
LINES = "\n".join(json.dumps({"_id": str(n), "title": "T", "text": f"Row {n} \ud83d\ude00 é"}) for n in range(9))
GOOD = {
    "a.txt": "Straße 漢字 \r\nnext\x00line".encode(),
    "b/c.md": b"# Care\n\nWater it.\n\n## Winter\n\nKeep it dry.",
    "rows.csv": ROWS.encode(),
    "lines.jsonl": LINES.encode(),
    "pages.pdf": pdf_bytes(["One.", "", "Three."]),
    "report.docx": docx_bytes("A report."),
    "old.txt": "Grüße aus München, wo die Straßen naß sind.".encode("cp1252"),
    "odd \udc80\n\u202e name.txt": b"The name is odd.",
}
MANY = b"a,b\n" + b"1,some words that stand in a row\n" * 40_000


@pytest.fixture(scope="module", params=["in this process", "in one of its own"])
def files(request: pytest.FixtureRequest) -> Iterator[FileReading]:
    reading: FileReading = InProcessReading() if request.param == "in this process" else ProcessReading(1)
    yield reading
    reading.close()
    reading.close()


def text_of(read: ReadText) -> str:
    return read.text_path.read_bytes().decode("utf-8")


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("on_disk", [False, True])
def test_text_and_places_lie_in_the_folder(files: FileReading, tmp_path: Path, name: str, on_disk: bool) -> None:
    folder, source = tmp_path / "out", tmp_path / "source"
    folder.mkdir()
    source.write_bytes(GOOD[name])
    wanted = read_file(SourceFile(name, GOOD[name]))
    read = files.read(SourceFile(name, source if on_disk else GOOD[name]), folder)
    assert set(folder.iterdir()) == {read.text_path, read.sections_path}
    assert text_of(read) == wanted.text
    assert tuple(read_sections(read.sections_path)) == wanted.sections
    assert read.facts == wanted.facts
    assert (read.n_chars, read.n_sections) == (len(wanted.text), len(wanted.sections))
    assert read.text_sha256 == hashlib.sha256(wanted.text.encode()).hexdigest()
    assert read.n_unreadable == (1 if name == "a.txt" else 0)
    assert source.read_bytes() == GOOD[name]


def test_what_a_person_chose_holds(files: FileReading, tmp_path: Path) -> None:
    chosen = ReadOptions("utf-8", ";", ("note",), "", "id", ("text",))
    read = files.read(SourceFile("rows.csv", GOOD["rows.csv"]), tmp_path, Reading(chosen))
    first = next(read_sections(read.sections_path))
    assert text_of(read).startswith("n0")
    assert (first.record_id, first.title) == ("r0", "")
    assert first.metadata == (("text", "The weir of yard 0 is shut."),)
    old = files.read(SourceFile("old.txt", GOOD["old.txt"]), tmp_path, Reading(ReadOptions("cp1251")))
    assert (old.facts.encoding, "Grüße" in text_of(old)) == ("cp1251", False)


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n", b"%PDF-1.4\nbroken", b"PK\x03\x04broken", bytes(50)])
def test_a_file_without_text_is_refused_and_leaves_nothing(files: FileReading, tmp_path: Path, data: bytes) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"of another file")
    with pytest.raises(UnreadableFile) as caught:
        files.read(SourceFile("a.pdf", data), tmp_path)
    assert caught.value.message
    assert caught.value.hint
    assert list(tmp_path.iterdir()) == [other]


def test_limits_hold(files: FileReading, tmp_path: Path) -> None:
    limits = replace(DEFAULT_LIMITS, max_records=20, max_pages=2)
    for name in ("rows.csv", "pages.pdf"):
        with pytest.raises(UnreadableFile, match="RAGDUEL_MAX_"):
            files.read(SourceFile(name, GOOD[name]), tmp_path, Reading(limits=limits))
    assert list(tmp_path.iterdir()) == []


def test_a_stop_is_heard_and_leaves_nothing(files: FileReading, tmp_path: Path) -> None:
    def stop() -> None:
        raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        files.read(SourceFile("many.csv", MANY), tmp_path, Reading(check=stop))
    with pytest.raises(CancelledError):
        files.unpack(SourceFile("a.zip", zipped({"a.txt": b"x"})), tmp_path, Reading(check=stop))
    assert list(tmp_path.iterdir()) == []
    assert text_of(files.read(SourceFile("a.txt", b"Goes on."), tmp_path)) == "Goes on."


def test_progress_is_told(files: FileReading, tmp_path: Path) -> None:
    steps: list[tuple[str, int, int]] = []
    files.read(SourceFile("many.csv", MANY), tmp_path, Reading(step=lambda *step: steps.append(step)))
    assert len(steps) > 1
    assert [done for _, done, _ in steps] == sorted({done for _, done, _ in steps})
    assert {word for word, _, _ in steps} == {"row"}


def test_archives_give_their_files(files: FileReading, tmp_path: Path) -> None:
    inner = zipped({"d.txt": b"deep"})
    data = zipped({"a.txt": b"one", "../b/c.md": b"# two", ".DS_Store": b"x", "in.zip": inner, "e.docx": b"PK\x03\x04"})
    found = files.unpack(SourceFile("x.zip", data), tmp_path)
    assert found is not None
    contents = {file.name: file.data for file in found.files}
    assert contents == {
        "x.zip/a.txt": b"one", "x.zip/b/c.md": b"# two", "x.zip/in.zip/d.txt": b"deep", "x.zip/e.docx": b"PK\x03\x04",
    }  # fmt: skip
    assert set(tmp_path.iterdir()) == {file.content for file in found.files}
    assert [item.file for item in found.skipped] == ["x.zip/.DS_Store"]
    assert text_of(files.read(found.files[0], tmp_path)) == "one"


@pytest.mark.parametrize("name", ["a.txt", "report.docx", "rows.csv"])
def test_other_files_are_no_archives(files: FileReading, tmp_path: Path, name: str) -> None:
    assert files.unpack(SourceFile(name, GOOD[name]), tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_a_bomb_is_refused_and_leaves_nothing(files: FileReading, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="RAGDUEL_MAX_ARCHIVE_RATIO"):
        files.unpack(SourceFile("x.zip", zipped({"a.txt": b"x", "b.txt": bytes(5_000_000)})), tmp_path)
    assert list(tmp_path.iterdir()) == []
