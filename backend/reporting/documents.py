"""A duel with its verdict as one JSON document, as the command line prints it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from backend.judging.store import StoredVerdict
from backend.retrieval.types import Duel, RankedList


def duel_document(duel: Duel, stored: StoredVerdict | None) -> dict[str, Any]:
    """Plain data: ``query``, ``a``, ``b``, ``hyde``, ``verdict`` (None where nobody judged), ids."""
    return {
        "duel_id": duel.duel_id,
        "corpus": duel.corpus_name,
        "corpus_id": duel.corpus_id,
        "version_id": duel.version_id,
        "query": duel.query,
        "k": duel.k,
        "a": _side(duel.a),
        "b": _side(duel.b),
        "hyde": _hyde(duel),
        "verdict": _verdict(stored) if stored else None,
        "created_at": duel.created_at,
    }


def _side(found: RankedList) -> dict[str, Any]:
    return {
        "model": found.model,
        "fingerprint": found.model_fingerprint,
        "measure": "cosine",
        "encode_ms": found.encode_ms,
        "search_ms": found.search_ms,
        "n_unembedded": found.n_unembedded,
        "n_cut": found.n_cut,
        "query_was_cut": found.query_was_cut,
        "hits": [asdict(hit) for hit in found.hits],
    }


def _hyde(duel: Duel) -> dict[str, Any] | None:
    if duel.hyde is None or duel.expansion is None:
        return None
    return {**asdict(duel.hyde), **asdict(duel.expansion), "passages": list(duel.expansion.passages)}


def _verdict(stored: StoredVerdict) -> dict[str, Any]:
    verdict = asdict(stored.verdict)
    return {"verdict_id": stored.verdict_id, **verdict, "created_at": stored.created_at}
