"""The client's side of the cases: two scripted embedding models, their top chunks, and a judge, without the app."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backend.embedding.endpoint import EndpointEncoder
from backend.embedding.types import ModelSpec, Source
from backend.settings import Settings
from tests.conftest import shared_path


@dataclass(frozen=True)
class Pair:
    query: str
    text_a: str
    text_b: str


def scripted_spec(name: str, base_url: str) -> ModelSpec:
    return ModelSpec(name, Source.ENDPOINT, name, base_url=base_url, pooling="endpoint")


def pairs(base_url: str, settings: Settings, queries: str) -> list[Pair]:
    """What emb-a and emb-b find first in the small corpus, for each query of a fixture file."""
    folder = shared_path("cases", "fixtures", "corpus-small")
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())]
    asked = shared_path("cases", "fixtures", queries).read_text(encoding="utf-8").split("\n")
    asked = [line.strip() for line in asked if line.strip()]
    found = []
    for name in ("emb-a", "emb-b"):
        encoder = EndpointEncoder(scripted_spec(name, base_url), None, settings)
        scores = encoder.encode_queries(asked).vectors @ encoder.encode_documents(texts).vectors.T
        found.append([texts[i] for i in np.argmax(scores, axis=1)])
        encoder.close()
    return [Pair(*parts) for parts in zip(asked, *found, strict=True)]
