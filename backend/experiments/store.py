"""Experiments as records: the plan with all that it needs, every judged duel, and the results made of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import delete, func, select, update

from backend.errors import NotFoundError
from backend.experiments.plan_json import plan_from_json, plan_to_json
from backend.experiments.query_sets import QuerySet, query_set_from_json, query_set_to_json
from backend.experiments.types import ExperimentPlan
from backend.store import Database, now_iso, sha256_hex
from backend.store.tables import ExperimentDuelRow, ExperimentRow, JudgementRow

_ID_LENGTH = 16
_BATCH = 5_000


class DuelKey(NamedTuple):
    """A duel's place in the plan: numbers of judge, query, the two arms, and the repeat."""

    judge: int
    query: int
    first: int
    second: int
    repeat: int


@dataclass(frozen=True, slots=True)
class DuelRecord:
    """A judged duel.

    Attributes:
        judgement_id: The judgement, in the JudgementStore.
        is_swapped: The first arm's text is the judgement's side b.
        cost_usd: What this experiment paid for it; None where unknown.
    """

    key: DuelKey
    judgement_id: str
    is_swapped: bool
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment, readable by itself whatever becomes of corpus and query set.

    Attributes:
        plan: With every default made explicit: endpoints, models and seeds are named.
        query_set: As it was.
        corpus_name: As it was.
        versions: Arm name -> corpus version that it searches.
        fingerprints: Arm name -> fingerprint of that version.
        runs: Arm name -> name of its stored run.
        writer: Who writes HyDE's passages, as (base URL, model); empty where no arm uses it.
        job_id: The newest job that works on it.
    """

    experiment_id: str
    plan: ExperimentPlan
    query_set: QuerySet = field(repr=False)
    corpus_name: str
    versions: Mapping[str, str]
    fingerprints: Mapping[str, str]
    runs: Mapping[str, str]
    writer: tuple[str, str] = ("", "")
    job_id: str = ""
    created_at: str = ""


def experiment_id_for(told: Any) -> str:
    """The id of an experiment: equal content, equal id, so that running it again costs nothing."""
    return sha256_hex(json.dumps(told, sort_keys=True, default=str))[:_ID_LENGTH]


class ExperimentStore:
    """Keeps experiments.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, experiment: Experiment) -> Experiment:
        """Keep an experiment; the same one again takes the new name, limits and job, and keeps what was judged."""
        now = now_iso()
        payload = {
            "plan": plan_to_json(experiment.plan),
            "query_set": query_set_to_json(experiment.query_set),
            "corpus_name": experiment.corpus_name,
            "versions": dict(experiment.versions),
            "fingerprints": dict(experiment.fingerprints),
            "runs": dict(experiment.runs),
            "writer": list(experiment.writer),
        }
        with self._database.session() as session:
            row = session.get(ExperimentRow, experiment.experiment_id)
            if row is None:
                row = ExperimentRow(
                    experiment_id=experiment.experiment_id, corpus_id=experiment.plan.corpus_id, results={},
                    created_at=now,
                )  # fmt: skip
                session.add(row)
            row.name, row.plan, row.updated_at = experiment.plan.name, payload, now
            session.flush()
            return _experiment(row)

    def get(self, experiment_id: str) -> Experiment:
        """One experiment.

        Raises:
            NotFoundError: There is none with this id.
        """
        with self._database.session() as session:
            row = session.get(ExperimentRow, experiment_id)
            if row is None:
                raise NotFoundError(
                    f"There is no experiment {experiment_id[:40]!r}.",
                    hint="The link may come from another data folder.",
                )
            return _experiment(row)

    def find(self, experiment_id: str) -> Experiment | None:
        """One experiment, or None."""
        with self._database.session() as session:
            row = session.get(ExperimentRow, experiment_id)
            return None if row is None else _experiment(row)

    def list(self) -> list[Experiment]:
        """All experiments, the newest first."""
        with self._database.session() as session:
            rows = session.scalars(select(ExperimentRow).order_by(ExperimentRow.created_at.desc()))
            return [_experiment(row) for row in rows]

    def set_job(self, experiment_id: str, job_id: str) -> None:
        """Say which job works on it."""
        self._set(experiment_id, job_id=job_id)

    def rename(self, experiment_id: str, name: str) -> None:
        """Give it another name."""
        experiment = self.get(experiment_id)
        with self._database.session() as session:
            row = session.get_one(ExperimentRow, experiment.experiment_id)
            row.name, row.plan = name, {**row.plan, "plan": {**row.plan["plan"], "name": name}}

    def delete(self, experiment_id: str) -> None:
        """Remove it. Answers that were paid for stay, so that the same experiment again costs nothing."""
        self.get(experiment_id)
        with self._database.session() as session:
            session.execute(delete(ExperimentDuelRow).where(ExperimentDuelRow.experiment_id == experiment_id))
            session.execute(delete(ExperimentRow).where(ExperimentRow.experiment_id == experiment_id))

    # Results

    def results(self, experiment_id: str) -> dict[str, Any]:
        """The results document as it was kept; empty where none was made."""
        with self._database.session() as session:
            row = session.get(ExperimentRow, experiment_id)
            return {} if row is None else dict(row.results)

    def keep_results(self, experiment_id: str, results: Mapping[str, Any]) -> None:
        """Keep the results document."""
        self._set(experiment_id, results=dict(results))

    # Duels

    def done(self, experiment_id: str) -> set[DuelKey]:
        """The duels that are judged."""
        columns = (ExperimentDuelRow.judge, ExperimentDuelRow.query, ExperimentDuelRow.first,
                   ExperimentDuelRow.second, ExperimentDuelRow.repeat)  # fmt: skip
        with self._database.session() as session:
            rows = session.execute(select(*columns).where(ExperimentDuelRow.experiment_id == experiment_id))
            return {DuelKey(*row) for row in rows}

    def add_duels(self, experiment_id: str, records: Sequence[DuelRecord]) -> None:
        """Keep judged duels; one that is there is replaced."""
        with self._database.session() as session:
            for record in records:
                session.merge(
                    ExperimentDuelRow(
                        experiment_id=experiment_id, **record.key._asdict(), judgement_id=record.judgement_id,
                        is_swapped=record.is_swapped, cost_usd=record.cost_usd,
                    )
                )  # fmt: skip

    def duels(self, experiment_id: str) -> Iterator[DuelRecord]:
        """All judged duels, by judge, query, arms and repeat; a few thousand at a time."""
        row = ExperimentDuelRow
        order = (row.judge, row.query, row.first, row.second, row.repeat)
        statement = select(row).where(row.experiment_id == experiment_id).order_by(*order)
        first = 0
        while True:
            with self._database.session() as session:
                batch = [_record(found) for found in session.scalars(statement.offset(first).limit(_BATCH))]
            yield from batch
            if len(batch) < _BATCH:
                return
            first += len(batch)

    def duels_of_query(self, experiment_id: str, query: int) -> list[DuelRecord]:  # type: ignore[valid-type]  # list() above
        """The judged duels of one query."""
        row = ExperimentDuelRow
        statement = select(row).where(row.experiment_id == experiment_id, row.query == query)
        with self._database.session() as session:
            return [_record(found) for found in session.scalars(statement)]

    def forget_failed(self, experiment_id: str) -> int:
        """Let the duels without a score be judged again; how many there are."""
        row = ExperimentDuelRow
        failed = select(JudgementRow.judgement_id).where(JudgementRow.outcome == "unscored")
        with self._database.session() as session:
            gone = session.execute(
                delete(row).where(row.experiment_id == experiment_id, row.judgement_id.in_(failed)).returning(row.query)
            )
            return len(gone.all())

    def outcome_counts(self, experiment_id: str) -> dict[tuple[int, int, int, str, bool], int]:
        """(judge, first arm, second arm, outcome, is swapped) -> duels, for a look while it runs."""
        row = ExperimentDuelRow
        columns = (row.judge, row.first, row.second, JudgementRow.outcome, row.is_swapped)
        statement = (
            select(*columns, func.count())
            .join(JudgementRow, JudgementRow.judgement_id == row.judgement_id)
            .where(row.experiment_id == experiment_id)
            .group_by(*columns)
        )
        with self._database.session() as session:
            return {(j, a, b, outcome, bool(swapped)): n for j, a, b, outcome, swapped, n in session.execute(statement)}

    def spent_usd(self, experiment_id: str) -> float:
        """What its judgements cost so far, as far as that is known."""
        row = ExperimentDuelRow
        with self._database.session() as session:
            total = session.scalar(select(func.sum(row.cost_usd)).where(row.experiment_id == experiment_id))
            return float(total or 0.0)

    def _set(self, experiment_id: str, **values: Any) -> None:
        with self._database.session() as session:
            session.execute(
                update(ExperimentRow)
                .where(ExperimentRow.experiment_id == experiment_id)
                .values(**values, updated_at=now_iso())
            )


def _record(row: ExperimentDuelRow) -> DuelRecord:
    key = DuelKey(row.judge, row.query, row.first, row.second, row.repeat)
    return DuelRecord(key, row.judgement_id, bool(row.is_swapped), row.cost_usd)


def _experiment(row: ExperimentRow) -> Experiment:
    data = dict(row.plan)
    base_url, model = data["writer"]
    return Experiment(
        row.experiment_id,
        plan_from_json(data["plan"]),
        query_set_from_json(data["query_set"]),
        data["corpus_name"],
        data["versions"],
        data["fingerprints"],
        data["runs"],
        (base_url, model),
        row.job_id,
        row.created_at,
    )
