"""45 doc-surrogates-nul, its PDF: half a character is replaced and noted with its page, whole ones stay."""

from __future__ import annotations

from backend.corpus import SourceFile, read_file
from tests.conftest import shared_path


def test_half_a_character_in_a_pdf_is_replaced_and_noted() -> None:
    path = shared_path("cases", "cases", "45-doc-surrogates-nul", "bad-cmap.pdf")
    document = read_file(SourceFile("bad-cmap.pdf", path))
    assert document.text == "Formula \ufffd and smile 😀 in one line."
    assert document.warnings == ("1 lone surrogate replaced (page 1)",)
    assert document.text.encode("utf-8")
