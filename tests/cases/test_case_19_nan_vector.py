"""Case 19, the encoder's side: one text brings NaN, null or a 500; it alone is lost, by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import backend.llm.provider as provider_module
from backend.embedding.endpoint import EndpointEncoder
from backend.settings import Settings
from tests.cases.clients import scripted_spec
from tests.conftest import Replay, shared_path


@pytest.mark.parametrize("kind", ["null", "nan", "error500"])
def test_only_the_bad_text_is_lost(
    kind: str,
    replay: Callable[[Path], Replay],
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(provider_module, "FIRST_WAIT_S", 0.01)
    folder = shared_path("cases", "cases", "19-embed-nan-vector")
    script = json.loads((folder / "responses.json").read_text(encoding="utf-8"))
    script["embeddings"]["bad"] = [["importance", kind]]
    (tmp_path / "responses.json").write_text(json.dumps(script), encoding="utf-8")
    server = replay(tmp_path / "responses.json")
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("?-*.txt"))]
    queries = (folder / "queries.txt").read_text(encoding="utf-8").splitlines()

    encoder = EndpointEncoder(scripted_spec("emb-a", server.base_url), None, settings)
    documents = encoder.encode_documents(texts)
    assert list(documents.failures) == [1]
    assert ("HTTP 500" if kind == "error500" else "NaN, null or infinity") in documents.failures[1]
    assert np.isfinite(documents.vectors).all()
    assert np.linalg.norm(documents.vectors, axis=1) == pytest.approx([1, 0, 1, 1])

    asked = encoder.encode_queries(queries)
    assert list(asked.failures) == [2]
    assert int(np.argmax(documents.vectors @ asked.vectors[0])) == 0

    # Alone, as a cache asks again for what failed: still a failure of this text, not of the server.
    assert list(encoder.encode_documents([texts[1]]).failures) == [0]
    again = EndpointEncoder(encoder.spec, None, settings)
    assert list(again.encode_documents([texts[1]]).failures) == [0]
