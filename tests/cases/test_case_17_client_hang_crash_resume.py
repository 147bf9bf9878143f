"""Case 17, the client's side: a hang ends, a 500 is told, and only the failed pairs are asked again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

import backend.llm.provider as provider_module
from backend.judging.llm_judge import LlmJudge
from backend.judging.types import Outcome, Verdict
from backend.llm import ChatEndpoint, OpenAIChat
from backend.settings import Settings
from backend.store import Database
from tests.cases.clients import pairs
from tests.conftest import Replay, shared_path


def test_hang_crash_resume(
    replay: Callable[[Path], Replay], database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider_module, "FIRST_WAIT_S", 0.01)
    broken = replay(shared_path("cases", "cases", "17-client-hang-crash-resume", "responses.json"))
    todo = pairs(broken.base_url, settings, "queries-5.txt")

    def judge_all(base_url: str) -> list[Verdict]:
        endpoint = ChatEndpoint(base_url, "scripted-judge", timeout_s=1)
        judge = LlmJudge(OpenAIChat(endpoint, database), seed=settings.seed)
        return [judge.judge(pair.query, pair.text_a, pair.text_b) for pair in todo]

    started = time.monotonic()
    first = judge_all(broken.base_url)
    assert time.monotonic() - started < 20
    outcomes = [verdict.outcome for verdict in first]
    assert outcomes == [Outcome.A, Outcome.A, Outcome.UNSCORED, Outcome.A, Outcome.UNSCORED]
    assert "did not finish its answer within 1 s" in first[2].orders[0].unscored_reason
    assert "internal error" in first[4].orders[0].unscored_reason
    asked = [entry for entry in broken.chats() if "Where are the spare keys?" in str(entry["body"])]
    assert len(asked) == 2  # a hang is not repeated: one call an order

    # The server is still broken: what was paid for is not asked again.
    seen = len(broken.chats())
    again = judge_all(broken.base_url)
    assert [verdict.outcome for verdict in again] == outcomes
    resent = {str(entry["body"]["messages"]) for entry in broken.chats()[seen:]}
    assert len(resent) == 4  # both orders of the two failed pairs


def test_the_failed_ones_again(
    replay: Callable[[Path], Replay], database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider_module, "FIRST_WAIT_S", 0.01)
    healed = replay(shared_path("cases", "fixtures", "all-good.json"))
    todo = pairs(healed.base_url, settings, "queries-5.txt")
    endpoint = ChatEndpoint(healed.base_url, "scripted-judge", timeout_s=5)
    judge = LlmJudge(OpenAIChat(endpoint, database), seed=settings.seed)
    for pair in (todo[0], todo[1], todo[3]):
        judge.judge(pair.query, pair.text_a, pair.text_b)
    seen = len(healed.chats())
    assert seen == 6
    verdicts = [judge.judge(pair.query, pair.text_a, pair.text_b) for pair in todo]
    assert [verdict.outcome for verdict in verdicts] == [Outcome.A] * 5
    assert len(healed.chats()) - seen == 4
