"""The library: batches, versions, names, and what is left when something ends early."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select

from backend.corpus import (
    WHOLE_DOCUMENTS,
    Chunking,
    CorpusLibrary,
    ReadLimits,
    ReadOptions,
    SourceFile,
    Tokenizer,
    default_tokenizer,
    pasted,
)
from backend.corpus.filling import Filler
from backend.corpus.removal import sweep
from backend.errors import CancelledError, InputError, NotFoundError
from backend.store import Database, FileStore, sha256_hex
from backend.store.tables import ChunkRow, CorpusRow, CorpusVersionRow, DocumentRow, SectionRow
from tests.conftest import shared_path

LONG = " ".join(f"Sentence {n} tells of the weir and its keeper." for n in range(200))


@pytest.fixture
def library(database: Database, files: FileStore) -> CorpusLibrary:
    return CorpusLibrary(database, files, limits=ReadLimits(max_file_bytes=1_000_000), max_files=50)


def source(name: str, text: str) -> SourceFile:
    return SourceFile(name, text.encode())


def n_rows(database: Database) -> list[int]:
    with database.session() as session:
        tables = (CorpusRow, CorpusVersionRow, DocumentRow, ChunkRow, SectionRow)
        return [len(session.scalars(select(next(iter(t.__table__.primary_key)))).all()) for t in tables]


def test_a_folder_of_the_fixtures_becomes_a_corpus(library: CorpusLibrary) -> None:
    folder = shared_path("cases", "fixtures", "corpus-small")
    sources = [SourceFile(p.name, p.read_bytes()) for p in sorted(folder.iterdir())]
    report = library.add("Small", sources, suggested_queries=["Where are the keys?", " "], is_sample=True)
    assert (report.documents, report.skipped, report.warnings) == (5, (), ())
    corpus = library.get("Small")
    assert library.get(report.corpus_id) == corpus
    assert library.list() == [corpus]
    assert (corpus.n_documents, corpus.n_chunks, corpus.is_sample) == (5, report.chunks, True)
    assert corpus.suggested_queries == ("Where are the keys?",)
    assert [d.name for d in library.documents(corpus.corpus_id)] == [s.name for s in sources]


def test_chunks_are_stretches_of_their_documents(library: CorpusLibrary) -> None:
    report = library.add(
        "a", [source("a.md", f"# Weir\n\n{LONG}"), source("b.csv", "text\none\ntwo\n")], Chunking(50, 10)
    )
    chunks = library.chunks(library.get("a").version_id)
    assert len(chunks) == report.chunks > 30
    texts = {d.document_id: library.document_text(d.document_id) for d in library.documents(report.corpus_id)}
    for at, chunk in enumerate(chunks):
        assert chunk.position == at
        assert texts[chunk.document_id][chunk.start : chunk.end] == chunk.text
        assert chunk.text_sha256 == sha256_hex(chunk.text)
    assert [c.place for c in chunks[-2:]] == ["row 1", "row 2"]
    assert chunks[0].place == "Weir"
    assert len({c.chunk_id for c in chunks}) == len(chunks)


def test_documents_keep_sections_titles_and_warnings(library: CorpusLibrary) -> None:
    report = library.add("a", [source("a.csv", "text\none\n\nthree\n"), source("b.md", "# Title\ntext")])
    first, second = library.documents(report.corpus_id)
    rows = list(library.sections(first.document_id))
    assert [(row.place, row.is_row) for row in rows] == [("row 1", True), ("row 3", True)]
    assert first.n_sections == 2
    assert first.warnings == ("row 2 is empty (1 left out)",)
    assert report.warnings == ("a.csv: row 2 is empty (1 left out)",)
    assert second.title == "Title"
    assert [(s.place, s.is_row) for s in library.sections(second.document_id)] == [("Title", False)]


def test_the_same_content_has_the_same_fingerprint_under_any_name(library: CorpusLibrary) -> None:
    batch = [source("a.txt", LONG), source("b.txt", "short")]
    for name in ("one", "two"):
        library.add(name, batch)
    library.add("other chunking", batch, Chunking(60, 0))
    library.add("other name", [source("c.txt", LONG), source("b.txt", "short")])
    prints = [c.version_fingerprint for c in library.list()]
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3
    one, two = (library.chunks(library.get(name).version_id) for name in ("one", "two"))
    assert [c.chunk_id for c in one] == [c.chunk_id for c in two]


def test_equal_names_and_equal_texts_are_kept_apart_with_a_note(library: CorpusLibrary) -> None:
    report = library.add(
        "a",
        [
            source("a/readme.md", "oak"),
            source("b/readme.md", "elm"),
            source("a/readme.md", "ash"),
            source("c.txt", "oak"),
        ],
    )
    assert [d.name for d in library.documents(report.corpus_id)] == [
        "a/readme.md", "b/readme.md", "a/readme (2).md", "c.txt",
    ]  # fmt: skip
    assert report.warnings == (
        "a/readme (2).md: another file is named a/readme.md",
        "c.txt: the same text as a/readme.md",
    )


def test_a_bad_file_is_reported_and_the_rest_goes_on(library: CorpusLibrary) -> None:
    report = library.add(
        "a", [source("good.txt", "text"), SourceFile("bad.bin", bytes(range(256)) * 8), source("e.txt", "")]
    )
    assert report.documents == 1
    assert [s.file for s in report.skipped] == ["bad.bin", "e.txt"]
    assert "binary" in report.skipped[0].reason
    assert library.get("a").skipped == report.skipped


def test_a_batch_without_text_names_every_reason_and_stores_nothing(library: CorpusLibrary, database: Database) -> None:
    with pytest.raises(InputError) as caught:
        library.add("a", [source("e.txt", ""), source("b.txt", " \n"), SourceFile("x.bin", bytes(range(256)) * 8)])
    for part in ("e.txt: empty: 0 bytes", "b.txt: no text", "x.bin: not text"):
        assert part in str(caught.value)
    assert n_rows(database) == [0] * 5
    with pytest.raises(InputError, match="no files"):
        library.add("a", [])


@pytest.mark.parametrize(("name", "says"), [("  ", "no name"), ("x" * 201, "201 characters"), ("Taken", "already")])
def test_names_that_can_not_be_used(library: CorpusLibrary, name: str, says: str) -> None:
    library.add("Taken", [source("a.txt", "text")])
    with pytest.raises(InputError, match=says):
        library.add(name, [source("a.txt", "text")])


def test_limits_are_kept(library: CorpusLibrary) -> None:
    with pytest.raises(InputError, match="51 files"):
        library.add("a", [source(f"{n}.txt", "x") for n in range(51)])
    report = library.add("a", [source("big.txt", "word " * 300_000), source("a.txt", "x")])
    assert report.skipped[0].reason.startswith("too large: 1.5 MB, the limit is 1 MB")
    with pytest.raises(InputError, match="overlap"):
        library.add("b", [source("a.txt", "x")], Chunking(10, 10))


@pytest.mark.parametrize("stage", ["Looking into a.md", "Reading a.md", "Storing places of b.csv", "Reading"])
def test_cancelling_at_any_stage_stores_nothing(library: CorpusLibrary, database: Database, stage: str) -> None:
    seen: list[str] = []
    with pytest.raises(CancelledError):
        library.add(
            "a",
            [source("a.md", f"# Weir\n\n{LONG}"), source("b.csv", "text\none\ntwo\n")],
            progress=lambda name, done, total: seen.append(name),
            cancelled=lambda: stage in seen,
        )
    assert seen[-1] == stage
    assert n_rows(database) == [0] * 5


def test_progress_tells_stage_done_and_total(library: CorpusLibrary) -> None:
    seen: list[tuple[str, int, int]] = []
    library.add("a", [source("a.txt", "x"), source("b.txt", "y")], progress=lambda *step: seen.append(step))
    assert list(dict.fromkeys(stage for stage, _, _ in seen)) == [
        "Looking into a.txt", "Looking into b.txt", "Reading a.txt", "Reading b.txt", "Reading",
    ]  # fmt: skip
    assert all(0 <= done <= total for _, done, total in seen)
    assert seen[-1] == ("Reading", 2, 2)


def test_whoever_is_told_may_write_to_the_same_database(library: CorpusLibrary, database: Database) -> None:
    rows = "\n".join(f'{{"text": "row {n}"}}' for n in range(12_000))
    library.add("a", [source("a.jsonl", rows)], progress=lambda *step: database.set_note("told", {"step": step}))
    assert database.note("told") == {"step": ["Reading", 1, 1]}


def test_extending_makes_a_version_and_keeps_the_old_one(library: CorpusLibrary) -> None:
    library.add("a", [source("a.txt", LONG)], Chunking(50, 5))
    before = library.get("a")
    old_chunks = library.chunks(before.version_id)
    report = library.extend(
        "a", [source("b.txt", "new"), source("a.txt", LONG), source("a.txt", "other"), source("e", "")]
    )
    after = library.get("a")
    assert (report.documents, report.chunks) == (2, 2)
    assert [s.reason for s in report.skipped] == ["already in the corpus, unchanged.", report.skipped[1].reason]
    assert after.chunking == before.chunking
    assert (after.n_documents, after.n_chunks) == (3, before.n_chunks + 2)
    assert after.version_id != before.version_id
    assert library.chunks(before.version_id) == old_chunks
    chunks = library.chunks(after.version_id)
    assert chunks[: len(old_chunks)] == old_chunks
    assert [c.document_name for c in chunks[-2:]] == ["b.txt", "a (2).txt"]
    assert [c.position for c in chunks] == list(range(len(chunks)))
    assert after.skipped == report.skipped
    with pytest.raises(InputError, match="already in the corpus"):
        library.extend("a", [source("b.txt", "new")])


def test_an_extended_corpus_equals_one_made_at_once(library: CorpusLibrary) -> None:
    one, two = source("a.txt", LONG), source("b.txt", "new")
    library.add("at once", [one, two])
    library.add("in two steps", [one])
    library.extend("in two steps", [two])
    first, second = library.list()
    assert first.version_fingerprint == second.version_fingerprint


def test_rechunking_makes_a_version_and_going_back_brings_the_old_one(library: CorpusLibrary) -> None:
    library.add("a", [source("a.md", f"# Weir\n\n{LONG}")], Chunking(50, 5))
    first = library.get("a")
    second = library.rechunk("a", Chunking(100, 0))
    assert second.version_id != first.version_id
    assert second.n_chunks < first.n_chunks
    assert second.chunking == Chunking(100, 0)
    assert library.get("a") == second
    assert len(library.chunks(first.version_id)) == first.n_chunks
    assert library.rechunk("a", Chunking(50, 5)) == first
    assert library.rechunk("a", WHOLE_DOCUMENTS).n_chunks == 1
    library.extend("a", [source("b.txt", "new")])
    assert library.rechunk("a", Chunking(50, 5)).n_documents == 2
    with pytest.raises(InputError):
        library.rechunk("a", Chunking(5, 5))


def test_deleting_removes_all_but_what_others_hold(
    library: CorpusLibrary, database: Database, files: FileStore
) -> None:
    library.add("a", [source("a.txt", "shared"), source("b.txt", "own")])
    library.add("b", [source("a.txt", "shared")])
    library.delete("a")
    assert [c.name for c in library.list()] == ["b"]
    assert n_rows(database) == [1, 1, 1, 1, 0]
    assert files.get_text(sha256_hex("shared")) == "shared"
    with pytest.raises(NotFoundError):
        files.get_text(sha256_hex("own"))
    library.add("a", [source("b.txt", "own")])


def test_what_is_not_there_is_said(library: CorpusLibrary) -> None:
    library.add("Harbour", [source("a.txt", "x")])
    for call in (
        library.get,
        library.delete,
        lambda n: library.rechunk(n, Chunking()),
        lambda n: library.extend(n, []),
    ):
        with pytest.raises(NotFoundError, match=r"no corpus “nope”.*Harbour"):
            call("nope")
    with pytest.raises(NotFoundError, match="document"):
        library.document_text("nope")
    with pytest.raises(NotFoundError, match="version"):
        library.chunks("nope")


def test_ids_are_no_names_of_other_corpora(library: CorpusLibrary) -> None:
    report = library.add("a", [source("a.txt", "x")])
    library.add("b", [source("a.txt", "x")])
    assert library.get(report.corpus_id).name == "a"
    assert library.get(" b ").name == "b"


def test_a_pasted_text_with_half_a_character_is_kept(library: CorpusLibrary) -> None:
    report = library.add("a", [pasted("torn \ud83d here", name="note")])
    assert library.document_text(library.documents(report.corpus_id)[0].document_id) == "torn \ufffd here"


def test_ten_thousand_rows_are_quick(library: CorpusLibrary) -> None:
    rows = "\n".join(f'{{"text": "row number {n} says something short"}}' for n in range(10_000))
    before = time.process_time()
    report = library.add("a", [source("a.jsonl", rows)])
    chunks = library.chunks(library.get("a").version_id)
    assert time.process_time() - before < 8
    assert report.chunks == len(chunks) == 10_000
    assert dataclasses.astuple(chunks[9_999])[1] == 9_999
    assert chunks[9_999].place == "line 10000"


def test_renaming(library: CorpusLibrary) -> None:
    library.add("a", [source("a.txt", "x")])
    library.add("b", [source("a.txt", "x")])
    assert library.rename("a", "  Harbour   notes ").name == "Harbour notes"
    assert library.rename("Harbour notes", "Harbour notes").name == "Harbour notes"
    with pytest.raises(InputError, match="already"):
        library.rename("b", "Harbour notes")
    assert [corpus.name for corpus in library.list()] == ["Harbour notes", "b"]


def test_removing_documents_takes_what_derives_from_them(
    library: CorpusLibrary, database: Database, files: FileStore
) -> None:
    library.add("a", [source("keep.txt", "kept words"), source("go.csv", "text\none\ntwo\n"), source("e.txt", "")])
    first = library.get("a")
    library.rechunk("a", WHOLE_DOCUMENTS)
    second = library.get("a")
    documents = {d.name: d for d in library.documents(first.corpus_id)}
    derived = library.remove_documents("a", [documents["go.csv"].document_id])
    after = library.get("a")
    assert (after.n_documents, after.n_chunks, after.chunking) == (1, 1, WHOLE_DOCUMENTS)
    assert [chunk.text for chunk in library.chunks(after.version_id)] == ["kept words"]
    assert derived.fingerprints == {first.version_fingerprint, second.version_fingerprint}
    assert derived.text_sha256s == {sha256_hex("one"), sha256_hex("two")}
    for version in (first, second):  # they held the removed text
        with pytest.raises(NotFoundError):
            library.chunks(version.version_id)
    with pytest.raises(NotFoundError):
        files.text_path(documents["go.csv"].text_sha256)
    assert n_rows(database) == [1, 1, 1, 1, 0]
    assert [item.file for item in after.skipped] == ["e.txt"]
    library.extend("a", [source("go.csv", "text\nthree\n")])
    assert [d.name for d in library.documents(first.corpus_id)] == ["keep.txt", "go.csv"]


def test_a_version_from_before_the_removed_file_came_stays(library: CorpusLibrary) -> None:
    library.add("a", [source("a.txt", "first")])
    before = library.get("a")
    library.extend("a", [source("b.txt", "second")])
    added = library.documents(before.corpus_id)[1]
    library.remove_documents("a", [added.document_id])
    assert [chunk.text for chunk in library.chunks(before.version_id)] == ["first"]
    assert library.get("a").version_fingerprint == before.version_fingerprint


def test_what_can_not_be_removed(library: CorpusLibrary) -> None:
    report = library.add("a", [source("a.txt", "x"), source("b.txt", "y")])
    ids = [d.document_id for d in library.documents(report.corpus_id)]
    with pytest.raises(InputError, match="No document would be left"):
        library.remove_documents("a", ids)
    with pytest.raises(NotFoundError, match="no document nope"):
        library.remove_documents("a", ["nope", ids[0]])
    assert library.get("a").n_documents == 2


def test_records_keep_their_ids_titles_and_metadata(library: CorpusLibrary) -> None:
    table = "key;head;words;year\nk1;Oak;A tree.;1999\nk2;Elm;Another tree.;2001\n"
    options = {"t.csv": ReadOptions(text_columns=("words",), title_column="head", id_column="key",
                                    metadata_columns=("year",))}  # fmt: skip
    report = library.add("a", [source("t.csv", table)], options=options)
    chunks = library.chunks(library.get("a").version_id)
    assert [(chunk.record_id, chunk.text) for chunk in chunks] == [("k1", "Oak A tree."), ("k2", "Elm Another tree.")]
    document = library.documents(report.corpus_id)[0]
    sections = list(library.sections(document.document_id))
    assert [(s.record_id, s.title, s.metadata) for s in sections] == [
        ("k1", "Oak", (("year", "1999"),)),
        ("k2", "Elm", (("year", "2001"),)),
    ]
    part = list(library.sections(document.document_id, sections[1].start, sections[1].end))
    assert part == sections[1:]
    assert library.document_text(document.document_id, sections[1].start, sections[1].end) == "Elm Another tree."


def test_what_a_crash_left_is_invisible_and_swept_after_a_day(
    library: CorpusLibrary, database: Database, files: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add("whole", [source("a.txt", "words")])

    class Killed(BaseException):
        pass

    with monkeypatch.context() as patched:
        # As a kill would have it: nothing that follows runs, not even the cleaning.
        patched.setattr("backend.corpus.library.records.insert_documents", _raise(Killed()))
        patched.setattr("backend.corpus.versions.VersionWriter.abandon", lambda self: None)
        patched.setattr("backend.corpus.library.delete", _raise(Killed()))
        with pytest.raises(Killed):
            library.add("half", [source("b.csv", "text\none\n"), source("c.txt", "other words")])
    assert [corpus.name for corpus in library.list()] == ["whole"]
    with pytest.raises(NotFoundError):
        library.get("half")
    assert n_rows(database)[:2] == [2, 2]
    sweep(database, files)
    assert n_rows(database)[:2] == [2, 2]  # it may still be at work
    with database.session() as session:
        for row in [*session.scalars(select(CorpusRow)), *session.scalars(select(CorpusVersionRow))]:
            row.created_at = "2020-01-01T00:00:00+00:00"
    for path in (files.root / "documents").rglob("*"):
        os.utime(path, (0, 0))
    sweep(database, files)
    assert n_rows(database) == [1, 1, 1, 1, 0]
    assert library.document_text(library.documents(library.get("whole").corpus_id)[0].document_id) == "words"
    with pytest.raises(NotFoundError):
        files.text_path(sha256_hex("other words"))
    library.add("half", [source("c.txt", "other words")])


def _raise(error: BaseException) -> Callable[..., None]:
    def do(*_args: object, **_words: object) -> None:
        raise error

    return do


def test_of_two_who_extend_at_once_one_succeeds_and_nothing_is_lost(
    library: CorpusLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add("a", [source("a.txt", "first")])
    fill = Filler.fill
    calls = []

    def and_another_meanwhile(self: Filler, *args: object, **words: object) -> object:
        filled = fill(self, *args, **words)
        if not calls:
            calls.append(1)
            library.extend("a", [source("b.txt", "second")])
        return filled

    monkeypatch.setattr(Filler, "fill", and_another_meanwhile)
    with pytest.raises(InputError, match="changed meanwhile"):
        library.extend("a", [source("c.txt", "third")])
    corpus = library.get("a")
    assert [d.name for d in library.documents(corpus.corpus_id)] == ["a.txt", "b.txt"]
    assert [c.text for c in library.chunks(corpus.version_id)] == ["first", "second"]
    with pytest.raises(NotFoundError):
        library.document_text("nope")


def test_going_back_to_an_earlier_cutting_never_brings_back_other_documents(library: CorpusLibrary) -> None:
    library.add("a", [source("a.txt", "first words"), source("b.txt", "second words")])
    library.rechunk("a", WHOLE_DOCUMENTS)
    removed = library.documents(library.get("a").corpus_id)[0]
    library.remove_documents("a", [removed.document_id])
    library.extend("a", [source("c.txt", "third words")])
    after = library.rechunk("a", Chunking())
    assert [c.text for c in library.chunks(after.version_id)] == ["second words", "third words"]


def test_the_same_file_again_is_skipped_under_the_number_that_it_got(library: CorpusLibrary) -> None:
    library.add("a", [source("a.txt", "first")])
    library.extend("a", [source("a.txt", "second")])
    with pytest.raises(InputError, match="already in the corpus"):
        library.extend("a", [source("a.txt", "second")])
    assert [d.name for d in library.documents(library.get("a").corpus_id)] == ["a.txt", "a (2).txt"]


def test_a_file_that_vanished_is_named_and_the_rest_goes_on(library: CorpusLibrary, tmp_path: Path) -> None:
    gone = tmp_path / "gone.txt"
    report = library.add("a", [SourceFile("gone.txt", gone), source("a.txt", "x")])
    assert [item.file for item in report.skipped] == ["gone.txt"]
    assert "can't be opened" in report.skipped[0].reason


def test_documents_can_be_removed_when_their_tokenizer_is_gone(database: Database, files: FileStore) -> None:
    here = {"there": True}

    def tokenizers(name: str) -> Tokenizer:
        if not here["there"]:
            raise InputError("the tokenizer is not on this machine")
        return default_tokenizer()

    library = CorpusLibrary(database, files, tokenizers)
    library.add("a", [source("a.txt", "x"), source("b.txt", "y")])
    here["there"] = False
    library.remove_documents("a", [library.documents(library.get("a").corpus_id)[0].document_id])
    assert library.get("a").n_documents == 1


def test_a_delete_that_broke_off_frees_the_name_and_is_ended_later(
    library: CorpusLibrary, database: Database, files: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add("a", [source("a.csv", "text\none\n")])

    class Killed(BaseException):
        pass

    with monkeypatch.context() as patched:
        patched.setattr("backend.corpus.library.remove_versions", _raise(Killed()))
        with pytest.raises(Killed):
            library.delete("a")
    assert library.list() == []
    library.add("a", [source("b.txt", "new")])
    with database.session() as session:
        for row in session.scalars(select(CorpusRow)):
            row.created_at = "2020-01-01T00:00:00+00:00"
    sweep(database, files)
    assert n_rows(database) == [1, 1, 1, 1, 0]
