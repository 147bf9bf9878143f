"""Case 15: no key for a local server, and a key with a line break."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from backend.embedding.endpoint import EndpointEncoder
from backend.judging.llm_judge import LlmJudge
from backend.judging.types import Outcome
from backend.llm import ChatEndpoint, OpenAIChat
from backend.settings import Settings
from backend.store import Database
from tests.cases.clients import pairs, scripted_spec
from tests.conftest import Replay, shared_path

KEY = "sk-test-1234"


def test_keys(
    replay: Callable[[Path], Replay], database: Database, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = replay(shared_path("cases", "fixtures", "all-good.json"))
    pair = pairs(server.base_url, settings, "queries-3.txt")[0]
    verdicts = []
    for n, key in enumerate(["", f"{KEY}\n", f"  {KEY} \r\n"]):
        endpoint = ChatEndpoint(server.base_url, "scripted-judge", api_key=SecretStr(key), timeout_s=5)
        seen = len(server.chats())
        # Another text a round: an equal request would come from the store, whatever the key.
        verdicts.append(
            LlmJudge(OpenAIChat(endpoint, database), seed=n).judge(pair.query, pair.text_a + "\n" * n, pair.text_b)
        )
        auth = {entry["auth"] for entry in server.chats()[seen:]}
        assert auth == ({f"Bearer {KEY}"} if key else {"Bearer no-key"})
    assert [verdict.outcome for verdict in verdicts] == [Outcome.A] * 3
    EndpointEncoder(scripted_spec("emb-a", server.base_url), SecretStr(f"{KEY}\n"), settings).encode_queries(["x"])
    assert server.requests("/embeddings")[-1]["auth"] == f"Bearer {KEY}"
    assert KEY not in caplog.text + repr(verdicts)
    database.close()
    for path in settings.data_dir.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()
