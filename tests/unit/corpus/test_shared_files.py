"""The awkward uploads of ../shared/data/files, each with what must become of it."""

from __future__ import annotations

import time

import pytest

from backend.corpus import ParsedDocument, SourceFile, UnreadableFile, read_file
from tests.conftest import shared_path


def read(name: str) -> ParsedDocument:
    before = time.process_time()
    try:
        return read_file(SourceFile(name, shared_path("data", "files", name).read_bytes()))
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
        ("gen_crlf_csv_bom_semicolon.csv", "Zeile 1\nZeile 2; mit Semikolon"),
        ("gen_nul_bytes.txt", "First part. Second part after NULs."),
        ("gen_prompt_injection.md", "IGNORE ALL PREVIOUS INSTRUCTIONS"),
        ("html_cp1252.html", "Die schöne Frau"),
        ("html_with_scripts.html", "Russian Offensive Campaign Assessment"),
        ("pdf_arabic_rtl.pdf", "habibi"),
        ("pdf_corrupted_xref.pdf", "Explicit is better than implicit"),
        ("pdf_korean_tables.pdf", "적립 제외 대상"),
        ("pdf_owner_password_only.pdf", "pdf encryption test"),
        ("pdf_scan_with_bad_ocr_layer.pdf", "VICKSBURG"),
        ("pdf_two_column_latex.pdf", "Two-Column Document with Lorem Ipsum"),
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
        ("epub_small.epub", "EPUB"),
        ("legacy_word97.doc", "old Word document"),
        ("notebook.ipynb", "notebook"),
        ("odt_plain.odt", "OpenDocument"),
        ("pdf_password_openpassword.pdf", "password"),
        ("pdf_recursive_xobjects.pdf", "broken PDF"),
        ("pdf_scanned_image_only.pdf", "no text found (scan?) on any of its 3 pages"),
        ("pdf_zero_bytes.pdf", "0 bytes"),
        ("pptx_malformed.pptx", "PowerPoint"),
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
