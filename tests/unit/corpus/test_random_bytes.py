"""Random bytes under every extension: never more than a file that can't be read, never past the time limit."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.corpus import CorpusLibrary, ReadOptions, SourceFile, UnreadableFile
from backend.corpus.files import DEFAULT_LIMITS, Reading
from backend.corpus.reading import ProcessReading
from backend.errors import InputError
from backend.store import Database, FileStore
from tests.conftest import shared_path

SUFFIXES = (
    "pdf", "docx", "doc", "pptx", "ppt", "xlsx", "xls", "odt", "ods", "odp", "rtf", "epub", "html", "htm", "md", "txt",
    "csv", "tsv", "tab", "json", "jsonl", "ndjson", "eml", "mbox", "mht", "ipynb", "srt", "vtt", "zip", "tar", "gz",
    "bz2", "xz", "7z", "rar", "png", "bin", "py", "xml", "yaml", "log",
)  # fmt: skip
HEADS = (
    b"", b"%PDF-1.7\n", b"%PDF-1.4\n%\xe2\xe3\n", b"PK\x03\x04", b"{\\rtf1\\ansi ", b"<html><body>", b"WEBVTT\n\n",
    b"From: a@b\nSubject: x\n\n", b'{"cells": [', b"1\n00:00:01,000 --> 00:00:02,000\n", b"\x1f\x8b\x08\x00", b"[",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\xef\xbb\xbf", b"\xff\xfe", b"\x00\x00\xfe\xff", b"a,b\n1,2\n",
    b'{"text": "x"}\n',
)  # fmt: skip
QUICK = Reading(limits=replace(DEFAULT_LIMITS, max_seconds=10))
LIMIT_S = 12  # the limit, and the time to notice it


@pytest.fixture(scope="module")
def reading() -> Iterator[ProcessReading]:
    reading = ProcessReading(n_processes=1)
    yield reading
    reading.close()


def package(names: list[str], content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, content)
    return packed.getvalue()


packages = st.builds(
    package,
    st.lists(
        st.sampled_from(
            [
                "word/document.xml", "[Content_Types].xml", "_rels/.rels", "ppt/presentation.xml", "xl/workbook.xml",
                "xl/worksheets/sheet1.xml", "content.xml", "mimetype", "META-INF/container.xml", "a.txt", "b/c.csv",
            ]
        ),
        min_size=1, max_size=5, unique=True,
    ),
    st.binary(max_size=200) | st.text(alphabet="<>/=\"' abcw:tp&;[]!-?", max_size=200).map(str.encode),
)  # fmt: skip
contents = st.one_of(
    st.tuples(st.sampled_from(HEADS), st.binary(max_size=800)).map(b"".join),
    st.tuples(st.sampled_from(HEADS), st.text(max_size=400)).map(lambda pair: pair[0] + pair[1].encode()),
    packages,
)


@contextmanager
def refusals() -> Iterator[None]:
    """A file may be refused; that its reader failed or crashed is a fault of ours."""
    try:
        yield
    except UnreadableFile as error:
        if any(word in error.message for word in ("its reader", "memory")):
            raise


def check(reading: ProcessReading, folder: Path, file: SourceFile, how: Reading = QUICK) -> None:
    began = time.monotonic()
    with refusals():
        opened = reading.unpack(file, folder, how)
        for inner in opened.files if opened else (file,):
            with refusals():
                read = reading.read(inner, folder, how)
                assert read.n_chars == len(read.text_path.read_text(encoding="utf-8", errors="surrogatepass"))
    assert time.monotonic() - began < LIMIT_S
    for path in folder.iterdir():
        path.unlink()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(SUFFIXES), contents)
def test_random_bytes_under_each_extension(
    reading: ProcessReading, tmp_path: Path, suffix: str, content: bytes
) -> None:
    check(reading, tmp_path, SourceFile(f"random.{suffix}", content))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(
        [
            "docx_tables.docx", "odt_plain.odt", "epub_small.epub", "notebook.ipynb", "csv_semicolon.csv",
            "pdf_corrupted_xref.pdf", "pptx_malformed.pptx", "html_cp1252.html", "srt_utf8_bom.srt", "txt_big5.txt",
        ]
    ),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=20),
    st.floats(0.1, 1),
)  # fmt: skip
def test_real_files_with_bytes_changed_and_ends_cut_off(
    reading: ProcessReading, tmp_path: Path, name: str, changes: list[tuple[float, int]], kept: float
) -> None:
    data = bytearray(shared_path("data", "files", name).read_bytes())
    for place, byte in changes:
        data[int(place * (len(data) - 1))] = byte
    check(reading, tmp_path, SourceFile(name, bytes(data[: int(len(data) * kept)])))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    contents,
    st.builds(
        ReadOptions,
        encoding=st.sampled_from(["", "utf-16", "cp1252", "shift_jis", "no-such", "utf-7", "idna", "rot13"]),
        delimiter=st.sampled_from(["", ";", "\t", "||", "\n", '"']),
        text_columns=st.lists(st.sampled_from(["a", "b", "text", "none"]), max_size=2).map(tuple),
        id_column=st.none() | st.sampled_from(["", "a"]),
    ),
    st.sampled_from(["csv", "jsonl", "txt", "md", "html"]),
)
def test_any_choice_of_a_person_is_read_or_refused(
    reading: ProcessReading, tmp_path: Path, content: bytes, options: ReadOptions, suffix: str
) -> None:
    check(reading, tmp_path, SourceFile(f"chosen.{suffix}", content), replace(QUICK, options=options))


def test_a_batch_of_every_extension_through_the_library(
    database: Database, files: FileStore, reading: ProcessReading
) -> None:
    noise = bytes(range(256)) * 3
    batch = [SourceFile(f"noise.{suffix}", noise) for suffix in SUFFIXES]
    library = CorpusLibrary(database, files, reading=reading)
    with pytest.raises(InputError) as caught:
        library.add("noise", batch)
    assert all(f"noise.{suffix}" in str(caught.value) for suffix in SUFFIXES)
    report = library.add("some", [*batch, SourceFile("good.txt", b"The keeper sleeps.")])
    assert (report.documents, len(report.skipped)) == (1, len(batch))
    assert all(item.reason for item in report.skipped)
