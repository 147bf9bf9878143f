"""33 doc-scanned-pdf: a scan is refused with its reason, an empty page is named, the rest is read."""

from __future__ import annotations

import pytest

from backend.corpus import ParsedDocument, SourceFile, UnreadableFile, read_file
from tests.conftest import shared_path


def read(name: str) -> ParsedDocument:
    return read_file(SourceFile(name, shared_path("cases", "cases", "33-doc-scanned-pdf", name)))


def test_a_scan_is_no_document() -> None:
    with pytest.raises(UnreadableFile) as caught:
        read("scan.pdf")
    assert "no text found (scan?)" in caught.value.message
    assert "OCR" in caught.value.hint


def test_the_page_with_text_is_read_and_the_one_without_is_named() -> None:
    document = read("mixed.pdf")
    assert document.text == "The weir was rebuilt in spring.\nIts gate weighs two tons."
    assert [section.place for section in document.sections] == ["page 1"]
    assert document.warnings == ("1 of 2 pages without text (page 2)",)
    assert document.facts.empty_pages + document.facts.picture_pages == (2,)


def test_the_good_file_is_read() -> None:
    assert read("good.txt").text
