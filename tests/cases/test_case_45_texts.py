"""45 doc-surrogates-nul, its texts: half a character and NUL are replaced and noted, whole characters stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.corpus.files import SourceFile
from backend.corpus.readers import read_file
from backend.corpus.reading import InProcessReading
from tests.conftest import shared_path

CASE = ("cases", "cases", "45-doc-surrogates-nul")


def test_half_a_character_in_a_line_is_replaced_and_whole_ones_stay() -> None:
    document = read_file(SourceFile("lone.jsonl", shared_path(*CASE, "lone.jsonl")))
    assert [document.text[s.start : s.end] for s in document.sections] == [
        "Torn character \ufffd in the middle of the ferry note.",
        "Whole character 😀 in the bridge note.",
    ]
    assert document.warnings == ("1 lone surrogate replaced",)


def test_nul_and_other_control_characters_become_blanks() -> None:
    document = read_file(SourceFile("nul.txt", shared_path(*CASE, "nul.txt")))
    assert document.text.startswith("The kiln  reaches 900  degrees.\n Next page.")
    assert any("NUL" in warning and "replaced" in warning for warning in document.warnings)


def test_emoji_japanese_and_arabic_stay() -> None:
    raw = shared_path(*CASE, "emoji.md").read_text(encoding="utf-8")
    text = read_file(SourceFile("emoji.md", shared_path(*CASE, "emoji.md"))).text
    assert [char for char in raw if char > "\x7f"] == [char for char in text if char > "\x7f"]


@pytest.mark.parametrize("name", ["lone.jsonl", "nul.txt", "emoji.md"])
def test_what_is_replaced_is_counted_and_the_text_is_utf8(name: str, tmp_path: Path) -> None:
    read = InProcessReading().read(SourceFile(name, shared_path(*CASE, name)), tmp_path)
    read.text_path.read_text(encoding="utf-8")
    assert (read.n_unreadable > 0) == (name != "emoji.md")
