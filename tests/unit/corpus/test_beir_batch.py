"""A BEIR dataset among the files of a batch: told by its names, its queries read, odd lines left out and named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend.corpus.files import Reading, SourceFile
from backend.corpus.readers import read_file
from backend.corpus.readers.beir_files import read_query_set, split_beir
from tests.conftest import shared_path

CORPUS = b'{"_id": "d1", "title": "Gates", "text": "Shut at night."}\n{"_id": "d2", "title": "", "text": "Eels."}\n'
QUERIES = b'{"_id": "q1", "text": "When is it shut?"}\n{"_id": "q2", "text": "What swims?"}\n'
QRELS = b"query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\n"


def batch(*names: str) -> list[SourceFile]:
    def content(name: str) -> bytes:
        if name.endswith("corpus.jsonl"):
            return CORPUS
        return QUERIES if name.endswith("queries.jsonl") else QRELS if "qrels" in name else b"words"

    return [SourceFile(name, content(name)) for name in names]


@pytest.mark.parametrize("prefix", ["", "mini/", "mini.zip/", "mini.zip/mini/", "data\\mini\\"])
def test_it_is_told_by_its_names_wherever_it_lies(prefix: str) -> None:
    parts = ("readme.md", f"{prefix}corpus.jsonl", f"{prefix}queries.jsonl", f"{prefix}qrels/test.tsv",
             f"{prefix}qrels/dev.tsv", f"{prefix}notes/more.tsv")  # fmt: skip
    beir = split_beir(batch(*parts))
    assert beir is not None
    assert beir.corpus.name == f"{prefix}corpus.jsonl"
    assert beir.queries is not None
    assert {split: file.name for split, file in beir.qrels.items()} == {
        "test": f"{prefix}qrels/test.tsv",
        "dev": f"{prefix}qrels/dev.tsv",
    }
    assert [file.name for file in beir.rest] == ["readme.md", f"{prefix}notes/more.tsv"]
    asked = beir.read_queries()
    assert asked is not None
    assert asked.queries == (("q1", "When is it shut?"), ("q2", "What swims?"))
    assert asked.qrels == {"test": {"q1": {"d1": 1}, "q2": {"d2": 2}}, "dev": {"q1": {"d1": 1}, "q2": {"d2": 2}}}
    assert asked.warnings == ()


def test_judgements_uploaded_without_their_folder_are_known_by_their_header() -> None:
    files = [*batch("corpus.jsonl", "queries.jsonl"), SourceFile("test.tsv", QRELS), SourceFile("more.tsv", b"a\tb\n")]
    beir = split_beir(files)
    assert beir is not None
    assert list(beir.qrels) == ["test"]
    assert [file.name for file in beir.rest] == ["more.tsv"]


def test_no_corpus_no_beir_and_a_corpus_alone_asks_nothing() -> None:
    assert split_beir(batch("a.txt", "queries.jsonl", "qrels/test.tsv")) is None
    alone = split_beir(batch("a.txt", "corpus.jsonl"))
    assert alone is not None
    assert [file.name for file in alone.rest] == ["a.txt"]
    assert alone.read_queries() is None


def test_of_two_datasets_the_first_asks_and_the_other_is_named() -> None:
    names = (
        "a/corpus.jsonl",
        "b/corpus.jsonl",
        "b/queries.jsonl",
        "c/corpus.jsonl",
        "c/queries.jsonl",
        "c/qrels/test.tsv",
    )
    beir = split_beir(batch(*names))
    assert beir is not None
    assert beir.corpus.name == "b/corpus.jsonl"
    assert [file.name for file in beir.rest] == ["a/corpus.jsonl", "c/corpus.jsonl"]
    asked = beir.read_queries()
    assert asked is not None
    assert asked.warnings == (
        "c/queries.jsonl and c/qrels/test.tsv: left out, one batch takes the queries of one BEIR dataset",
    )


def test_odd_lines_are_left_out_and_named() -> None:
    queries = (
        b'{"_id": "q1", "text": "one"}\n{torn\n\n[1]\n{"_id": "q1", "text": "again"}\n{"_id": "q2", "text": " "}\n'
        b'{"text": "nameless"}\n{"_id": 5, "text": "number"}\n{"_id": "", "text": "blank id"}\n'
    )
    qrels = (
        b"query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td1\t1\nq1\td1\t2\nq1\td2\nq1\td3\tmuch\nzz\td1\t1\n"
        b"5\td4\t1.0\n5\td5\t0\n5\td6\t-1\n5\td7\t1.5\n5\td8\tinf\nq1 0 d9 3\n"
    )
    asked = read_query_set(SourceFile("queries.jsonl", queries), {"test": SourceFile("qrels/test.tsv", qrels)})
    assert asked.queries == (("q1", "one"), ("5", "number"))
    assert asked.qrels == {"test": {"q1": {"d1": 1, "d9": 3}, "5": {"d4": 1, "d5": 0, "d6": -1}}}
    assert asked.warnings == (
        "queries.jsonl: line 2: not JSON, left out",
        "queries.jsonl: lines 4, 7 and 9: no object with _id and text, left out",
        "queries.jsonl: line 5: a query id that stands above already, left out",
        "queries.jsonl: line 6: a query without text, left out",
        "qrels/test.tsv: lines 5, 6, 11 and 12: not query id, document id and grade by tabs, left out",
        "qrels/test.tsv: line 7: of a query that is not among the queries, left out",
        "qrels/test.tsv: line 4: another grade than above for the same document, left out",
    )


def test_unreadable_and_missing_files_leave_the_rest() -> None:
    noise = SourceFile("qrels/dev.tsv", bytes(range(256)) * 9)
    asked = read_query_set(SourceFile("queries.jsonl", QUERIES), {"test": SourceFile("t", QRELS), "dev": noise})
    assert list(asked.qrels) == ["test"]
    assert asked.warnings[0].startswith("qrels/dev.tsv: not text: binary data")
    without = read_query_set(None, {"test": SourceFile("qrels/test.tsv", QRELS)})
    assert (without.queries, without.qrels) == ((), {})
    assert "no queries.jsonl" in without.warnings[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_ids_are_the_same_as_the_readers_of_the_corpus_gives(encoding: str) -> None:
    odd = " d\x00ö\r1 "
    corpus = json.dumps({"_id": odd, "title": "T", "text": "body"}, ensure_ascii=False)
    query = json.dumps({"_id": "q", "text": "what?"})
    document = read_file(SourceFile("corpus.jsonl", corpus.encode(encoding)), Reading())
    qrels = f"q\t{odd.replace(chr(13), ' ')}\t1\n".replace("\x00", " ").encode(encoding)
    asked = read_query_set(SourceFile("queries.jsonl", query.encode(encoding)), {"test": SourceFile("t", qrels)})
    assert document.sections[0].record_id == "d ö\n1"
    assert asked.qrels == {"test": {"q": {"d ö 1": 1}}}


def test_scifact_is_read_whole() -> None:
    folder = shared_path("data", "scifact")
    files = [SourceFile(f"scifact/{p.relative_to(folder)}", p) for p in sorted(folder.rglob("*")) if p.is_file()]
    beir = split_beir(files)
    assert beir is not None
    asked = beir.read_queries()
    assert asked is not None
    assert asked.qrels
    assert asked.warnings == ()
    texts = dict(asked.queries)
    assert all(query_id in texts for of in asked.qrels.values() for query_id in of)
    corpus = read_file(SourceFile("corpus.jsonl", Path(str(beir.corpus.content))))
    ids = {section.record_id for section in corpus.sections}
    assert {document for of in asked.qrels.values() for graded in of.values() for document in graded} <= ids
