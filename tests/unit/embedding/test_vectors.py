"""The cache: each text once a model, failures never, crashes and cancels lose nothing."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from backend.embedding import Encoded, ModelSpec, Source, VectorCache
from backend.errors import CancelledError
from backend.store import Database, FileStore, sha256_hex
from backend.store.tables import VectorRow
from tests.fakes.encoders import FakeEncoder

TEXTS = ["red cat", "blue dog", "red cat", "a long text about the harbour and its tides", "tax law"]


@pytest.fixture
def cache(database: Database, files: FileStore) -> VectorCache:
    return VectorCache(database, files, 2)


def shards(files: FileStore) -> list[Path]:
    return sorted((files.root / "vectors").rglob("*.npy"))


def test_vectors_are_the_encoders_own_and_come_back_without_it(cache: VectorCache) -> None:
    encoder = FakeEncoder()
    plain = FakeEncoder().encode_documents(TEXTS).vectors
    first = cache.document_vectors(encoder, TEXTS)
    np.testing.assert_array_equal(first.vectors, plain)
    assert sorted(encoder.encoded_texts) == sorted(set(TEXTS))  # the text that stands twice was embedded once
    encoder.encoded_texts.clear()
    again = cache.document_vectors(encoder, [*reversed(TEXTS)])
    np.testing.assert_array_equal(again.vectors, plain[::-1])
    assert again.vectors.dtype == np.float32
    assert again.vectors.flags.c_contiguous
    assert encoder.encoded_texts == []


def test_another_model_prompt_or_revision_has_vectors_of_its_own(cache: VectorCache) -> None:
    first = cache.document_vectors(FakeEncoder(), TEXTS).vectors
    for other in (FakeEncoder(salt="b"), FakeEncoder(document_prompt="passage: "), FakeEncoder(dimension=32)):
        vectors = cache.document_vectors(other, TEXTS).vectors
        assert len(other.encoded_texts) == 4
        assert vectors.shape != first.shape or not np.allclose(vectors, first)


def test_failures_are_not_stored_and_tried_again(cache: VectorCache, database: Database) -> None:
    broken = FakeEncoder(broken="dog")
    texts = [*TEXTS, "blue dog", " "]
    encoded = cache.document_vectors(broken, texts)
    assert set(encoded.failures) == {1, 5, 6}
    assert not encoded.vectors[[1, 5, 6]].any()
    assert encoded.vectors[[0, 2, 3, 4]].any(axis=1).all()
    broken.encoded_texts.clear()
    assert set(cache.document_vectors(broken, texts).failures) == {1, 5, 6}
    assert broken.encoded_texts == ["blue dog"]
    with database.session() as session:
        assert session.scalar(select(func.count()).select_from(VectorRow)) == 3


def test_what_is_cut_is_counted_for_every_row_cached_or_not(cache: VectorCache) -> None:
    encoder = FakeEncoder(max_tokens=3)
    texts = [*TEXTS, TEXTS[3], " "]
    assert cache.document_vectors(encoder, texts).n_cut == 2
    assert cache.document_vectors(encoder, texts).n_cut == 2


def test_where_only_the_server_counts_its_word_holds(cache: VectorCache) -> None:
    class Silent(FakeEncoder):
        def count_tokens(self, texts: Sequence[str]) -> list[int] | None:
            return None

    assert cache.document_vectors(Silent(max_tokens=3), TEXTS).n_cut == 1


def test_a_cancel_keeps_what_is_done(cache: VectorCache) -> None:
    encoder = FakeEncoder()
    told: list[tuple[int, int]] = []
    with pytest.raises(CancelledError):
        cache.document_vectors(
            encoder,
            TEXTS,
            progress=lambda done, total: told.append((done, total)),
            cancelled=lambda: len(encoder.encoded_texts) >= 2,
        )
    assert told[0] == (0, 5)
    assert len(encoder.encoded_texts) == 2
    cache.document_vectors(encoder, TEXTS, progress=lambda done, total: told.append((done, total)))
    assert len(encoder.encoded_texts) == 4  # the other two
    assert told[-1] == (5, 5)


def test_a_crash_keeps_what_is_done(cache: VectorCache, database: Database, files: FileStore) -> None:
    class Crashing(FakeEncoder):
        def encode_documents(self, texts: Sequence[str]) -> Encoded:
            if len(self.encoded_texts) >= 2:
                raise RuntimeError("the power went")
            return super().encode_documents(texts)

    encoder = Crashing()
    with pytest.raises(RuntimeError):
        cache.document_vectors(encoder, TEXTS)
    after = FakeEncoder()
    VectorCache(database, files, 2).document_vectors(after, TEXTS)
    assert len(after.encoded_texts) == 2


@pytest.mark.parametrize("damage", ["gone", "cut short", "another shape", "pickle"])
def test_a_damaged_shard_is_embedded_anew(damage: str, cache: VectorCache, files: FileStore) -> None:
    encoder = FakeEncoder()
    plain = cache.document_vectors(encoder, TEXTS).vectors
    for path in shards(files):
        if damage == "gone":
            path.unlink()
        elif damage == "cut short":
            path.write_bytes(path.read_bytes()[:-8])
        elif damage == "another shape":
            np.save(path, np.zeros((1, 3), dtype=np.float32))
        else:
            np.save(path, np.array([{"evil": 1}], dtype=object), allow_pickle=True)
    encoder.encoded_texts.clear()
    np.testing.assert_array_equal(cache.document_vectors(encoder, TEXTS).vectors, plain)
    assert len(encoder.encoded_texts) == 4
    encoder.encoded_texts.clear()
    np.testing.assert_array_equal(cache.document_vectors(encoder, TEXTS).vectors, plain)
    assert encoder.encoded_texts == []


def test_two_threads_do_not_embed_the_same_text_twice(cache: VectorCache) -> None:
    encoder = FakeEncoder()
    texts = [f"text number {number}" for number in range(200)]
    plain = FakeEncoder().encode_documents(texts).vectors
    results: list[Encoded] = []
    threads = [
        threading.Thread(target=lambda: results.append(cache.document_vectors(encoder, texts))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        np.testing.assert_array_equal(result.vectors, plain)
    assert len(encoder.encoded_texts) == 200


def test_two_processes_storing_the_same_texts_do_not_conflict(database: Database, files: FileStore) -> None:
    texts = [f"text number {number}" for number in range(100)]
    caches = [VectorCache(database, files, size) for size in (3, 7)]  # two caches share no lock, like two processes
    errors: list[BaseException] = []

    def work(cache: VectorCache) -> None:
        try:
            cache.document_vectors(FakeEncoder(), texts)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(cache,)) for cache in caches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    encoder = FakeEncoder()
    vectors = caches[0].document_vectors(encoder, texts).vectors
    np.testing.assert_array_equal(vectors, FakeEncoder().encode_documents(texts).vectors)
    assert encoder.encoded_texts == []


class PaidEncoder(FakeEncoder):
    """Stands behind an endpoint."""

    @property
    def spec(self) -> ModelSpec:
        return replace(super().spec, source=Source.ENDPOINT)


def test_a_paid_query_is_embedded_once_and_survives_a_restart(
    cache: VectorCache, database: Database, files: FileStore
) -> None:
    encoder = PaidEncoder(query_prompt="Q: ")
    plain = FakeEncoder(query_prompt="Q: ").encode_queries(TEXTS).vectors
    for one in (cache, cache, VectorCache(database, files, 2)):
        np.testing.assert_array_equal(one.query_vectors(encoder, TEXTS).vectors, plain)
    assert sorted(encoder.encoded_texts) == sorted({f"Q: {text}" for text in TEXTS})


@pytest.mark.parametrize("query_first", [True, False])
def test_a_query_and_a_document_of_one_text_never_mix(cache: VectorCache, query_first: bool) -> None:
    encoder = PaidEncoder(query_prompt="query of a person ", document_prompt="page in a book ")
    plain_query, plain_document = encoder.encode_queries(["cat"]).vectors, encoder.encode_documents(["cat"]).vectors
    assert np.abs(plain_query - plain_document).max() > 0.1
    calls = [(cache.query_vectors, plain_query), (cache.document_vectors, plain_document)]
    for vectors_of, plain in (calls if query_first else calls[::-1]) * 2:
        np.testing.assert_array_equal(vectors_of(encoder, ["cat"]).vectors, plain)
    assert len(encoder.encoded_texts) == 4  # twice above, twice by the cache


def test_paid_passages_are_documents(cache: VectorCache) -> None:
    encoder = PaidEncoder(document_prompt="D: ")
    cache.document_vectors(encoder, ["red cat"])
    vectors = cache.passage_vectors(encoder, ["red cat", "blue dog"]).vectors
    np.testing.assert_array_equal(cache.passage_vectors(encoder, ["red cat", "blue dog"]).vectors, vectors)
    np.testing.assert_array_equal(cache.document_vectors(encoder, ["red cat", "blue dog"]).vectors, vectors)
    assert encoder.encoded_texts == ["D: red cat", "D: blue dog"]


def test_a_local_models_queries_leave_nothing_behind(cache: VectorCache, database: Database, files: FileStore) -> None:
    encoder = FakeEncoder()
    for _ in range(2):
        cache.query_vectors(encoder, ["red cat"])
        cache.passage_vectors(encoder, ["blue dog"])
    assert encoder.encoded_texts == ["red cat", "blue dog"] * 2
    assert shards(files) == []
    with database.session() as session:
        assert session.scalar(select(func.count()).select_from(VectorRow)) == 0


def test_a_query_that_failed_is_tried_again(cache: VectorCache) -> None:
    encoder = PaidEncoder(broken="dog")
    for _ in range(2):
        assert set(cache.query_vectors(encoder, ["red cat", "blue dog", " "]).failures) == {1, 2}
    assert sorted(encoder.encoded_texts) == ["blue dog", "blue dog", "red cat"]


def test_a_query_does_not_wait_for_a_corpus_and_equal_queries_are_paid_once(cache: VectorCache) -> None:
    embedding, go_on = threading.Event(), threading.Event()

    class Slow(PaidEncoder):
        def encode_documents(self, texts: Sequence[str]) -> Encoded:
            if "slow" in texts:
                embedding.set()
                assert go_on.wait(10)
            return super().encode_documents(texts)

    encoder = Slow()
    corpus = threading.Thread(target=cache.document_vectors, args=(encoder, ["slow"]))
    corpus.start()
    try:
        assert embedding.wait(10)
        askers = [threading.Thread(target=cache.query_vectors, args=(encoder, ["red cat"])) for _ in range(4)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join(10)
            assert not asker.is_alive()
        assert cache.passage_vectors(encoder, ["blue dog"]).failures == {}
        assert encoder.encoded_texts == ["red cat", "blue dog"]
    finally:
        go_on.set()
        corpus.join()


def test_forgotten_texts_leave_no_vector_on_disk(cache: VectorCache, database: Database, files: FileStore) -> None:
    encoder = PaidEncoder()
    cache.document_vectors(encoder, ["red cat", "blue dog", "green owl"])
    cache.query_vectors(encoder, ["blue dog"])
    before = cache.document_vectors(encoder, ["red cat", "green owl"]).vectors
    gone = cache.document_vectors(encoder, ["blue dog"]).vectors[0]
    cache.forget([sha256_hex("blue dog"), sha256_hex("never seen")])
    for shard in shards(files):
        assert not (np.load(shard) == gone).all(axis=1).any()
    with database.session() as session:
        assert sha256_hex("blue dog") not in set(session.scalars(select(VectorRow.text_sha256)))
    encoder.encoded_texts.clear()
    np.testing.assert_array_equal(cache.document_vectors(encoder, ["red cat", "green owl"]).vectors, before)
    assert encoder.encoded_texts == []
    cache.forget([sha256_hex("red cat"), sha256_hex("green owl")])
    assert shards(files) == []
    assert cache.spaces() == []


def test_no_texts(cache: VectorCache) -> None:
    assert cache.document_vectors(FakeEncoder(dimension=8), []).vectors.shape == (0, 8)


@hypothesis_settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=20), max_size=12))
def test_the_cache_never_changes_what_the_encoder_says(cache: VectorCache, texts: list[str]) -> None:
    limited = FakeEncoder(max_tokens=2)
    plain = limited.encode_documents(texts)
    for _ in range(2):
        cached = cache.document_vectors(limited, texts)
        np.testing.assert_array_equal(cached.vectors, plain.vectors)
        assert cached.failures == plain.failures
        assert cached.n_cut == plain.n_cut
