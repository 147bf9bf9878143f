"""Duels as records: an id that names the content, and an exact way to JSON and back."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from sqlalchemy import select

from backend.errors import NotFoundError
from backend.retrieval.types import Duel, Expansion, Hit, HydeSettings, RankedList
from backend.store import Database, sha256_hex
from backend.store.tables import DuelRow


def duel_id_for(
    *,
    corpus_id: str,
    version_id: str,
    query: str,
    k: int,
    model_a: str,
    model_b: str,
    hyde: HydeSettings | None,
    writer: str = "",
) -> str:
    """The id of a duel: equal content, equal id, so that asking again costs nothing and links stay.

    ``model_a`` and ``model_b`` are registry key and fingerprint; ``writer`` is all that changes HyDE's passages.
    """
    told = [
        corpus_id, version_id, query, k, model_a, model_b, asdict(hyde) if hyde else None, writer,
    ]  # fmt: skip
    return sha256_hex(json.dumps(told, sort_keys=True))[:20]


def duel_to_json(duel: Duel) -> dict[str, Any]:
    """Plain data, the whole duel."""
    return asdict(duel)


def duel_from_json(data: dict[str, Any]) -> Duel:
    """The inverse of duel_to_json."""
    return Duel(
        **{
            **data,
            "a": _ranked_list(data["a"]),
            "b": _ranked_list(data["b"]),
            "hyde": HydeSettings(**data["hyde"]) if data["hyde"] else None,
            "expansion": _expansion(data["expansion"]) if data["expansion"] else None,
        }
    )


def _ranked_list(data: dict[str, Any]) -> RankedList:
    return RankedList(**{**data, "hits": tuple(Hit(**hit) for hit in data["hits"])})


def _expansion(data: dict[str, Any]) -> Expansion:
    return Expansion(**{**data, "passages": tuple(data["passages"])})


class DuelStore:
    """Keeps duels.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, duel: Duel) -> None:
        """Keep a duel; the same id again replaces it."""
        with self._database.session() as session:
            session.merge(
                DuelRow(
                    duel_id=duel.duel_id,
                    corpus_id=duel.corpus_id,
                    version_id=duel.version_id,
                    query=duel.query,
                    model_a=duel.a.model,
                    model_b=duel.b.model,
                    payload=json.loads(json.dumps(duel_to_json(duel))),
                    created_at=duel.created_at,
                )
            )

    def get(self, duel_id: str) -> Duel:
        """The duel with this id.

        Raises:
            NotFoundError: There is none.
        """
        duel = self.find(duel_id)
        if duel is None:
            raise NotFoundError(f"There is no duel {duel_id!r}.", hint="The link may come from another data folder.")
        return duel

    def find(self, duel_id: str) -> Duel | None:
        """The duel with this id, or None."""
        with self._database.session() as session:
            row = session.get(DuelRow, duel_id)
            return None if row is None else duel_from_json(dict(row.payload))

    def recent(self, limit: int = 20, corpus_id: str | None = None) -> list[Duel]:
        """The newest duels, newest first, of one corpus or of all."""
        statement = select(DuelRow).order_by(DuelRow.created_at.desc()).limit(limit)
        if corpus_id is not None:
            statement = statement.where(DuelRow.corpus_id == corpus_id)
        with self._database.session() as session:
            return [duel_from_json(dict(row.payload)) for row in session.scalars(statement)]
