"""What makes a plan a good one: names for arms, and checks whose errors say what to change."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from backend.corpus.types import Chunking, ChunkStrategy
from backend.errors import InputError
from backend.experiments.types import MAX_ARMS, RUN_DEPTH, Arm, ExperimentPlan, JudgeSettings, RetrieverKind
from backend.judging.types import JudgeKind

MAX_JUDGES = 7
MAX_REPEATS = 9
MAX_CONCURRENCY = 64


def arm_name(arm: Arm) -> str:
    """What an arm is called where nobody named it: its parts in plain words."""
    parts = [*arm.models, *(["BM25"] if arm.with_bm25 or arm.retriever is RetrieverKind.BM25 else [])]
    words = " + ".join(parts)
    if arm.hyde:
        words += f" with HyDE ×{arm.hyde.n_passages}" if arm.hyde.n_passages > 1 else " with HyDE"
        words += "" if arm.hyde.with_query else " (passages alone)"
    return words + (f", {chunking_words(arm.chunking)}" if arm.chunking else "")


def chunking_words(chunking: Chunking) -> str:
    """A chunking in a few words: ``chunks of 200 tokens``."""
    if chunking.strategy is ChunkStrategy.WHOLE:
        return "whole documents"
    how = "" if chunking.strategy is ChunkStrategy.TOKENS else f" by {chunking.strategy.value}"
    unit = "tokens" if chunking.strategy is ChunkStrategy.TOKENS else chunking.unit.value
    return f"chunks of {chunking.size} {unit}{how}, {chunking.overlap} shared"


def named(arm: Arm) -> Arm:
    """The arm with a name."""
    return arm if arm.name.strip() else replace(arm, name=arm_name(arm))


def checked(plan: ExperimentPlan) -> ExperimentPlan:
    """The plan with every arm named.

    Raises:
        InputError: It can't be run as it stands.
    """
    plan = replace(plan, name=plan.name.strip() or "Experiment", arms=tuple(map(named, plan.arms)))
    _check_arms(plan)
    for judge in plan.judges:
        _check_judge(judge)
    if len(plan.judges) > MAX_JUDGES:
        raise InputError(f"{len(plan.judges)} judges are too many.", hint=f"Choose {MAX_JUDGES} at most.")
    if len(set(plan.judges)) < len(plan.judges):
        raise InputError("Two judges are the same.", hint="For several answers of one judge raise its repeats.")
    if not 1 <= plan.k <= RUN_DEPTH:
        raise InputError(f"The cutoff k is {plan.k}; it must lie between 1 and {RUN_DEPTH}.")
    if not 1 <= plan.concurrency <= MAX_CONCURRENCY:
        raise InputError(f"The concurrency is {plan.concurrency}; it must lie between 1 and {MAX_CONCURRENCY}.")
    if plan.requests_per_minute < 0 or plan.budget_usd < 0:
        raise InputError("A limit can't be negative.", hint="0 means that there is none.")
    return plan


def _check_arms(plan: ExperimentPlan) -> None:
    if not 2 <= len(plan.arms) <= MAX_ARMS:
        raise InputError(
            f"The plan has {len(plan.arms)} of the 2 to {MAX_ARMS} arms that can be compared.",
            hint="Add an arm: another model, BM25, HyDE, or another chunking."
            if len(plan.arms) < 2
            else "Leave some out.",
        )
    for name, n in Counter(arm.name for arm in plan.arms).items():
        if n > 1:
            raise InputError(f"{n} arms are called {name}.", hint="Give each a name of its own.")
    for arm in plan.arms:
        _check_arm(arm)
    for content, n in Counter(replace(arm, name="") for arm in plan.arms).items():
        if n > 1:
            raise InputError(f"{n} arms are the same: {arm_name(content)}.", hint="Leave one of them out.")
    if plan.against and plan.against not in {arm.name for arm in plan.arms}:
        raise InputError(f"No arm is called {plan.against}.", hint="Name one of the arms to compare all others with.")


def _check_arm(arm: Arm) -> None:
    n_lists = len(arm.models) + arm.with_bm25
    if arm.retriever is RetrieverKind.DENSE and (len(arm.models) != 1 or arm.with_bm25):
        raise InputError(f"The arm {arm.name} needs exactly one model.", hint="Several models make a hybrid arm.")
    if arm.retriever is RetrieverKind.BM25 and n_lists:
        raise InputError(f"The arm {arm.name} is BM25 and takes no model.", hint="With a model it is a hybrid arm.")
    if arm.retriever is RetrieverKind.HYBRID and (n_lists < 2 or len(set(arm.models)) < len(arm.models)):
        raise InputError(
            f"The hybrid arm {arm.name} fuses {n_lists} lists; it needs two or more different ones.",
            hint="Add a model or BM25.",
        )


def _check_judge(judge: JudgeSettings) -> None:
    if not 1 <= judge.repeats <= MAX_REPEATS:
        raise InputError(f"A judge is asked {judge.repeats} times; choose 1 to {MAX_REPEATS}.")
    if judge.kind is JudgeKind.LIKELIHOOD and judge.repeats > 1:
        raise InputError("The likelihood judge says the same each time.", hint="Leave its repeats at 1.")
    if not 0 <= judge.temperature <= 2:
        raise InputError(f"The judge's temperature is {judge.temperature:g}; it must lie between 0 and 2.")
    if judge.max_tokens < 256:
        raise InputError(
            f"A reply of at most {judge.max_tokens} tokens can't hold a verdict.", hint="Allow 1,000 or more."
        )
