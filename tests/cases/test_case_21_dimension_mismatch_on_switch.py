"""Case 21: another model is chosen for the same texts (AstrBot#9375): each has vectors of its own, 4 or 8 wide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from backend.embedding import EncoderPool, ModelRegistry, ModelSpec, Source, VectorCache, probe_model
from backend.settings import Settings
from backend.store import Database, FileStore
from tests.conftest import Replay, shared_path

FOLDER = ("cases", "cases", "21-embed-dim-mismatch-switch")


@pytest.fixture
def server(replay: Callable[[Path], Replay]) -> Replay:
    return replay(shared_path(*FOLDER, "responses.json"))


@pytest.fixture
def pool(database: Database, settings: Settings, server: Replay) -> Iterator[EncoderPool]:
    registry = ModelRegistry(database)
    for name in ("emb-a", "emb-b", "emb-c"):
        spec = ModelSpec(key=name, source=Source.ENDPOINT, name=name, base_url=server.base_url, pooling="endpoint")
        registry.add(probe_model(spec, None, settings))
    pool = EncoderPool(registry, settings)
    yield pool
    pool.release_all()


def test_every_model_embeds_for_itself(pool: EncoderPool, database: Database, files: FileStore, server: Replay) -> None:
    cache = VectorCache(database, files, 32)
    texts = [shared_path(*FOLDER, f"{name}.txt").read_text(encoding="utf-8") for name in ("alpha", "beta", "gamma")]
    best: dict[str, list[int]] = {}
    widths = {}
    for key in ("emb-a", "emb-b", "emb-c", "emb-a"):
        asked = len(server.requests("/embeddings"))
        with pool.use(key) as encoder:
            documents = cache.document_vectors(encoder, texts)
            queries = encoder.encode_queries(["ALPHA", "BETA", "GAMMA"])
        sent = [text for request in server.requests("/embeddings")[asked:] for text in request["body"]["input"]]
        assert all((text in sent) == (key not in best) for text in texts)  # the first time all, then none
        best[key] = [int(row) for row in np.argmax(queries.vectors @ documents.vectors.T, axis=1)]
        widths[key] = documents.vectors.shape[1]
    assert widths == {"emb-a": 4, "emb-b": 8, "emb-c": 4}
    assert best["emb-a"] == best["emb-b"] == [0, 1, 2]
    assert best["emb-c"] == [1, 2, 0]  # its rules are rotated: the vectors of emb-a, as wide, were not used again
