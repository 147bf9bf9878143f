"""Judgements by content: what a judge said about a query and two texts, whichever arms found them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from statistics import fmean
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from backend.errors import NotFoundError
from backend.judging.store import verdict_from_json, verdict_to_json
from backend.judging.types import DIMENSIONS, JudgeIdentity, Outcome, Verdict
from backend.store import Database, now_iso, sha256_hex
from backend.store.tables import JudgementRow

_BATCH = 500
_JUDGE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Judgement:
    """A stored judgement; side a is the text of the lower sha256."""

    judgement_id: str
    query: str
    text_a: str
    text_b: str
    verdict: Verdict


def judgement_key(identity: JudgeIdentity, query: str, text_a: str, text_b: str) -> tuple[str, bool]:
    """The id of a judgement, and whether it is kept with the sides exchanged."""
    sha_a, sha_b = sha256_hex(text_a), sha256_hex(text_b)
    told = json.dumps([asdict(identity), sha256_hex(query), sorted((sha_a, sha_b))], sort_keys=True)
    return sha256_hex(told), sha_a > sha_b


def figures_of_verdict(verdict: Verdict) -> dict[str, Any]:
    """What statistics need of a verdict, as plain data."""
    scored = [order for order in verdict.orders if order.outcome in {Outcome.A, Outcome.B, Outcome.TIE}]
    decisive = [order for order in scored if order.outcome is not Outcome.TIE]
    names = (*DIMENSIONS, "overall")
    both = [(order.scores_a, order.scores_b) for order in scored if order.scores_a and order.scores_b]
    costs = [order.cost_usd for order in verdict.orders if order.cost_usd is not None]
    return {
        "outcome": verdict.outcome.value,
        "identical": verdict.identical,
        "order_dependent": verdict.order_dependent,
        "one_order": verdict.one_order,
        "n_first_shown_won": sum(order.outcome.value == order.first for order in decisive),
        "n_decisive_orders": len(decisive),
        "scores_a": {name: fmean(getattr(a, name) for a, _ in both) for name in names} if both else {},
        "scores_b": {name: fmean(getattr(b, name) for _, b in both) for name in names} if both else {},
        "margin": verdict.margin,
        "unscored_reason": _short_reason(verdict),
        "n_calls": len(verdict.orders),
        "cost_usd": sum(costs) if len(costs) == len(verdict.orders) else None,
        "n_tokens": sum((o.n_prompt_tokens or 0) + (o.n_completion_tokens or 0) for o in verdict.orders),
    }


def _short_reason(verdict: Verdict) -> str:
    """The kind of failure in a few words, so that like ones are counted together; empty where there is a score."""
    if verdict.outcome is not Outcome.UNSCORED:
        return ""
    told = [order.unscored_reason.partition(":")[0] for order in verdict.orders if order.unscored_reason]
    return told[0] if told else verdict.reason.removeprefix("Not scored: ").rstrip(".")


class JudgementStore:
    """Keeps judgements.

    Args:
        database: Where; shared between threads.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def outcomes(self, judgement_ids: Iterable[str]) -> dict[str, Outcome]:
        """The outcomes of those judgements that are known."""
        known: dict[str, Outcome] = {}
        for batch in _batches(judgement_ids):
            wanted = select(JudgementRow.judgement_id, JudgementRow.outcome).where(JudgementRow.judgement_id.in_(batch))
            with self._database.session() as session:
                known.update({found: Outcome(outcome) for found, outcome in session.execute(wanted)})
        return known

    def figures(self, judgement_ids: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The figures of those judgements that are known; texts and replies are not read."""
        known: dict[str, dict[str, Any]] = {}
        for batch in _batches(judgement_ids):
            wanted = select(JudgementRow.judgement_id, JudgementRow.figures).where(JudgementRow.judgement_id.in_(batch))
            with self._database.session() as session:
                known.update({found: dict(figures) for found, figures in session.execute(wanted)})
        return known

    def save(self, query: str, text_a: str, text_b: str, verdict: Verdict) -> str:
        """Keep a verdict on two texts; a scored one that is there stays.

        Args:
            query: As judged.
            text_a: The text of the lower sha256.
            text_b: The other.
            verdict: With these as its sides a and b.

        Returns:
            Its id.
        """
        judgement_id, is_swapped = judgement_key(verdict.judge, query, text_a, text_b)
        if is_swapped:
            raise ValueError("the text of the lower sha256 is side a")
        payload = {"query": query, "text_a": text_a, "text_b": text_b, "verdict": verdict_to_json(verdict)}
        try:
            with self._database.session() as session:
                row = session.get(JudgementRow, judgement_id)
                if row is not None and row.outcome != Outcome.UNSCORED:
                    return judgement_id
                if row is None:
                    row = JudgementRow(judgement_id=judgement_id)
                    session.add(row)
                row.judge = f"{verdict.judge.kind}: {verdict.judge.model}"[:_JUDGE_CHARS]
                row.outcome, row.figures, row.payload = verdict.outcome, figures_of_verdict(verdict), payload
                row.created_at = now_iso()
        except IntegrityError:
            return judgement_id  # another thread or process has just kept the same one
        return judgement_id

    def get(self, judgement_id: str) -> Judgement:
        """One judgement, whole.

        Raises:
            NotFoundError: There is none with this id.
        """
        with self._database.session() as session:
            row = session.get(JudgementRow, judgement_id)
            if row is None:
                raise NotFoundError(f"There is no judgement {judgement_id[:20]}.")
            told: Mapping[str, Any] = row.payload
            return Judgement(
                judgement_id, told["query"], told["text_a"], told["text_b"], verdict_from_json(told["verdict"])
            )


def _batches(ids: Iterable[str]) -> Iterator[Sequence[str]]:
    source = iter(ids)
    while batch := list(islice(source, _BATCH)):
        yield batch
