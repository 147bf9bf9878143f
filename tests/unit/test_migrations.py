"""Data folders of an older Ragduel open, with all that is in them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from backend.corpus import Chunking, ChunkStrategy, CorpusLibrary
from backend.store import Database, FileStore, migrations
from backend.store.migrations import SCHEMA_VERSION

# What version 1 wrote: the tables that have changed since, with one corpus of two documents.
VERSION_1 = """
CREATE TABLE notes (name VARCHAR(300) NOT NULL PRIMARY KEY, value JSON NOT NULL);
INSERT INTO notes VALUES ('schema', '{"version": 1}');
CREATE TABLE corpora (
    corpus_id VARCHAR(40) NOT NULL PRIMARY KEY, name VARCHAR(200) NOT NULL UNIQUE, is_sample BOOLEAN NOT NULL,
    created_at VARCHAR(40) NOT NULL, current_version_id VARCHAR(40) NOT NULL, suggested_queries JSON NOT NULL,
    report JSON NOT NULL
);
INSERT INTO corpora VALUES ('c1', 'Mill', 0, '2026-01-01T00:00:00+00:00', 'v1', '["Who?"]',
    '{"skipped": [["x.bin", "binary"]], "warnings": []}');
CREATE TABLE corpus_versions (
    version_id VARCHAR(40) NOT NULL PRIMARY KEY, corpus_id VARCHAR(40) NOT NULL, fingerprint VARCHAR(64) NOT NULL,
    chunking JSON NOT NULL, n_documents INTEGER NOT NULL, n_chunks INTEGER NOT NULL, created_at VARCHAR(40) NOT NULL,
    FOREIGN KEY(corpus_id) REFERENCES corpora (corpus_id) ON DELETE CASCADE
);
INSERT INTO corpus_versions VALUES ('v1', 'c1', 'f1',
    '{"size_tokens": 120, "overlap_tokens": 7, "whole_documents": false, "tokenizer": "all-minilm-l6-v2@abc"}',
    2, 2, '2026-01-01T00:00:00+00:00');
CREATE TABLE documents (
    document_id VARCHAR(40) NOT NULL PRIMARY KEY, corpus_id VARCHAR(40) NOT NULL, position INTEGER NOT NULL,
    name TEXT NOT NULL, title TEXT NOT NULL, media_type VARCHAR(100) NOT NULL, text_sha256 VARCHAR(64) NOT NULL,
    n_chars INTEGER NOT NULL, sections JSON NOT NULL, warnings JSON NOT NULL,
    FOREIGN KEY(corpus_id) REFERENCES corpora (corpus_id) ON DELETE CASCADE
);
INSERT INTO documents VALUES ('d1', 'c1', 0, 'a.csv', '', 'text/csv', 't1', 9,
    '[[0, 3, "row 1", 1], [5, 8, "row 2", 1]]', '["a note"]');
INSERT INTO documents VALUES ('d2', 'c1', 1, 'b.txt', 'B', 'text/plain', 't2', 3, '[]', '[]');
CREATE TABLE chunks (
    version_id VARCHAR(40) NOT NULL, position INTEGER NOT NULL, chunk_id VARCHAR(40) NOT NULL,
    document_id VARCHAR(40) NOT NULL, document_name TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    place TEXT NOT NULL, text TEXT NOT NULL, text_sha256 VARCHAR(64) NOT NULL, PRIMARY KEY (version_id, position),
    FOREIGN KEY(version_id) REFERENCES corpus_versions (version_id) ON DELETE CASCADE
);
INSERT INTO chunks VALUES ('v1', 0, 'k0', 'd1', 'a.csv', 0, 3, 'row 1', 'one', 's0');
INSERT INTO chunks VALUES ('v1', 1, 'k1', 'd2', 'b.txt', 0, 3, '', 'two', 's1');
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.executescript(VERSION_1)
    connection.close()
    return path


def check(path: Path, tmp_path: Path) -> None:
    database = Database(f"sqlite:///{path}")
    library = CorpusLibrary(database, FileStore(tmp_path))
    corpus = library.get("Mill")
    assert corpus.chunking == Chunking(120, 7, ChunkStrategy.TOKENS)
    assert (corpus.n_documents, corpus.skipped[0].file, corpus.suggested_queries) == (2, "x.bin", ("Who?",))
    first, second = library.documents("c1")
    assert [(s.start, s.end, s.place, s.is_row) for s in library.sections("d1")] == [
        (0, 3, "row 1", True), (5, 8, "row 2", True),
    ]  # fmt: skip
    assert (first.n_sections, first.warnings, second.n_sections, second.title) == (2, ("a note",), 0, "B")
    assert [(chunk.text, chunk.record_id) for chunk in library.chunks("v1")] == [("one", ""), ("two", "")]
    assert database.note("schema") == {"version": SCHEMA_VERSION}
    database.close()


def test_a_folder_of_version_1_opens_once_and_again(old: Path, tmp_path: Path) -> None:
    check(old, tmp_path)
    check(old, tmp_path)


def test_a_step_that_broke_off_is_taken_up(old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(migrations, "delete", breaks)  # after the columns, before the sections
        with pytest.raises(KeyboardInterrupt):
            Database(f"sqlite:///{old}")
    check(old, tmp_path)
