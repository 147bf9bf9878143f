"""People's blind votes on duels."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal, cast, get_args

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from backend.errors import InputError, NotFoundError
from backend.judging.types import Side
from backend.store import Database, now_iso
from backend.store.tables import VoteRow

Choice = Literal["a", "b", "tie", "both_bad"]
_ID_LENGTH = 24
_RATER_CHARS = 100


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's choice, made before the names were shown.

    Attributes:
        vote_id: Names duel and rater.
        duel_id: What was voted on.
        choice: A side (not a place on the page), tie, or both bad.
        left_side: Which side stood left, so that a leaning to the left can be told.
        rater: Who voted; empty where nobody said.
        created_at: When.
    """

    vote_id: str
    duel_id: str
    choice: Choice
    left_side: Side
    rater: str
    created_at: str


class VoteStore:
    """Votes by duel and rater: a rater has one vote on a duel, and the last one counts (a double click is one)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def cast(self, duel_id: str, choice: Choice, left_side: Side, rater: str = "") -> Vote:
        """Keep a vote.

        Raises:
            InputError: The choice or the side is none, or the rater's name is too long.
            NotFoundError: There is no such duel.
        """
        if choice not in get_args(Choice) or left_side not in get_args(Side):
            raise InputError(f"A vote can't be {choice!r} with {left_side!r} on the left.")
        if len(rater) > _RATER_CHARS:
            raise InputError(f"A rater's name has at most {_RATER_CHARS} characters.")
        vote_id = hashlib.sha256(f"{duel_id}\0{rater}".encode("utf-8", "surrogatepass")).hexdigest()[:_ID_LENGTH]
        try:
            with self._database.session() as session:
                row = session.get(VoteRow, vote_id)
                if row is None:
                    row = VoteRow(vote_id=vote_id, duel_id=duel_id, rater=rater)
                    session.add(row)
                row.choice, row.left_side, row.created_at = choice, left_side, now_iso()
                session.flush()
                return _vote(row)
        except IntegrityError:
            same = [vote for vote in self.for_duel(duel_id) if vote.vote_id == vote_id]
            if not same:
                raise NotFoundError(f"No duel has the id {duel_id}.", hint="Run the duel again.") from None
            return same[0]  # the second of two clicks at the same moment

    def for_duel(self, duel_id: str) -> list[Vote]:
        """All votes on a duel, the oldest first."""
        wanted = select(VoteRow).where(VoteRow.duel_id == duel_id).order_by(VoteRow.created_at, VoteRow.vote_id)
        with self._database.session() as session:
            return [_vote(row) for row in session.scalars(wanted)]


def _vote(row: VoteRow) -> Vote:
    return Vote(
        row.vote_id, row.duel_id, cast(Choice, row.choice), cast(Side, row.left_side), row.rater, row.created_at
    )  # fmt: skip
