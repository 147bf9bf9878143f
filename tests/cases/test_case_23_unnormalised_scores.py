"""Case 23, the encoder's side: vectors of unequal length become unit vectors, so that scores are cosines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from backend.embedding.endpoint import EndpointEncoder
from backend.settings import Settings
from tests.cases.clients import scripted_spec
from tests.conftest import Replay, shared_path


def test_scores_are_cosines(replay: Callable[[Path], Replay], settings: Settings) -> None:
    folder = shared_path("cases", "cases", "23-embed-unnormalised-scores")
    server = replay(folder / "responses.json")
    encoder = EndpointEncoder(scripted_spec("emb-a", server.base_url), None, settings)
    texts = [(folder / name).read_text(encoding="utf-8") for name in ("near.txt", "loud.txt")]
    query = encoder.encode_queries([(folder / "queries.txt").read_text(encoding="utf-8").strip()]).vectors[0]
    vectors = encoder.encode_documents(texts).vectors
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    assert vectors @ query == pytest.approx([0.994, 0.707], abs=5e-4)
