"""DocumentReader: what every reader must do, whatever it reads."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.corpus.files import UNWATCHED, DocumentReader, ParsedDocument, Reading, SourceFile, UnreadableFile
from backend.corpus.readers import (
    READERS,
    CsvReader,
    DocxReader,
    EmailReader,
    EpubReader,
    HtmlReader,
    JsonReader,
    MarkdownReader,
    NotebookReader,
    OpenDocumentReader,
    PdfReader,
    PlainTextReader,
    PptxReader,
    RtfReader,
    SubtitleReader,
    XlsxReader,
    read_file,
)
from backend.corpus.text import TextBuilder
from backend.errors import CancelledError
from tests.unit.corpus.made import docx_bytes, pdf_bytes
from tests.unit.corpus.made_office import (
    cue,
    epub_bytes,
    notebook_bytes,
    odf_bytes,
    pptx_bytes,
    row_of,
    shape,
    sheet,
    slide,
    xlsx_bytes,
)

FACT = "The sluice key hangs by the door."

GOOD: dict[type, Callable[[], SourceFile]] = {
    PdfReader: lambda: SourceFile("a.pdf", pdf_bytes([FACT])),
    DocxReader: lambda: SourceFile("a.docx", docx_bytes(FACT)),
    PptxReader: lambda: SourceFile("a.pptx", pptx_bytes([slide(shape(FACT))])),
    XlsxReader: lambda: SourceFile("a.xlsx", xlsx_bytes({"Keys": sheet(row_of(1, "text"), row_of(2, FACT))})),
    OpenDocumentReader: lambda: SourceFile("a.odt", odf_bytes(f"<text:h>Keys</text:h><text:p>{FACT}</text:p>")),
    EpubReader: lambda: SourceFile("a.epub", epub_bytes({"c.xhtml": f"<h1>Keys</h1><p>{FACT}</p>"})),
    RtfReader: lambda: SourceFile("a.rtf", f"{{\\rtf1\\ansi\\outlinelevel0 Keys\\par\\pard {FACT}\\par}}".encode()),
    EmailReader: lambda: SourceFile("a.eml", f"From: a@b.c\nTo: d@e.f\nSubject: Keys\n\n{FACT}\n".encode()),
    NotebookReader: lambda: SourceFile("a.ipynb", notebook_bytes({"cell_type": "markdown", "source": FACT})),
    SubtitleReader: lambda: SourceFile("a.srt", cue(1, "00:00:01", FACT).encode()),
    HtmlReader: lambda: SourceFile("a.html", f"<html><body><h1>Keys</h1><p>{FACT}</p></body></html>".encode()),
    JsonReader: lambda: SourceFile("a.jsonl", f'{{"text": "{FACT}"}}\n'.encode()),
    CsvReader: lambda: SourceFile("a.csv", f"id,text\n1,{FACT}\n".encode()),
    MarkdownReader: lambda: SourceFile("a.md", f"# Keys\n\n{FACT}\n".encode()),
    PlainTextReader: lambda: SourceFile("a.txt", FACT.encode()),
}
BLANK: dict[type, Callable[[], SourceFile]] = {
    PdfReader: lambda: SourceFile("a.pdf", pdf_bytes([""])),
    DocxReader: lambda: SourceFile("a.docx", docx_bytes("   ")),
    PptxReader: lambda: SourceFile("a.pptx", pptx_bytes([slide(shape(" "))])),
    XlsxReader: lambda: SourceFile("a.xlsx", xlsx_bytes({"Keys": sheet(row_of(1, " "))})),
    OpenDocumentReader: lambda: SourceFile("a.odt", odf_bytes("<text:h> </text:h><text:p/>")),
    EpubReader: lambda: SourceFile("a.epub", epub_bytes({"c.xhtml": "<p> </p>"})),
    RtfReader: lambda: SourceFile("a.rtf", rb"{\rtf1\ansi \par  \par}"),
    EmailReader: lambda: SourceFile("a.eml", b"From: a@b.c\nTo: d@e.f\nDate: today\n\n \n"),
    NotebookReader: lambda: SourceFile("a.ipynb", notebook_bytes({"cell_type": "markdown", "source": " "})),
    SubtitleReader: lambda: SourceFile("a.srt", cue(1, "00:00:01", " ").encode()),
    HtmlReader: lambda: SourceFile("a.html", b"<html><script>var x = 1</script><body> </body></html>"),
    JsonReader: lambda: SourceFile("a.jsonl", b'{"text": ""}\n{"text": "  "}\n'),
    CsvReader: lambda: SourceFile("a.csv", b'id,text\n1,\n2,"  "\n'),
    MarkdownReader: lambda: SourceFile("a.md", b"\n \n\t\n"),
    PlainTextReader: lambda: SourceFile("a.txt", b"\n \n\t\n"),
}


def read(reader: DocumentReader, file: SourceFile, reading: Reading = UNWATCHED) -> ParsedDocument:
    """What this very reader makes of a file."""
    out = TextBuilder()
    facts = reader.read(file, out, reading)
    out.finish()
    return ParsedDocument(out.text, facts, out.sections)


@pytest.fixture(params=READERS, ids=lambda reader: type(reader).__name__)
def reader(request: pytest.FixtureRequest) -> DocumentReader:
    return request.param


def test_it_accepts_and_reads_its_kind(reader: DocumentReader) -> None:
    file = GOOD[type(reader)]()
    assert reader.accepts(file)
    document = read(reader, file)
    assert FACT in document.text
    assert document.media_type == reader.media_type


def test_the_list_of_readers_picks_it(reader: DocumentReader) -> None:
    assert read_file(GOOD[type(reader)]()).media_type == reader.media_type


def test_a_file_on_disk_is_read_like_one_in_memory(reader: DocumentReader, tmp_path: Path) -> None:
    file = GOOD[type(reader)]()
    path = tmp_path / "0"  # on disk files lie under names of our own
    path.write_bytes(file.data)
    assert read(reader, SourceFile(file.name, path)) == read(reader, file)


def test_sections_lie_in_the_text_in_order_and_begin_with_words(reader: DocumentReader) -> None:
    document = read(reader, GOOD[type(reader)]())
    previous = 0
    for section in document.sections:
        assert previous <= section.start < section.end <= len(document.text)
        assert not document.text[section.start].isspace()
        assert section.place
        previous = section.end


def test_reading_twice_gives_the_same(reader: DocumentReader) -> None:
    file = GOOD[type(reader)]()
    assert read(reader, file) == read(reader, file)


def test_a_file_without_text_is_refused_with_a_reason(reader: DocumentReader) -> None:
    with pytest.raises(UnreadableFile) as caught:
        read(reader, BLANK[type(reader)]())
    assert "no text" in caught.value.message


def test_no_bytes_are_refused_with_a_reason(reader: DocumentReader) -> None:
    with pytest.raises(UnreadableFile, match="0 bytes"):
        read_file(SourceFile(GOOD[type(reader)]().name, b""))


def test_it_stops_when_somebody_stops_the_work(reader: DocumentReader) -> None:
    def stop() -> None:
        raise CancelledError("The work on the corpus was stopped.")

    with pytest.raises(CancelledError):
        read(reader, GOOD[type(reader)](), Reading(check=stop))


def test_steps_count_up_to_their_total(reader: DocumentReader) -> None:
    told: list[tuple[str, int, int]] = []
    read(reader, GOOD[type(reader)](), Reading(step=lambda *step: told.append(step)))
    for word, done, total in told:
        assert word
        assert 0 <= done <= total or total == 0


def test_a_torn_file_is_read_or_refused_never_a_crash(reader: DocumentReader) -> None:
    whole = GOOD[type(reader)]()
    data = whole.data
    for cut in range(1, len(data), max(1, len(data) // 40)):
        assert read_or_refused(SourceFile(whole.name, data[:cut]))


@settings(max_examples=25, deadline=2_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    at=st.floats(0, 1, exclude_max=True),
    piece=st.one_of(
        st.binary(max_size=40), st.sampled_from([b"<", b"\x00" * 9, b"]]>", b"{{{{", b'"', b"\xff\xfe", b"&a;"])
    ),
    length=st.integers(0, 40),
)
def test_a_damaged_file_is_read_or_refused_never_a_crash(
    reader: DocumentReader, at: float, piece: bytes, length: int
) -> None:
    whole = GOOD[type(reader)]()
    data = whole.data
    start = int(at * len(data))
    assert read_or_refused(SourceFile(whole.name, data[:start] + piece + data[start + length :]))


@settings(max_examples=25, deadline=2_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=400))
def test_random_bytes_under_its_name_are_read_or_refused_never_a_crash(reader: DocumentReader, data: bytes) -> None:
    good = GOOD[type(reader)]()
    assert read_or_refused(SourceFile(good.name, data))
    assert read_or_refused(SourceFile(good.name, good.data[:8] + data))


def read_or_refused(file: SourceFile) -> bool:
    """Whether a file gives text, or a reason why it gives none; anything else that it raises fails the test."""
    try:
        return bool(read_file(file).text.strip())
    except UnreadableFile as error:
        return bool(error.message)


def test_binary_data_under_its_name_is_refused(reader: DocumentReader) -> None:
    noise = io.BytesIO(bytes(range(256)) * 8).getvalue()
    with pytest.raises(UnreadableFile):
        read_file(SourceFile(GOOD[type(reader)]().name, noise))


def test_the_text_can_be_stored_anywhere(reader: DocumentReader) -> None:
    text = read(reader, GOOD[type(reader)]()).text
    assert text.encode("utf-8")
    assert not any(char < " " and char not in "\n\t" for char in text)
