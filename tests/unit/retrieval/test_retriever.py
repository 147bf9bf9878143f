"""Query vectors with and without HyDE, ranked lists, and what failed."""

from __future__ import annotations

import numpy as np
import pytest

from backend.corpus.types import Chunk
from backend.embedding.vectors import VectorCache
from backend.errors import InputError, ProviderError, ProviderFault
from backend.llm.types import ChatReply
from backend.retrieval import HydeExpander, HydeSettings, IndexStore, query_vector, retrieve
from backend.retrieval.types import Expansion
from backend.store import Database, FileStore, sha256_hex
from tests.fakes.chat import FakeChat
from tests.fakes.encoders import FakeEncoder

TEXTS = ["the harbour closes at nine", "a ferry ticket costs four coins", "the lamp on the mole is green"]


def chunks(texts: list[str]) -> list[Chunk]:
    return [
        Chunk(f"c{n}", n, f"d{n}", f"file-{n}.txt", 0, len(text), "", text, sha256_hex(text))
        for n, text in enumerate(texts)
    ]


@pytest.fixture
def vectors(database: Database, files: FileStore) -> VectorCache:
    return VectorCache(database, files, 8)


@pytest.fixture
def store(files: FileStore, vectors: VectorCache) -> IndexStore:
    return IndexStore(files, vectors)


def ranked(store: IndexStore, encoder: FakeEncoder, query: str, k: int = 3, texts: list[str] = TEXTS):
    found = chunks(texts)
    index = store.index_for(sha256_hex("".join(texts)), lambda: found, encoder)
    return retrieve(
        query,
        k,
        encoder=encoder,
        corpus_index=index,
        vectors=store._vectors,
        chunks_at=lambda rows: [found[row] for row in rows],
    )


def test_the_right_chunk_comes_first_with_its_place(store: IndexStore) -> None:
    found = ranked(store, FakeEncoder(), "ferry ticket")
    assert found.hits[0].document == "file-1.txt"
    assert [hit.rank for hit in found.hits] == [1, 2, 3]
    assert found.hits[0].score >= found.hits[1].score


def test_an_index_is_built_once_and_comes_back_from_disk(store: IndexStore, database, files) -> None:
    encoder = FakeEncoder()
    first = ranked(store, encoder, "lamp")
    n_encoded = len(encoder.encoded_texts)
    again = IndexStore(files, VectorCache(database, files, 8))
    second = ranked(again, encoder, "lamp")
    assert first.hits == second.hits
    assert len(encoder.encoded_texts) == n_encoded + 1  # the query alone


def test_a_chunk_without_a_vector_is_counted_and_never_found(store: IndexStore) -> None:
    encoder = FakeEncoder(broken="ferry")
    found = ranked(store, encoder, "ticket coins", k=3)
    assert found.n_unembedded == 1
    assert {hit.document for hit in found.hits} == {"file-0.txt", "file-2.txt"}


def test_a_query_without_a_vector_is_an_error_for_that_query(store: IndexStore) -> None:
    with pytest.raises(InputError, match="no vector for the query"):
        ranked(store, FakeEncoder(broken="ferry"), "ferry")


def test_two_models_never_share_an_index(store: IndexStore) -> None:
    first, second = FakeEncoder("x", salt="1"), FakeEncoder("x", salt="2")
    ranked(store, first, "lamp")
    ranked(store, second, "lamp")
    assert len(second.encoded_texts) == len(TEXTS) + 1


def test_hyde_passages_are_documents_and_the_mean_is_unit(vectors: VectorCache) -> None:
    encoder = FakeEncoder(query_prompt="Q: ", document_prompt="D: ")
    expansion = Expansion(passages=("harbour hours", "closing time"), with_query=True)
    vector, _ = query_vector(encoder, "when", expansion, vectors)
    assert encoder.encoded_texts == ["Q: when", "D: harbour hours", "D: closing time"]
    parts = np.concatenate(
        [encoder.encode_queries(["when"]).vectors, encoder.encode_documents(["harbour hours", "closing time"]).vectors]
    )
    expected = parts.mean(axis=0) / np.linalg.norm(parts.mean(axis=0))
    assert vector[0] == pytest.approx(expected, abs=1e-6)


def test_hyde_passage_alone_leaves_the_query_out(vectors: VectorCache) -> None:
    encoder = FakeEncoder()
    vector, _ = query_vector(encoder, "when", Expansion(passages=("harbour hours",), with_query=False), vectors)
    assert vector[0] == pytest.approx(encoder.encode_documents(["harbour hours"]).vectors[0], abs=1e-6)


def test_a_failed_expansion_falls_back_to_the_plain_query(vectors: VectorCache) -> None:
    encoder = FakeEncoder()
    vector, _ = query_vector(encoder, "when", Expansion(failure="no reply", with_query=False), vectors)
    assert vector[0] == pytest.approx(encoder.encode_queries(["when"]).vectors[0])


def test_several_passages_differ_by_seed_and_carry_the_query_verbatim() -> None:
    chat = FakeChat(["one", "two"])
    expansion = HydeExpander(chat, HydeSettings(n_passages=2), seed=5).expand("what is {x} %s {{ y }}?")
    assert expansion.passages == ("one", "two")
    assert [request.seed for request in chat.requests] == [5, 6]
    assert all("what is {x} %s {{ y }}?" in prompt for prompt in chat.prompts())


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (ProviderError("Nothing answers.", fault=ProviderFault.UNREACHABLE), "Nothing answers"),
        (ChatReply("", finish_reason="length"), "length"),
        (ChatReply("", refusal="I won't."), "I won't"),
    ],
)
def test_a_writer_that_fails_is_told_and_never_raised(reply, said: str) -> None:
    expansion = HydeExpander(FakeChat(reply), HydeSettings(), seed=1).expand("q")
    assert expansion.passages == ()
    assert said in expansion.failure


def test_a_damaged_index_is_built_anew(store: IndexStore, database: Database, files: FileStore) -> None:
    encoder = FakeEncoder()
    whole = ranked(store, encoder, "lamp")
    stored = [path for path in (files.root / "indexes").rglob("*") if path.is_file()]
    assert len(stored) == 3
    for path in stored:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        again = ranked(IndexStore(files, VectorCache(database, files, 8)), encoder, "lamp")
        assert again.hits == whole.hits
    assert [encoder.encoded_texts.count(text) for text in TEXTS] == [1, 1, 1]
