"""Replies and duels that the judging tests are made of."""

from __future__ import annotations

import json
from typing import Any

from backend.judging import DIMENSIONS, Outcome
from backend.llm.types import ChatRequest
from backend.retrieval.types import Duel, Hit, HydeSettings, RankedList

GOOD = (9, 9, 9, 9)
BAD = (4, 4, 5, 5)


def mirrored(outcome: Outcome) -> Outcome:
    """The outcome seen with the sides exchanged."""
    return {Outcome.A: Outcome.B, Outcome.B: Outcome.A}.get(outcome, outcome)


def reply_data(
    a: tuple[Any, ...] = GOOD, b: tuple[Any, ...] = BAD, winner: str = "chunk_a", **fields: Any
) -> dict[str, Any]:
    def side(scores: tuple[Any, ...]) -> dict[str, Any]:
        numbers = [s for s in scores if isinstance(s, float) or (isinstance(s, int) and abs(s) < 1e6)]
        return {**dict(zip(DIMENSIONS, scores, strict=True)), "overall": sum(numbers) / max(1, len(numbers))}

    return {
        "chunk_a_strengths": ["names the fact"],
        "chunk_a_weaknesses": ["short"],
        "chunk_b_strengths": [],
        "chunk_b_weaknesses": ["off the question"],
        "winner_reason": "One answers. The other does not.",
        "deciding_dimension": "query_relevance",
        "chunk_a_score": side(a),
        "chunk_b_score": side(b),
        "winner": winner,
        "confidence": 0.9,
        **fields,
    }


def reply(*args: Any, **fields: Any) -> str:
    return json.dumps(reply_data(*args, **fields))


def slots(request: ChatRequest, text_a: str, text_b: str) -> tuple[str, str]:
    """Which slots the two texts stand in: ("chunk_a", "chunk_b") where a is first."""
    prompt = request.messages[0].content
    return ("chunk_a", "chunk_b") if prompt.index(text_a) < prompt.index(text_b) else ("chunk_b", "chunk_a")


def preferring(better: str, worse: str) -> Any:
    """A judge that knows the better text wherever it stands."""

    def answer(request: ChatRequest) -> str:
        slot, _ = slots(request, better, worse)
        return reply() if slot == "chunk_a" else reply(BAD, GOOD, "chunk_b")

    return answer


def ranked(model: str, texts: list[str]) -> RankedList:
    hits = tuple(
        Hit(n, 0.8765 - n / 100, f"chunkid-{model}-{n}", f"docid-{n}", f"secret-file-{n}.pdf", f"page {n}", 0, 9, text)
        for n, text in enumerate(texts, 1)
    )
    return RankedList(model, f"fingerprint-of-{model}", hits, 1.0, 1.0)


def duel(
    a: list[str], b: list[str], *, query: str = "When does the harbour open?", duel_id: str = "duel-1", k: int = 5
) -> Duel:
    return Duel(
        duel_id, "corpus-1", "Harbour notes", "version-1", query, k, ranked("nomic-embed-text", a),
        ranked("bge-small-en", b), HydeSettings(), None, 7, "2026-11-30T00:00:00+00:00",
    )  # fmt: skip
