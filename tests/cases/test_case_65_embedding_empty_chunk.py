"""Case 65, the embedding side: a blank text never reaches an endpoint and never has a vector (msgvault#291)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from backend.embedding import LocalEncoder, ModelSpec, Source, VectorCache
from backend.embedding.endpoint import EndpointEncoder
from backend.settings import Settings
from backend.store import Database, FileStore
from tests.conftest import Replay, shared_path

FOLDER = ("cases", "cases", "65-embed-empty-chunk")
TEXTS = ["Tomatoes get water at dawn.", "", " \n\t ", "\u00a0\u3000", "Bed three holds mint."]


def test_no_request_holds_a_blank_text(
    replay: Callable[[Path], Replay], settings: Settings, database: Database, files: FileStore
) -> None:
    server = replay(shared_path(*FOLDER, "responses.json"))
    spec = ModelSpec(key="emb-a", source=Source.ENDPOINT, name="emb-a", base_url=server.base_url, pooling="endpoint")
    encoder = EndpointEncoder(spec, None, settings)
    encoded = VectorCache(database, files, 32).document_vectors(encoder, TEXTS)
    assert set(encoded.failures) == {1, 2, 3}
    assert not encoded.vectors[[1, 2, 3]].any()
    asked = encoder.encode_queries(["Which bed holds mint?", "   "])
    assert set(asked.failures) == {1}
    assert int(np.argmax(encoded.vectors @ asked.vectors[0])) == 4
    requests = server.requests("/embeddings")
    assert requests
    assert all(text.strip() for request in requests for text in request["body"]["input"])


def test_a_local_model_gives_blank_texts_no_vector(settings: Settings, database: Database, files: FileStore) -> None:
    folder = shared_path("cases", "fixtures", "tiny-models", "tiny-fp32-len512")
    encoder = LocalEncoder(ModelSpec(key="tiny", source=Source.FOLDER, name=str(folder)), settings)
    cache = VectorCache(database, files, 32)
    for _ in range(2):  # the second from the cache
        encoded = cache.document_vectors(encoder, TEXTS)
        assert set(encoded.failures) == {1, 2, 3}
        assert not encoded.vectors[[1, 2, 3]].any()
        np.testing.assert_allclose(np.linalg.norm(encoded.vectors[[0, 4]], axis=1), 1, atol=1e-5)
