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
from backend.corpus.readers import read_file
from backend.corpus.readers.archive import unpack
from backend.corpus.reading import ProcessReading
from backend.errors import InputError
from backend.store import Database, FileStore
from tests.conftest import shared_path
from tests.unit.corpus.made import docx_bytes, pdf_bytes
from tests.unit.corpus.made_office import notebook_bytes, odf_bytes, pptx_bytes, shape, slide, zipped

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
        if any(word in error.message for word in ("its reader", "memory", "longer than")):
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


MAIL = (
    b"From: a@b.c\nTo: d@e.f\nSubject: =?utf-8?B?w6k=?=\nMIME-Version: 1.0\n"
    b'Content-Type: multipart/mixed; boundary="xx"\n\n--xx\nContent-Type: text/plain; charset=utf-8\n'
    b"Content-Transfer-Encoding: quoted-printable\n\nHello =C3=A9\n--xx\nContent-Type: text/html\n\n<p>hi</p>\n--xx\n"
    b"Content-Disposition: attachment; filename*=utf-8''a%20b.txt\nContent-Transfer-Encoding: base64\n\n"
    b"aGVsbG8=\n--xx--\n"
)
SEEDS = {
    "a.rtf": rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 A;}}{\info{\title T}} Hi \b x\b0 "
    rb"\'e9 \u233? \par\trowd\cell a\row \bin4 abcd}",
    "a.json": b'[{"_id": 1, "title": "t", "text": "some text", "n": {"x": [1, 2.5, null]}}, {"text": "more"}]',
    "a.jsonl": b'{"_id": 1, "title": "t", "text": "some text"}\n{"_id": 2, "text": "\\ud83d"}\n',
    "a.csv": b'id;title;text\n1;"a ""q"" b";"x; y\nz"\n2;b;c\n3;d;e,f\n',
    "a.md": b"---\ntitle: x\n---\n# A\n\ntext *b* [l](u)\n\n## B\n\n```\ncode\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "a.vtt": b"WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.000\n<v Bob>Hi <i>you</i>\n\n"
    b"NOTE x\n\n00:01.000 --> 00:02.000\nyo\n",
    "a.html": b"<?xml version='1.0'?><html><title>T</title><h1>A</h1><p>x</p>"
    b"<table><tr><th>a<td>b</table><pre>z</pre></html>",
    "a.ipynb": notebook_bytes(
        {"cell_type": "markdown", "source": ["# A"]}, {"cell_type": "code", "source": "1", "outputs": []}
    ),
    "a.eml": MAIL,
    "a.mbox": b"From a@b Mon Jan 1\nFrom: a@b\nSubject: x\n\nhi\n\nFrom c@d Mon Jan 1\nFrom: c@d\nSubject: y\n\nyo\n",
    "a.pdf": pdf_bytes(["One.", "", "Three."]),
    "a.docx": docx_bytes("One.", "Two."),
    "a.pptx": pptx_bytes([slide(shape("Title", kind="title"), shape("b", "c"))]),
    "a.odt": odf_bytes("<text:h text:outline-level='1'>H</text:h><text:p>x<text:s text:c='3'/>y</text:p>"),
    "a.zip": zipped({"a.txt": b"x", "d/b.csv": b"a,b\n1,2\n", "in.zip": zipped({"c.md": b"# C"})}),
}
WORDS = (
    b"<", b">", b"&", b'"', b"\0", b"\xff", b"\r\n", b"99999999999999999999", b"-1", b"1e999", b"\\", b"{", b"}", b"[",
    b"]", b"(", b")", b"<<", b">>", b"\xed\xa0\x80", b"&#x110000;", b"<!DOCTYPE a [<!ENTITY x 'y'>]>", b"]]>",
    b"\\bin9999999", b"\\u-99999", b"=?x?Q?=FF?=", b"charset=idna", b"charset=rot13", b"--xx", b"\xef\xbb\xbf",
    b"\x1b$B", b"\xe2\x80\xa8",
)  # fmt: skip
Change = tuple[float, int, bytes]  # where, how many bytes go, what comes instead
changes = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from((0, 1, 5, 100)), st.sampled_from(WORDS) | st.binary(max_size=3)),
    min_size=1, max_size=8,
)  # fmt: skip


def changed(data: bytes, wanted: list[Change]) -> bytes:
    """The file with a few bytes changed; of a package, those of one part, so that its checksums hold."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        name = list(parts)[int(wanted[0][0] * (len(parts) - 1))]
        return zipped(
            {**parts, name: changed(parts[name], wanted[1:])} if wanted[1:] else dict(list(parts.items())[1:])
        )
    for place, n_bytes, new in wanted:
        at = int(place * len(data))
        data = data[:at] + new + data[at + n_bytes :]
    return data


@settings(max_examples=400, deadline=10_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(list(SEEDS)), changes, st.sampled_from(["", *SUFFIXES]))
def test_small_files_of_every_kind_changed_in_places(
    tmp_path: Path, name: str, wanted: list[Change], other_suffix: str
) -> None:
    file = SourceFile(f"a.{other_suffix}" if other_suffix else name, changed(SEEDS[name], wanted))
    refusal: UnreadableFile | None = None
    try:
        unpack(file, tmp_path, QUICK)
        document = read_file(file, QUICK)
    except UnreadableFile as error:
        refusal = error
    if refusal is not None:
        assert refusal.message
        assert refusal.hint
        return
    assert document.text.strip()
    document.text.encode("utf-8")
    ends = [(section.start, section.end) for section in document.sections]
    assert ends == sorted(ends)
    assert all(0 <= start <= end <= len(document.text) for start, end in ends)


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
