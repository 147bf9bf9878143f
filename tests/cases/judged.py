"""The judge's side of the cases: what the scripted models find, judged at the case's server, without the app."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from backend.judging import LlmJudge, Verdict
from backend.llm import ChatEndpoint, OpenAIChat
from backend.settings import Settings
from backend.store import Database
from tests.cases.clients import Pair, pairs
from tests.conftest import Replay, shared_path

SEED = 7


@dataclass
class CaseJudge:
    """The judge of one case, and its server."""

    server: Replay
    judge: LlmJudge

    def verdicts(self, asked: list[Pair]) -> list[Verdict]:
        return [self.judge.judge(pair.query, pair.text_a, pair.text_b) for pair in asked]


OpenCase = Callable[..., CaseJudge]


@pytest.fixture
def open_case(settings: Settings, database: Database, replay: Callable[[Path], Replay]) -> OpenCase:
    """Start a case's script and a judge that asks it: ``open_case("01-judge-markdown-fence")``."""

    def start(name: str, *, both_orders: bool = True, seed: int = SEED) -> CaseJudge:
        server = replay(shared_path("cases", "cases", name, "responses.json"))
        chat = OpenAIChat(ChatEndpoint(server.base_url, "scripted-judge", timeout_s=settings.llm_timeout_s), database)
        return CaseJudge(server, LlmJudge(chat, both_orders=both_orders, seed=seed))

    return start


def judged(case: CaseJudge, settings: Settings, queries: str) -> list[Verdict]:
    """The verdicts on what emb-a and emb-b find first in the small corpus."""
    return case.verdicts(pairs(case.server.base_url, settings, queries))


def scores(verdict: Verdict) -> set[tuple[float, float]]:
    """Overall scores of a and b, over the orders."""
    return {(o.scores_a.overall, o.scores_b.overall) for o in verdict.orders if o.scores_a and o.scores_b}
