"""Case 13: a server refuses response_format with a plain string as its error."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from backend.judging.llm_judge import LlmJudge
from backend.judging.types import Outcome
from backend.llm import ChatEndpoint, OpenAIChat
from backend.settings import Settings
from backend.store import Database
from tests.cases.clients import pairs
from tests.conftest import Replay, shared_path


@pytest.mark.parametrize("n_threads", [1, 4])
def test_the_format_is_found_out_once(
    n_threads: int, replay: Callable[[Path], Replay], database: Database, settings: Settings
) -> None:
    server = replay(shared_path("cases", "cases", "13-client-response-format-rejected", "responses.json"))

    def judged(pair: tuple[str, str, str]) -> Outcome:
        # A new object a pair, as pages and jobs make them: what is known must lie in the database.
        chat = OpenAIChat(ChatEndpoint(server.base_url, "scripted-judge", timeout_s=5), database)
        verdict = LlmJudge(chat, seed=settings.seed).judge(*pair)
        assert verdict.outcome is not Outcome.UNSCORED, [order.unscored_reason for order in verdict.orders]
        return verdict.outcome

    todo = [(p.query, p.text_a, p.text_b) for p in pairs(server.base_url, settings, "queries-5.txt")]
    with ThreadPoolExecutor(n_threads) as pool:
        assert list(pool.map(judged, todo)) == [Outcome.A] * 5
    statuses = [entry["status"] for entry in server.chats()]
    assert statuses.count(400) == 2
    assert statuses.count(200) == 10
    formats = [(entry["body"].get("response_format") or {}).get("type") for entry in server.chats()]
    assert formats == ["json_schema", "json_object", *[None] * 10]
