"""Office documents, books, messages and notebooks made to take time or memory: bounded, and refused in clear words."""

from __future__ import annotations

import io
import re
import tracemalloc
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.corpus.files import Reading, ReadLimits, SourceFile, UnreadableFile
from backend.corpus.readers import read_file
from backend.corpus.readers.packages import package_kind
from tests.unit.corpus.made import docx_bytes
from tests.unit.corpus.made_office import (
    cell,
    cue,
    epub_bytes,
    notebook_bytes,
    odf_bytes,
    pptx_bytes,
    row_of,
    shape,
    sheet,
    slide,
    with_parts,
    xlsx_bytes,
    zipped,
)
from tests.unit.corpus.test_readers import read, refusal

PACKAGES: dict[str, tuple[Callable[[], bytes], str]] = {
    "docx": (lambda: docx_bytes("Inside."), "word/document.xml"),
    "pptx": (lambda: pptx_bytes([slide(shape("Inside."))]), "ppt/presentation.xml"),
    "xlsx": (lambda: xlsx_bytes({"A": sheet(row_of(1, "Inside."))}), "xl/workbook.xml"),
    "odt": (lambda: odf_bytes("<text:p>Inside.</text:p>"), "content.xml"),
    "epub": (lambda: epub_bytes({"c.xhtml": "<p>Inside.</p>"}), "OPS/book.opf"),
}


@pytest.fixture(params=PACKAGES)
def package(request: pytest.FixtureRequest) -> tuple[str, bytes, str]:
    make, main = PACKAGES[request.param]
    return f"a.{request.param}", make(), main


def peak_bytes(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_main_part_that_unpacks_without_end_is_refused_before_it_is_unpacked(package: tuple[str, bytes, str]) -> None:
    name, data, main = package
    bomb = with_parts(data, {main: b" " * 33_000_000})
    assert len(bomb) < 100_000
    said = [""]
    assert peak_bytes(lambda: said.append(refusal(name, bomb))) < 5_000_000
    assert f"{main} unpacks to 33 MB, the most is 32 MB" in said[-1]


def test_tags_are_counted_before_they_are_parsed(package: tuple[str, bytes, str]) -> None:
    name, data, main = package
    assert "3,000,000 tags and attributes" in refusal(name, with_parts(data, {main: b"<a>" * 3_000_001}))


def test_entities_are_not_expanded(package: tuple[str, bytes, str]) -> None:
    name, data, main = package
    laughs = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        xml = re.sub(r"^<\?xml.*?\?>", "", archive.read(main).decode()).lstrip()
    xml = f'<!DOCTYPE d [<!ENTITY e0 "ha"><!ENTITY f SYSTEM "file:///etc/hostname">{laughs}]>{xml}'
    xml = xml.replace("Inside.", "&e9;&f;")
    try:
        text = read_file(SourceFile(name, with_parts(data, {main: xml}))).text
    except UnreadableFile:
        return
    assert "hahaha" not in text
    assert len(text) < 100


def test_deep_nesting_other_packing_passwords_and_damage_are_refused(package: tuple[str, bytes, str]) -> None:
    name, data, main = package
    assert "broken" in refusal(name, with_parts(data, {main: b"<a>" * 100_000}))
    assert "broken" in refusal(name, with_parts(data, {main: b"\xff\xfe\x00"}))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {at: archive.read(at) for at in archive.namelist()}
    assert "inside, whatever its name" in refusal(name, zipped(parts, zipfile.ZIP_BZIP2))
    locked = bytearray(zipped(parts, zipfile.ZIP_STORED))
    for head, flags_at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := locked.find(head, at + 1)) >= 0:
            locked[at + flags_at] |= 1
    assert "password" in refusal(name, bytes(locked))
    flipped = bytearray(zipped(parts, zipfile.ZIP_STORED))
    flipped[flipped.index(parts[main]) + len(parts[main]) // 2] ^= 0xFF
    assert refusal(name, bytes(flipped))


@settings(max_examples=150, deadline=2_000)
@given(
    kind=st.sampled_from(sorted(PACKAGES)),
    which=st.integers(0, 30),
    at=st.floats(0, 1, exclude_max=True),
    piece=st.one_of(
        st.binary(max_size=30), st.sampled_from([b"<", b"/>", b"&x;", b'"', b"999999999999", b"\x00", b""])
    ),
    length=st.integers(0, 60),
)
def test_damaged_parts_are_read_or_refused_never_a_crash(
    kind: str, which: int, at: float, piece: bytes, length: int
) -> None:
    data = PACKAGES[kind][0]()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        name = names[which % len(names)]
        part = archive.read(name)
    start = int(at * len(part))
    damaged = with_parts(data, {name: part[:start] + piece + part[start + length :]})
    try:
        assert read_file(SourceFile(f"a.{kind}", damaged)).text.strip()
    except UnreadableFile as error:
        assert error.message  # noqa: PT017


def test_many_parts_together_unpack_to_so_much_and_no_more() -> None:
    blank = sheet(" " * 12_000_000)
    book = xlsx_bytes({"A": blank, "B": blank, "C": blank})
    with pytest.raises(UnreadableFile, match="unpacks to more than 32 MB"):
        read_file(SourceFile("a.xlsx", book), Reading(limits=ReadLimits(max_file_bytes=10_000_000)))


def test_archives_that_hold_documents_are_none() -> None:
    assert package_kind({"word.docx", "content.xml"}) == ""
    assert package_kind({"a/word/document.xml"}) == ""
    assert package_kind({"content.xml", "mimetype"}) == "odf"


# ── sheets ──


def test_two_cells_far_apart_cost_two_cells() -> None:
    far = '<row r="1048576">' + cell("XFD1048576", "2") + "</row>"
    data = xlsx_bytes({"A": sheet(row_of(1, "one"), far)})
    assert peak_bytes(lambda: read("a.xlsx", data)) < 3_000_000
    assert read("a.xlsx", data).text == "one\n2"


def test_a_sheet_with_a_document_type_and_cells_beyond_a_sheet_are_refused() -> None:
    laughs = '<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
    assert "document type" in refusal("a.xlsx", xlsx_bytes({"A": laughs + sheet(row_of(1, "&b;"))}))
    assert "beyond what a sheet can hold" in refusal("a.xlsx", xlsx_bytes({"A": sheet(cell("ZZZ1", "1"))}))


def test_a_large_sheet_is_not_held_in_memory() -> None:
    rows = "".join(row_of(n, f"name {n}", "some words of a cell " * 4) for n in range(1, 8_001))
    data = xlsx_bytes({"A": sheet(rows)})

    class Nowhere(io.StringIO):
        def write(self, text: str, /) -> int:
            return len(text)

    from backend.corpus.files import UNWATCHED
    from backend.corpus.readers import XlsxReader
    from backend.corpus.text import TextBuilder

    out = TextBuilder(Nowhere(), lambda _section: None)
    assert peak_bytes(lambda: XlsxReader().read(SourceFile("a.xlsx", data), out, UNWATCHED)) < 6_000_000
    assert out.n_chars > 600_000


def test_cells_that_ask_to_be_repeated_without_end_are_repeated_a_few_times() -> None:
    row = (
        '<table:table-row table:number-rows-repeated="1000000"><table:table-cell '
        'table:number-columns-repeated="16000"><text:p>filler</text:p></table:table-cell></table:table-row>'
    )
    data = odf_bytes(f'<table:table table:name="A">{row * 20}</table:table>', "spreadsheet")
    document = read("a.ods", data)
    assert len(document.text) < 2_000_000
    assert document.warnings[-1] == "cells that are repeated many times over were read fewer times"


# ── the others ──


def test_blanks_of_a_line_of_opendocument_are_bounded() -> None:
    text = read("a.odt", odf_bytes('<text:p>a<text:s text:c="99999999"/>b</text:p>')).text
    assert text == "a" + " " * 100 + "b"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.rtf", b"{\\rtf1 " + b"\\u8364?" * 200_000 + b"}"),
        ("a.rtf", b"{\\rtf1 " + b"\\" * 200_000 + b"words}"),
        ("a.rtf", b"{\\rtf1 " + b"{}" * 200_000 + b"words}"),
        ("a.rtf", b"{\\rtf1 words" + b"\\footnote" * 50_000),
        ("a.rtf", b"{\\rtf1 \\bin99999999 words}"),
        ("a.srt", cue(1, "00:00:01", "<" * 100_000).encode()),
        ("a.srt", cue(1, "00:00:01", "{\\an" * 30_000 + "words").encode()),
        ("a.srt", b"1\n" * 200_000),
        ("a.vtt", b"WEBVTT\n\n00:01.000 --> 00:02.000\n" + b"<v " * 60_000 + b"words\n"),
        ("a.eml", b"From: a\nTo: b\nSubject: " + b"=?utf-8?q?" * 50_000 + b"\n\nwords\n"),
        ("a.eml", b"From: a\nTo: b\nSubject: c\n" + b"X: y\n" * 100_000 + b"\nwords\n"),
        ("a.eml", b"From: a\nTo: b\nContent-Type: multipart/mixed; boundary=q\n\n" + b"--q\n\nx\n" * 20_000),
        ("a.ipynb", notebook_bytes({"cell_type": "markdown", "source": "`" * 300_000})),
        ("a.ipynb", notebook_bytes({"cell_type": "code", "source": "x", "outputs": [{"text": "\x1b[" * 100_000}]})),
        ("a.epub", epub_bytes({"c.xhtml": "<a " * 100_000 + "words"})),
    ],
    ids=lambda value: value if isinstance(value, str) else str(len(value)),
)
def test_it_comes_to_an_end_soon(name: str, data: bytes) -> None:
    import time

    before = time.process_time()
    try:
        read(name, data)
    except UnreadableFile as error:
        assert error.message  # noqa: PT017
    assert time.process_time() - before < 5


def test_a_notebook_has_a_largest_size_and_most_brackets() -> None:
    assert "2,000,000 brackets" in refusal("a.ipynb", b'{"cells": [' + b"[]," * 2_000_000 + b"[]]}")


def test_a_stop_is_heard_inside_files_of_every_kind() -> None:
    many = [
        SourceFile("a.pptx", pptx_bytes([slide(shape("x"))] * 30)),
        SourceFile("a.xlsx", xlsx_bytes({"A": sheet(*(row_of(n, "x") for n in range(1, 20_001)))})),
        SourceFile("a.odt", odf_bytes("<text:p>x</text:p>" * 6_000)),
        SourceFile("a.epub", epub_bytes({f"c{n}.xhtml": "<p>x</p>" for n in range(30)})),
        SourceFile("a.rtf", b"{\\rtf1 " + b"x\\par " * 300_000 + b"}"),
        SourceFile("a.srt", "".join(cue(n, "00:00:01", "x") for n in range(6_000)).encode()),
        SourceFile("a.ipynb", notebook_bytes(*[{"cell_type": "markdown", "source": "x"}] * 30)),
    ]
    for source in many:
        calls: list[int] = []
        read_file(source, Reading(check=lambda calls=calls: calls.append(1)))  # type: ignore[misc]
        assert 5 <= len(calls) <= 120, source.name
