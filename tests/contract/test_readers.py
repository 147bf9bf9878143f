"""DocumentReader: what every reader must do, whatever it reads."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from backend.corpus import READERS, DocumentReader, SourceFile, UnreadableFile, read_file
from backend.corpus.readers import (
    CsvReader,
    DocxReader,
    HtmlReader,
    JsonReader,
    MarkdownReader,
    PdfReader,
    PlainTextReader,
)
from backend.errors import CancelledError
from tests.unit.corpus.made import docx_bytes, pdf_bytes

FACT = "The sluice key hangs by the door."

GOOD: dict[type, Callable[[], SourceFile]] = {
    PdfReader: lambda: SourceFile("a.pdf", pdf_bytes([FACT])),
    DocxReader: lambda: SourceFile("a.docx", docx_bytes(FACT)),
    HtmlReader: lambda: SourceFile("a.html", f"<html><body><h1>Keys</h1><p>{FACT}</p></body></html>".encode()),
    JsonReader: lambda: SourceFile("a.jsonl", f'{{"text": "{FACT}"}}\n'.encode()),
    CsvReader: lambda: SourceFile("a.csv", f"id,text\n1,{FACT}\n".encode()),
    MarkdownReader: lambda: SourceFile("a.md", f"# Keys\n\n{FACT}\n".encode()),
    PlainTextReader: lambda: SourceFile("a.txt", FACT.encode()),
}
BLANK: dict[type, Callable[[], SourceFile]] = {
    PdfReader: lambda: SourceFile("a.pdf", pdf_bytes([""])),
    DocxReader: lambda: SourceFile("a.docx", docx_bytes("   ")),
    HtmlReader: lambda: SourceFile("a.html", b"<html><script>var x = 1</script><body> </body></html>"),
    JsonReader: lambda: SourceFile("a.jsonl", b'{"text": ""}\n{"text": "  "}\n'),
    CsvReader: lambda: SourceFile("a.csv", b'id,text\n1,\n2,"  "\n'),
    MarkdownReader: lambda: SourceFile("a.md", b"\n \n\t\n"),
    PlainTextReader: lambda: SourceFile("a.txt", b"\n \n\t\n"),
}


@pytest.fixture(params=READERS, ids=lambda reader: type(reader).__name__)
def reader(request: pytest.FixtureRequest) -> DocumentReader:
    return request.param


def test_it_accepts_and_reads_its_kind(reader: DocumentReader) -> None:
    file = GOOD[type(reader)]()
    assert reader.accepts(file)
    document = reader.read(file)
    assert FACT in document.text
    assert document.media_type == reader.media_type


def test_the_list_of_readers_picks_it(reader: DocumentReader) -> None:
    assert read_file(GOOD[type(reader)]()).media_type == reader.media_type


def test_sections_lie_in_the_text_in_order_and_begin_with_words(reader: DocumentReader) -> None:
    document = reader.read(GOOD[type(reader)]())
    previous = 0
    for section in document.sections:
        assert previous <= section.start < section.end <= len(document.text)
        assert not document.text[section.start].isspace()
        assert section.place
        previous = section.end


def test_reading_twice_gives_the_same(reader: DocumentReader) -> None:
    file = GOOD[type(reader)]()
    assert reader.read(file) == reader.read(file)


def test_a_file_without_text_is_refused_with_a_reason(reader: DocumentReader) -> None:
    with pytest.raises(UnreadableFile) as caught:
        reader.read(BLANK[type(reader)]())
    assert "no text" in caught.value.message


def test_no_bytes_are_refused_with_a_reason(reader: DocumentReader) -> None:
    with pytest.raises(UnreadableFile, match="0 bytes"):
        read_file(SourceFile(GOOD[type(reader)]().name, b""))


def test_it_stops_when_somebody_stops_the_work(reader: DocumentReader) -> None:
    def stop() -> None:
        raise CancelledError("The work on the corpus was stopped.")

    with pytest.raises(CancelledError):
        reader.read(GOOD[type(reader)](), stop)


def test_a_torn_file_is_read_or_refused_never_a_crash(reader: DocumentReader) -> None:
    whole = GOOD[type(reader)]()
    for cut in range(1, len(whole.data), max(1, len(whole.data) // 40)):
        try:
            document = read_file(SourceFile(whole.name, whole.data[:cut]))
        except UnreadableFile as error:
            assert error.message  # noqa: PT017
            continue
        assert document.text.strip()


def test_binary_data_under_its_name_is_refused(reader: DocumentReader) -> None:
    noise = io.BytesIO(bytes(range(256)) * 8).getvalue()
    with pytest.raises(UnreadableFile):
        read_file(SourceFile(GOOD[type(reader)]().name, noise))


def test_the_text_can_be_stored_anywhere(reader: DocumentReader) -> None:
    text = reader.read(GOOD[type(reader)]()).text
    assert text.encode("utf-8")
    assert not any(char < " " and char not in "\n\t" for char in text)
