"""Readers: one small file each behind ``DocumentReader``; the first that accepts a file reads it."""

from backend.corpus.files import (
    UNWATCHED,
    DocumentReader,
    FileFacts,
    ParsedDocument,
    Reading,
    SourceFile,
    TextSink,
    UnreadableFile,
)
from backend.corpus.readers.csv_rows import CsvReader
from backend.corpus.readers.docx import DocxReader
from backend.corpus.readers.eml import EmailReader
from backend.corpus.readers.epub import EpubReader
from backend.corpus.readers.formats import FORMATS_READ, refuse_unread
from backend.corpus.readers.html import HtmlReader
from backend.corpus.readers.ipynb import NotebookReader
from backend.corpus.readers.json_rows import JsonReader
from backend.corpus.readers.markdown import MarkdownReader
from backend.corpus.readers.odt import OpenDocumentReader
from backend.corpus.readers.pdf import PdfReader
from backend.corpus.readers.plain import PlainTextReader
from backend.corpus.readers.pptx import PptxReader
from backend.corpus.readers.rtf import RtfReader
from backend.corpus.readers.srt import SubtitleReader
from backend.corpus.readers.xlsx import XlsxReader
from backend.corpus.text import TextBuilder

__all__ = [
    "FORMATS_READ", "READERS", "CsvReader", "DocxReader", "EmailReader", "EpubReader", "HtmlReader", "JsonReader",
    "MarkdownReader", "NotebookReader", "OpenDocumentReader", "PdfReader", "PlainTextReader", "PptxReader", "RtfReader",
    "SubtitleReader", "XlsxReader", "is_text_like", "read_file", "read_into",
]  # fmt: skip

READERS: tuple[DocumentReader, ...] = (
    PdfReader(),
    DocxReader(),
    PptxReader(),
    XlsxReader(),
    OpenDocumentReader(),
    EpubReader(),
    RtfReader(),
    HtmlReader(),
    SubtitleReader(),
    NotebookReader(),
    JsonReader(),
    EmailReader(),
    CsvReader(),
    MarkdownReader(),
    PlainTextReader(),
)
"""In order: those that tell their kind by content before those that go by the name."""


def read_into(file: SourceFile, out: TextSink, reading: Reading = UNWATCHED) -> FileFacts:
    """Read a file with the first reader that accepts it.

    Raises:
        UnreadableFile: It gives no text; the message says why, the hint what to do.
        CancelledError: From ``reading.check``, which is called between the parts of a long file.
    """
    refuse_unread(file)
    reader = next(reader for reader in READERS if reader.accepts(file))
    return reader.read(file, out, reading)


def is_text_like(file: SourceFile) -> bool:
    """Whether the first lines of a file are a file of the same kind: plain text, Markdown, tables, JSON lines."""
    try:
        refuse_unread(file)
    except UnreadableFile:
        return False
    reader = next(reader for reader in READERS if reader.accepts(file))
    return isinstance(reader, CsvReader | JsonReader | MarkdownReader | PlainTextReader)


def read_file(file: SourceFile, reading: Reading = UNWATCHED) -> ParsedDocument:
    """As ``read_into``, with the text in memory: for small files, previews and tests."""
    out = TextBuilder()
    facts = read_into(file, out, reading)
    out.finish()
    return ParsedDocument(out.text, facts, out.sections)
