"""Case 25: a cache that knows the text only serves one model's vectors for another (autoevals#213)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from backend.embedding import LocalEncoder, ModelSpec, Source, VectorCache
from backend.embedding.endpoint import EndpointEncoder
from backend.settings import Settings
from backend.store import Database, FileStore
from tests.conftest import Replay, shared_path

FOLDER = ("cases", "cases", "25-embed-cache-key")


@pytest.fixture
def cache(database: Database, files: FileStore) -> VectorCache:
    return VectorCache(database, files, 32)


@pytest.fixture
def texts() -> list[str]:
    return [shared_path(*FOLDER, f"{name}.txt").read_text(encoding="utf-8") for name in ("alpha", "beta", "gamma")]


def test_two_models_as_wide_do_not_mix(
    cache: VectorCache, texts: list[str], replay: Callable[[Path], Replay], settings: Settings
) -> None:
    server = replay(shared_path(*FOLDER, "responses.json"))
    hits = []
    for name in ("emb-a", "emb-c", "emb-a"):
        spec = ModelSpec(key=name, source=Source.ENDPOINT, name=name, base_url=server.base_url, pooling="endpoint")
        encoder = EndpointEncoder(spec, None, settings)
        scores = encoder.encode_queries(["ALPHA"]).vectors @ cache.document_vectors(encoder, texts).vectors.T
        hits.append(int(scores.argmax()))
    assert hits == [0, 1, 0]
    sent = [text for request in server.requests("/embeddings") for text in request["body"]["input"]]
    assert sum(texts[0] in text for text in sent) == 2  # once a model; the third run came from the cache


@pytest.fixture
def tiny(settings: Settings) -> Iterator[Callable[..., LocalEncoder]]:
    folder = shared_path("cases", "fixtures", "tiny-models", "tiny-fp32-len512")
    made: list[LocalEncoder] = []

    def make(**changes: str) -> LocalEncoder:
        spec = ModelSpec(key="tiny", source=Source.FOLDER, name=str(folder))
        made.append(LocalEncoder(replace(spec, **changes), settings))
        return made[-1]

    yield make
    for encoder in made:
        encoder.close()


def test_prompt_on_off_on(cache: VectorCache, texts: list[str], tiny: Callable[..., LocalEncoder]) -> None:
    plain, prompted = tiny(), tiny(document_prompt="keys: ")
    first = cache.document_vectors(prompted, texts).vectors
    off = cache.document_vectors(plain, texts).vectors
    again = cache.document_vectors(prompted, texts).vectors
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - off).max() > 0.01
    np.testing.assert_array_equal(first, prompted.encode_documents(texts).vectors)
    queries = [tiny(query_prompt=prompt).encode_queries(["spare keys"]).vectors for prompt in ("keys: ", "", "keys: ")]
    np.testing.assert_array_equal(queries[0], queries[2])
    assert np.abs(queries[0] - queries[1]).max() > 0.01


def test_another_revision_has_another_key(tiny: Callable[..., LocalEncoder]) -> None:
    assert tiny(revision="a" * 40).fingerprint != tiny(revision="b" * 40).fingerprint


def test_what_goes_into_exports_names_all_that_changes_a_vector(tiny: Callable[..., LocalEncoder]) -> None:
    told = tiny(query_prompt="keys: ", revision="a" * 40).spec.as_json()
    assert told["name"].endswith("tiny-fp32-len512")
    assert (told["revision"], told["query_prompt"], told["document_prompt"]) == ("a" * 40, "keys: ", "")
    assert (told["dimension"], told["pooling"], told["max_tokens"]) == (48, "mean", 512)
