"""Verdicts with their duels, and the filters over them. Pure: no page, no store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.judging import StoredVerdict
from backend.judging.types import Outcome
from backend.retrieval.types import Duel

WIN, TIE, UNSCORED = "win", "tie", "unscored"


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """A stored verdict and the duel that it is about."""

    stored: StoredVerdict
    duel: Duel

    @property
    def kind(self) -> str:
        """``win``, ``tie`` or ``unscored``."""
        outcome = self.stored.verdict.outcome
        return WIN if outcome in (Outcome.A, Outcome.B) else TIE if outcome is Outcome.TIE else UNSCORED

    @property
    def winner(self) -> str:
        """The winning model's key, or ""."""
        outcome = self.stored.verdict.outcome
        return {Outcome.A: self.duel.a.model, Outcome.B: self.duel.b.model}.get(outcome, "")

    @property
    def judge(self) -> str:
        """The judge for people: kind and model."""
        return f"{self.stored.verdict.judge.kind}: {self.stored.verdict.judge.model}"

    @property
    def models(self) -> tuple[str, str]:
        """Both models' keys, a before b."""
        return self.duel.a.model, self.duel.b.model


@dataclass(frozen=True, slots=True)
class Filters:
    """What to keep; an empty field keeps everything."""

    text: str = ""
    kinds: Sequence[str] = ()
    judges: Sequence[str] = ()
    corpora: Sequence[str] = ()
    models: Sequence[str] = ()
    order_dependent: bool = False

    def keep(self, row: VerdictRow) -> bool:
        """Whether a row passes every filter."""
        return all(
            (
                self.text.casefold().strip() in row.duel.query.casefold(),
                not self.kinds or row.kind in self.kinds,
                not self.judges or row.judge in self.judges,
                not self.corpora or row.duel.corpus_name in self.corpora,
                not self.models or any(model in self.models for model in row.models),
                not self.order_dependent or row.stored.verdict.order_dependent,
            )
        )


def counted(rows: Iterable[VerdictRow]) -> dict[str, int]:
    """Rows by kind; every kind is named, also where it counts 0."""
    counts = {WIN: 0, TIE: 0, UNSCORED: 0}
    for row in rows:
        counts[row.kind] += 1
    return counts
