"""The sample corpus that ships with the app: complete, readable, and its questions answerable from it."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

SAMPLE = Path(str(files("backend"))) / "corpus" / "sample"
DOCUMENTS = sorted((SAMPLE / "documents").iterdir())
QUERIES: list[dict[str, Any]] = json.loads((SAMPLE / "queries.json").read_text(encoding="utf-8"))["queries"]

by_name = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def test_there_are_a_few_dozen_documents_in_several_formats() -> None:
    formats = Counter(path.suffix for path in DOCUMENTS)
    assert 36 <= len(DOCUMENTS) <= 80
    assert set(formats) == {".md", ".txt", ".csv", ".html", ".jsonl"}
    assert formats.most_common(1)[0][0] == ".md"


def test_the_folder_holds_nothing_but_documents_and_queries() -> None:
    assert sorted(path.name for path in SAMPLE.iterdir()) == ["documents", "queries.json"]
    assert all(path.is_file() for path in DOCUMENTS)


@by_name
def test_a_document_is_plain_utf_8_text_of_a_readable_length(path: Path) -> None:
    text = path.read_bytes().decode("utf-8")
    assert not text.startswith("\ufeff")
    assert "\ufffd" not in text
    assert "\r" not in text
    assert text.endswith("\n")
    assert 120 <= len(_words(text)) <= 450


@by_name
def test_a_file_name_is_plain_words(path: Path) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*\.[a-z]+", path.name)


def test_no_text_stands_in_two_documents() -> None:
    texts = {path.name: " ".join(_words(path.read_text(encoding="utf-8"))) for path in DOCUMENTS}
    assert len(set(texts.values())) == len(texts)


def test_markdown_begins_with_a_heading() -> None:
    for path in DOCUMENTS:
        if path.suffix == ".md":
            assert re.match(r"# \S", path.read_text(encoding="utf-8")), path.name


def test_every_row_of_the_table_and_of_the_json_lines_has_a_text() -> None:
    n_rows = 0
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".csv":
            rows = list(csv.DictReader(StringIO(text), strict=True))
            assert all(None not in row for row in rows), "a row has more cells than the header"
        elif path.suffix == ".jsonl":
            rows = [json.loads(line) for line in text.splitlines()]
        else:
            continue
        n_rows += len(rows)
        assert all(row["text"].strip() for row in rows), path.name
    assert n_rows >= 10


def test_there_are_about_two_dozen_different_questions_each_with_a_reason() -> None:
    texts = [query["text"] for query in QUERIES]
    assert 20 <= len(texts) <= 30
    assert len({" ".join(_words(text)) for text in texts}) == len(texts)
    for query in QUERIES:
        assert set(query) == {"text", "why", "documents"}
        assert query["text"] == query["text"].strip() != ""
        assert query["why"].endswith(".")


def test_a_reason_names_no_model_since_it_may_stand_beside_a_blind_duel() -> None:
    for query in QUERIES:
        assert not re.search(r"minilm|wordllama|transformer|static", query["why"], re.IGNORECASE)


def test_the_documents_that_answer_a_question_exist() -> None:
    names = {path.name for path in DOCUMENTS}
    for query in QUERIES:
        assert query["documents"], query["text"]
        assert set(query["documents"]) <= names, query["text"]


def test_questions_draw_on_every_subject_and_on_tables_too() -> None:
    answering = {name for query in QUERIES for name in query["documents"]}
    assert {Path(name).suffix for name in answering} >= {".md", ".csv", ".html", ".jsonl"}
    assert len(answering) >= 18


def test_the_twin_questions_have_the_same_words_and_different_answers() -> None:
    """Word-order traps: were the words not the same, a model without word order could tell them apart."""
    twins: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for query in QUERIES:
        twins.setdefault(tuple(sorted(_words(query["text"]))), []).append(query)
    pairs = [pair for pair in twins.values() if len(pair) == 2]
    assert pairs
    for first, second in pairs:
        assert set(first["documents"]).isdisjoint(second["documents"])


def test_every_code_in_the_questions_stands_in_a_document_that_answers() -> None:
    codes = 0
    for query in QUERIES:
        for code in re.findall(r"\b[A-Z]-?\d+\b", query["text"]):
            codes += 1
            folder = SAMPLE / "documents"
            assert any(code in (folder / name).read_text(encoding="utf-8") for name in query["documents"]), code
    assert codes >= 2
