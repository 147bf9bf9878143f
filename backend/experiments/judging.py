"""The judging of an experiment: many duels at once, each stored the moment it is done, none paid for twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from backend.errors import BudgetError, CancelledError, ProviderError
from backend.experiments.store import DuelKey, DuelRecord, ExperimentStore
from backend.judging import Judge, JudgementStore, Outcome, Verdict, judgement_key
from backend.llm import Pace

Progress = Callable[[str, int, int], None]
Texts = Mapping[int, tuple[str, ...]]
"""Number of an arm -> texts of its first k chunks for one query, best first."""

_AHEAD = 3  # duels handed out for each worker: no worker waits for texts, and memory stays flat
_STOP_HEARD_WITHIN_S = 0.2


@dataclass(frozen=True, slots=True)
class Duels:
    """What there is to judge.

    Attributes:
        experiment_id: Where it is kept.
        queries: Texts of the queries, in the order of the plan.
        pairs: Numbers of the arms that are compared.
        judges: For each judge of the plan, its repeats.
        texts_of: The texts of every arm for a query, by its number.
        compared: The two texts that a judge sees, from the chunks of both arms.
    """

    experiment_id: str
    queries: Sequence[str]
    pairs: Sequence[tuple[int, int]]
    judges: Sequence[Sequence[Judge]]
    texts_of: Callable[[int], Texts]
    compared: Callable[[Sequence[str], Sequence[str]], tuple[str, str]]

    @property
    def n_duels(self) -> int:
        """Duels in all, each judge and repeat counted."""
        return len(self.queries) * len(self.pairs) * sum(map(len, self.judges))

    def keys_of(self, query: int) -> Iterator[DuelKey]:
        """The duels of one query."""
        for first, second in self.pairs:
            for judge, repeats in enumerate(self.judges):
                for repeat in range(len(repeats)):
                    yield DuelKey(judge, query, first, second, repeat)


@dataclass(slots=True)
class _Task:
    """One judgement and all duels that it settles: arms that found the same texts share it."""

    judge: Judge
    query: str
    texts: tuple[str, str]
    records: list[tuple[DuelKey, bool]] = field(default_factory=list)


class ExperimentJudging:
    """Judges the duels of an experiment that are not judged yet.

    Args:
        experiments: Where duels are kept.
        judgements: Where judgements are kept.
        pace: Shared by all chat models of the run; it stops everybody at a fatal fault or an empty budget.
        workers: Duels that are judged at the same time.
        progress: Told (stage, done, total).
        cancelled: True stops; what is under way is heard first where it is paid for already.
    """

    def __init__(
        self,
        experiments: ExperimentStore,
        judgements: JudgementStore,
        *,
        pace: Pace,
        workers: int,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self._experiments = experiments
        self._judgements = judgements
        self._pace = pace
        self._workers = workers
        self._progress = progress
        self._cancelled = cancelled
        self._stop = threading.Event()
        self._n_done = 0

    def stopping(self) -> bool:
        """Whether the work ends now: asked by judges while they wait."""
        return self._stop.is_set() or (self._cancelled is not None and self._cancelled())

    def run(self, duels: Duels) -> None:
        """Judge what is missing.

        Raises:
            CancelledError: Stopped by a person.
            ProviderError: The endpoint refuses every further call, or fails again and again.
            BudgetError: The next call could exceed the budget.
        """
        done = self._experiments.done(duels.experiment_id)
        self._n_done = len(done)
        self._tell(duels)
        pool = ThreadPoolExecutor(self._workers, thread_name_prefix="duel")
        pending: set[Future[int]] = set()
        tasks = self._tasks(duels, done)
        try:
            while True:
                if self.stopping():
                    raise CancelledError("The experiment was stopped.", hint="What was judged is kept; it can go on.")
                while len(pending) < self._workers * _AHEAD and (task := next(tasks, None)) is not None:
                    pending.add(pool.submit(self._judge, duels.experiment_id, task))
                if not pending:
                    self._tell(duels)
                    return
                finished, pending = wait(pending, timeout=_STOP_HEARD_WITHIN_S, return_when=FIRST_COMPLETED)
                for future in finished:
                    self._n_done += future.result()
                self._tell(duels)
        finally:
            self._stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def _tasks(self, duels: Duels, done: set[DuelKey]) -> Iterator[_Task]:
        """Query by query, so that a run that stops early has asked every pair about as often."""
        for at, query in enumerate(duels.queries):
            missing = [key for key in duels.keys_of(at) if key not in done]
            if not missing:
                continue
            texts = duels.texts_of(at)
            tasks: dict[str, _Task] = {}
            for key in missing:
                judge = duels.judges[key.judge][key.repeat]
                a, b = duels.compared(texts[key.first], texts[key.second])
                judgement_id, is_swapped = judgement_key(judge.identity, query, a, b)
                task = tasks.setdefault(judgement_id, _Task(judge, query, (b, a) if is_swapped else (a, b)))
                task.records.append((key, is_swapped))
            yield from self._not_known(duels.experiment_id, tasks)

    def _not_known(self, experiment_id: str, tasks: Mapping[str, _Task]) -> Iterator[_Task]:
        """The tasks that need a judge; the others are settled by what the store holds."""
        known = self._judgements.outcomes(list(tasks))
        for judgement_id, task in tasks.items():
            if known.get(judgement_id, Outcome.UNSCORED) is Outcome.UNSCORED:
                yield task
            else:
                self._keep(experiment_id, task, judgement_id, 0.0)
                self._n_done += len(task.records)

    def _judge(self, experiment_id: str, task: _Task) -> int:
        """Judge, store, and tell how many duels that settles. Runs in a worker."""
        if self.stopping():
            return 0
        try:
            verdict = task.judge.judge(task.query, *task.texts)
        except CancelledError:
            return 0
        except (ProviderError, BudgetError):
            self._stop.set()
            raise
        if verdict.provider_failed and self._pace.fatal is not None:
            # Not a verdict about this duel: it would have failed for any. Whoever resumes asks it again.
            self._stop.set()
            raise self._pace.fatal
        judgement_id = self._judgements.save(task.query, *task.texts, verdict)
        self._keep(experiment_id, task, judgement_id, paid_usd(verdict))
        return len(task.records)

    def _keep(self, experiment_id: str, task: _Task, judgement_id: str, cost_usd: float | None) -> None:
        # Paid once, however many duels it settles.
        costs = [cost_usd, *[0.0] * (len(task.records) - 1)]
        records = [
            DuelRecord(key, judgement_id, is_swapped, cost)
            for (key, is_swapped), cost in zip(task.records, costs, strict=True)
        ]
        self._experiments.add_duels(experiment_id, records)

    def _tell(self, duels: Duels) -> None:
        if self._progress is not None:
            self._progress("Judging", self._n_done, duels.n_duels)


def paid_usd(verdict: Verdict) -> float | None:
    """What a verdict cost; None where the endpoint told no usage or has no prices."""
    costs = [order.cost_usd for order in verdict.orders]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
