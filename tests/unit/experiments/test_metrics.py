"""Metrics against tables worked by hand, and BEIR folders that are not quite right."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from backend.errors import InputError, NotFoundError
from backend.experiments import evaluate, load_beir

# One query, relevant documents d1 (grade 2) and d3 (grade 1), ranked d2, d1, d4, d3:
#   DCG = 2/log2(3) + 1/log2(5); ideal DCG = 2/log2(2) + 1/log2(3)
#   RR: first relevant at rank 2 -> 1/2; AP = (1/2 + 2/4) / 2 = 1/2; recall = 1
QRELS = {"q": {"d1": 2, "d3": 1}}
RUN = {"q": {"d2": 0.9, "d1": 0.8, "d4": 0.7, "d3": 0.6}}
HAND = {
    "nDCG@10": (2 / math.log2(3) + 1 / math.log2(5)) / (2 + 1 / math.log2(3)),
    "RR@10": 0.5,
    "AP": 0.5,
    "R@100": 1.0,
}


@pytest.mark.parametrize("measure", HAND)
def test_a_table_worked_by_hand(measure: str) -> None:
    assert evaluate(QRELS, RUN)[measure]["q"] == pytest.approx(HAND[measure], abs=1e-6)


def test_a_cutoff_cuts() -> None:
    values = evaluate(QRELS, RUN, k=1)
    assert values["nDCG@1"]["q"] == 0
    assert values["RR@1"]["q"] == 0


def test_a_query_missing_from_the_run_counts_zero() -> None:
    values = evaluate({**QRELS, "missing": {"d1": 1}, "empty": {"d1": 1}}, {**RUN, "empty": {}})
    assert all(scores["missing"] == 0 and scores["empty"] == 0 for scores in values.values())
    assert evaluate(QRELS, {})["AP"] == {"q": 0.0}


def write(folder: Path, corpus: str, queries: str, qrels: str) -> Path:
    (folder / "qrels").mkdir()
    (folder / "corpus.jsonl").write_text(corpus, encoding="utf-8")
    (folder / "queries.jsonl").write_text(queries, encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text(qrels, encoding="utf-8")
    return folder


DOCUMENT = json.dumps({"_id": "1", "title": "T", "text": "body"})
QUERY = json.dumps({"_id": "a", "text": "what"})


def test_title_and_text_are_joined_by_one_space(tmp_path: Path) -> None:
    untitled = json.dumps({"_id": "2", "text": "alone"})
    data = load_beir(write(tmp_path, f"{DOCUMENT}\n\n{untitled}\n", QUERY, "query-id\tcorpus-id\tscore\na\t1\t1\n"))
    assert data.texts == ("T body", "alone")
    assert data.qrels == {"a": {"1": 1}}


@pytest.mark.parametrize(
    ("corpus", "queries", "qrels", "said"),
    [
        ("{broken", QUERY, "a\t1\t1", "corpus.jsonl, line 1"),
        ('{"_id": "1"}', QUERY, "a\t1\t1", "no object with _id and text"),
        (DOCUMENT, QUERY, "a\t1", "line 1"),
        (DOCUMENT, QUERY, "zzz\t1\t1", "judges none"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, corpus: str, queries: str, qrels: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_beir(write(tmp_path, corpus, queries, qrels))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"corpus\.jsonl is missing"):
        load_beir(tmp_path)


def test_a_stray_byte_does_not_end_the_reading(tmp_path: Path) -> None:
    folder = write(tmp_path, '{"_id": "d1", "text": "caf?"}', '{"_id": "q1", "text": "q"}', "q1\td1\t1")
    corpus = folder / "corpus.jsonl"
    corpus.write_bytes(corpus.read_bytes().replace(b"caf?", b"caf\xe9"))
    assert load_beir(folder).texts == ("café",)
