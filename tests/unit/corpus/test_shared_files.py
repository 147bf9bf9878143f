"""The awkward uploads of ../shared/data/files, each with what must become of it."""

from __future__ import annotations

import time

import pytest

from backend.corpus.files import ParsedDocument, SourceFile, UnreadableFile
from backend.corpus.readers import read_file
from tests.conftest import shared_path


def read(name: str) -> ParsedDocument:
    before = time.process_time()
    try:
        return read_file(SourceFile(name, shared_path("data", "files", name)))
    finally:
        assert time.process_time() - before < 10


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("csv_cp932_mskanji.csv", "髙橋淳"),
        ("csv_quoted_newlines_crlf.csv", "Once upon \na time"),
        ("csv_semicolon.csv", "Company: Rasmussen Group\nCity: East Leonard"),
        ("docx_disguised_as.doc", "All human beings are born free"),
        ("docx_strict_ooxml.docx", "Some text"),
        ("docx_tables.docx", "Header Col 1 | Header Col 2\nLorem ipsum | A link example"),
        ("docx_text_in_textboxes.docx", "24"),
        ("epub_small.epub", "Here's a second chapter with a different style."),
        ("gen_crlf_csv_bom_semicolon.csv", "Zeile 1\nZeile 2; mit Semikolon"),
        ("gen_nul_bytes.txt", "First part. Second part after NULs."),
        ("gen_prompt_injection.md", "IGNORE ALL PREVIOUS INSTRUCTIONS"),
        ("html_cp1252.html", "Die schöne Frau"),
        ("html_with_scripts.html", "Russian Offensive Campaign Assessment"),
        ("notebook.ipynb", "```python\n# comment in code\nprint(42)\n```\n\nOutput:\n```\n42\n```"),
        ("odt_plain.odt", "Lorem ipsum dolor sit amet.\n\nHeader row | Mon | Wed | Fri\nColor | Blue | Red | Green"),
        ("pdf_arabic_rtl.pdf", "حَبيبي habibi حَبيبي"),
        ("pdf_corrupted_xref.pdf", "Explicit is better than implicit"),
        ("pdf_korean_tables.pdf", "적립 제외 대상"),
        ("pdf_korean_tables.pdf", "업종 적립 대상\n할인점 이마트, 이마트 트레이더스, 롯데마트, 홈플러스"),
        ("pdf_owner_password_only.pdf", "pdf encryption test"),
        ("pdf_recursive_xobjects.pdf", "Hello world"),
        ("pdf_scan_with_bad_ocr_layer.pdf", "VICKSBURG"),
        ("pdf_two_column_latex.pdf", "Two-Column Document with Lorem Ipsum"),
        ("pdf_two_column_latex.pdf", "two columns filled\nwith Lorem Ipsum text."),
        ("pdf_two_column_latex.pdf", "fermentum massa ac quam. Sed diam turpis,\nmolestie vitae"),
        ("pptx_malformed.pptx", "Test Slide"),
        ("srt_utf8_bom.srt", "famous Ayn Rand"),
        ("txt_big5.txt", "維基大典"),
        ("txt_koi8r.txt", "В гимназии"),
        ("txt_udhr_many_scripts.txt", "Universal Declaration"),
        ("txt_utf16le_bom.txt", "This is a test document"),
        ("txt_utf32.txt", "This is a test document"),
    ],
)
def test_it_is_read(name: str, holds: str) -> None:
    text = read(name).text
    assert holds in text
    assert "\ufeff" not in text
    assert "\x00" not in text


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("legacy_word97.doc", "old Word document"),
        ("pdf_password_openpassword.pdf", "password"),
        ("pdf_scanned_image_only.pdf", "no text found (scan?) on any of its 3 pages"),
        ("pdf_zero_bytes.pdf", "0 bytes"),
        ("txt_empty.txt", "0 bytes, no text"),
    ],
)
def test_it_is_refused_with_its_reason(name: str, says: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        read(name)
    assert says in str(caught.value)
    assert caught.value.hint


def test_scripts_are_dropped_and_rows_of_the_empty_kind_counted() -> None:
    assert "function(" not in read("html_with_scripts.html").text
    assert "row 2 is empty (1 left out)" in read("gen_crlf_csv_bom_semicolon.csv").warnings
    assert [s.place for s in read("pdf_two_column_latex.pdf").sections] == ["page 1", "page 2", "page 3"]


@pytest.mark.parametrize(
    ("name", "place", "media_type", "title"),
    [
        ("epub_small.epub", "Chapter 2: More Content", "application/epub+zip", "Test EPUB Document"),
        (
            "notebook.ipynb",
            "cell 4: Test Notebook > Code Cell Below",
            "application/x-ipynb+json",
            "Test Notebook Title",
        ),
        (
            "pptx_malformed.pptx",
            "slide 1",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            "PowerPoint Presentation",
        ),
        ("srt_utf8_bom.srt", "00:00:06", "application/x-subrip", ""),
    ],
)
def test_places_kinds_and_titles(name: str, place: str, media_type: str, title: str) -> None:
    document = read(name)
    assert place in [section.place for section in document.sections]
    assert (document.media_type, document.title) == (media_type, title)


def test_times_and_marks_of_subtitles_are_no_text() -> None:
    text = read("srt_utf8_bom.srt").text
    assert "-->" not in text
    assert text.startswith("About 2 months ago I found myself on the comment section of YouTube")
