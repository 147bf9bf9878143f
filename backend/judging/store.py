"""Verdicts as records: one a duel and judge, kept exactly as they were given."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from backend.errors import NotFoundError
from backend.judging.types import DimensionScores, JudgeIdentity, JudgeKind, OrderJudgement, Outcome, Verdict
from backend.store import Database, now_iso
from backend.store.tables import VerdictRow

_PHRASES = ("strengths_a", "weaknesses_a", "strengths_b", "weaknesses_b", "contradictions")
_ID_LENGTH = 24
_JUDGE_CHARS = 300


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """A verdict with its place in the store."""

    verdict_id: str
    duel_id: str
    verdict: Verdict
    created_at: str


class VerdictStore:
    """Verdicts by duel and judge.

    Args:
        database: Where they lie; shared between threads.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, duel_id: str, verdict: Verdict) -> StoredVerdict:
        """Keep a verdict. The same judge's earlier verdict on the duel stays if it was scored, else is replaced.

        Returns:
            What the store now holds.

        Raises:
            NotFoundError: There is no such duel.
        """
        verdict_id = verdict_id_of(duel_id, verdict.judge)
        payload = verdict_to_json(verdict)
        try:
            with self._database.session() as session:
                row = session.get(VerdictRow, verdict_id)
                if row is not None and row.outcome != Outcome.UNSCORED:
                    return _stored(row)
                if row is None:
                    row = VerdictRow(verdict_id=verdict_id, duel_id=duel_id)
                    session.add(row)
                row.judge = f"{verdict.judge.kind}: {verdict.judge.model}"[:_JUDGE_CHARS]
                row.outcome = verdict.outcome
                row.payload = payload
                row.created_at = now_iso()
                session.flush()
                return _stored(row)
        except IntegrityError:
            known = self._find(verdict_id)  # another thread saved the same verdict at the same moment
            if known is None:
                raise NotFoundError(f"No duel has the id {duel_id}.", hint="Run the duel again.") from None
            return known

    def get(self, verdict_id: str) -> StoredVerdict:
        """One verdict.

        Raises:
            NotFoundError: No verdict has this id.
        """
        found = self._find(verdict_id)
        if found is None:
            raise NotFoundError(f"No verdict has the id {verdict_id}.")
        return found

    def for_duel(self, duel_id: str) -> list[StoredVerdict]:
        """All verdicts on a duel, the newest first."""
        return self._select(VerdictRow.duel_id == duel_id)

    def list(self) -> list[StoredVerdict]:
        """All verdicts, the newest first."""
        return self._select()

    def _find(self, verdict_id: str) -> StoredVerdict | None:
        with self._database.session() as session:
            row = session.get(VerdictRow, verdict_id)
            return None if row is None else _stored(row)

    def _select(self, *conditions: Any) -> list[StoredVerdict]:  # type: ignore[valid-type]  # list() above shadows it
        wanted = select(VerdictRow).where(*conditions).order_by(VerdictRow.created_at.desc(), VerdictRow.verdict_id)
        with self._database.session() as session:
            return [_stored(row) for row in session.scalars(wanted)]


def verdict_id_of(duel_id: str, judge: JudgeIdentity) -> str:
    """The id that this judge's verdict on this duel has."""
    told = json.dumps([duel_id, asdict(judge)], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:_ID_LENGTH]


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    """Plain data, exact: ``verdict_from_json`` gives an equal verdict back, also by way of JSON text.

    Raises:
        ValueError: A number is NaN or infinite, which JSON has no word for.
    """
    data: dict[str, Any] = json.loads(json.dumps(asdict(verdict), allow_nan=False))
    return data


def verdict_from_json(data: dict[str, Any]) -> Verdict:
    """The inverse of verdict_to_json."""
    judge = {**data["judge"], "kind": JudgeKind(data["judge"]["kind"])}
    return Verdict(
        **{
            **data,
            "outcome": Outcome(data["outcome"]),
            "judge": JudgeIdentity(**judge),
            "orders": tuple(map(_order_from_json, data["orders"])),
        }
    )


def _order_from_json(data: dict[str, Any]) -> OrderJudgement:
    scores = {name: data[name] and DimensionScores(**data[name]) for name in ("scores_a", "scores_b")}
    phrases = {name: tuple(data[name]) for name in _PHRASES}
    stated = None if data["stated_winner"] is None else Outcome(data["stated_winner"])
    return OrderJudgement(
        **{**data, **scores, **phrases, "outcome": Outcome(data["outcome"]), "stated_winner": stated}
    )  # fmt: skip


def _stored(row: VerdictRow) -> StoredVerdict:
    return StoredVerdict(row.verdict_id, row.duel_id, verdict_from_json(row.payload), row.created_at)
