"""Case 41: tables of Word documents are read where they stand, and a file that is none is refused by name."""

from __future__ import annotations

import pytest

from backend.corpus.files import SourceFile, UnreadableFile
from backend.corpus.readers import read_file
from tests.conftest import shared_path

CASE = ("cases", "cases", "41-doc-docx-tables")


def source(name: str) -> SourceFile:
    return SourceFile(name, shared_path(*CASE, name))


def test_tables_keep_their_place_and_their_cells_apart() -> None:
    text = read_file(source("pump.docx")).text
    lines = text.split("\n")
    assert text.index("Before the table.") < text.index("Part | Torque") < text.index("After the table.")
    assert any("Base bolt" in line and "31 Nm" in line and " | " in line for line in lines)
    assert "amber-19" in text
    assert "PartTorque" not in text


def test_a_document_that_is_one_table_is_read() -> None:
    assert "sapphire-3" in read_file(source("table-only.docx")).text


def test_what_is_no_word_document_is_refused_in_words() -> None:
    with pytest.raises(UnreadableFile) as caught:
        read_file(source("not-really.docx"))
    assert "whatever its name" in caught.value.message
    assert caught.value.hint
