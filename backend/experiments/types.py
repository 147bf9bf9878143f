"""What an experiment is made of: arms, judges, a plan; and what comes of it: duels, scores, facts about arms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from backend.corpus.types import Chunking
from backend.judging.types import JudgeKind
from backend.retrieval.types import HydeSettings

MAX_ARMS = 12
RUN_DEPTH = 100
"""Chunks that every arm retrieves a query: enough for recall@100, whatever the cutoff k of the duels."""

DuelOutcome = Literal["first", "second", "tie", "unscored"]


class RetrieverKind(StrEnum):
    """How an arm finds chunks."""

    DENSE = "dense"
    BM25 = "bm25"
    HYBRID = "hybrid"  # reciprocal rank fusion of several


class Unit(StrEnum):
    """What of two ranked lists a judge compares."""

    TOP_CHUNK = "top chunk"
    TOP_LIST = "top-k list"


class LabelKind(StrEnum):
    """What qrels stand on."""

    NONE = "none"
    GOLD = "gold"  # somebody judged documents
    SILVER = "silver"  # the chunk that a query was written from; other chunks may answer it as well


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to retrieve, compared with others.

    Attributes:
        name: Shown everywhere; unique in its experiment.
        retriever: How it finds chunks.
        models: Registry keys (``KEY@256`` is a Matryoshka cut): one for dense, any number for hybrid, none for BM25.
        with_bm25: Hybrid only: BM25 is one of the lists that are fused.
        hyde: Query expansion, or None.
        chunking: How the corpus is cut for this arm; None: as it is cut now.
    """

    name: str
    retriever: RetrieverKind
    models: tuple[str, ...] = ()
    with_bm25: bool = False
    hyde: HydeSettings | None = None
    chunking: Chunking | None = None


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """Which judge, and how it is asked.

    Attributes:
        kind: LLM or likelihood; everything below is for the LLM judge.
        base_url: Chat endpoint; empty: the one in force.
        model: Chat model; empty: the one in force.
        temperature: Sampling temperature.
        seed: Of the drawn order, and sent to the endpoint; None: the app's own.
        reasoning_effort: For reasoning models ("minimal", "low", "medium", "high"); empty: not sent.
        max_tokens: Most completion tokens.
        both_orders: Ask with each side first.
        repeats: Times that each order is asked, each with a seed of its own; the majority counts.
        prompt: An edited prompt (a template as in ``prompts/judge.j2``); empty: the built-in one.
    """

    kind: JudgeKind = JudgeKind.LIKELIHOOD
    base_url: str = ""
    model: str = ""
    temperature: float = 0.0
    seed: int | None = None
    reasoning_effort: str = ""
    max_tokens: int = 4096
    both_orders: bool = True
    repeats: int = 1
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """A query set over several arms, and who judges.

    Attributes:
        name: For people.
        corpus_id: The corpus.
        query_set_id: The query set (one version of it).
        arms: Two to MAX_ARMS.
        judges: None: metrics with qrels only. Several: a panel.
        k: Cutoff of the duels' lists and of the metrics.
        unit: What a judge compares.
        against: Name of the arm that all others are compared with; empty: all pairs.
        concurrency: Judge calls under way at the same time.
        requests_per_minute: Most judge calls a minute; 0: no limit.
        budget_usd: The run stops before more than this is spent; 0: no limit.
        probe: Ask every LLM judge about planted pairs first.
    """

    name: str
    corpus_id: str
    query_set_id: str
    arms: tuple[Arm, ...]
    judges: tuple[JudgeSettings, ...] = (JudgeSettings(),)
    k: int = 5
    unit: Unit = Unit.TOP_CHUNK
    against: str = ""
    concurrency: int = 8
    requests_per_minute: int = 0
    budget_usd: float = 0.0
    probe: bool = True

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of arms that are compared, by name, in the order of the arms."""
        names = [arm.name for arm in self.arms]
        if self.against:
            return tuple((name, self.against) for name in names if name != self.against)
        return tuple((first, second) for at, first in enumerate(names) for second in names[at + 1 :])


@dataclass(frozen=True, slots=True)
class JudgedDuel:
    """What one judge made of one query between two arms: the unit of the statistics.

    Attributes:
        query_id: The query.
        first: Name of an arm.
        second: Name of the other.
        judge: The judge's label in the plan.
        outcome: After all rules, both orders and repeats.
        identical: Both arms gave the same text, so nobody was asked.
        order_dependent: The orders disagreed.
        one_order: One order only was asked.
        n_first_shown_won: Orders in which the text shown first won.
        n_decisive_orders: Orders in which either text won.
        scores_first: Dimension (and ``overall``) -> mean over orders, 1 to 10; empty without scores.
        scores_second: Likewise.
        margin: Likelihood judge: nats per query token, first minus second; else None.
        unscored_reason: Why there is no score; empty where there is one.
        n_repeats: Times that the pair was judged.
        n_repeats_agreeing: Of these, times that it came out as ``outcome``.
    """

    query_id: str
    first: str
    second: str
    judge: str
    outcome: DuelOutcome
    identical: bool = False
    order_dependent: bool = False
    one_order: bool = False
    n_first_shown_won: int = 0
    n_decisive_orders: int = 0
    scores_first: Mapping[str, float] = field(default_factory=dict)
    scores_second: Mapping[str, float] = field(default_factory=dict)
    margin: float | None = None
    unscored_reason: str = ""
    n_repeats: int = 1
    n_repeats_agreeing: int = 1


@dataclass(frozen=True, slots=True)
class ArmFacts:
    """What an arm costs and how it behaves, for the leaderboard.

    Attributes:
        name: The arm.
        latencies_ms: Time to find the chunks of each query, encoding included; only those that were measured (an
            endpoint's answer from the cache has no time of its own). HyDE's writing is told apart.
        hyde_latencies_ms: Time to write the passages of each query.
        encode_chunks_per_s: Speed at which its chunks were embedded here; None where it was not measured.
        index_bytes: Size of its index or indexes on disk.
        dimension: Columns of its vectors; None for BM25; the sum for a hybrid.
        cost_usd_per_million_tokens: 0 for local models; None where unknown.
        n_chunks: Chunks of the corpus version that it searches.
        n_cut: Chunks longer than its model reads; None where only the server knows.
        n_unembedded: Chunks without a vector.
        n_queries_cut: Queries longer than its model reads.
        n_failed_queries: Queries that found nothing because of a failure.
        n_hyde_failed: Queries that were searched plain since no passage could be written.
        licence: SPDX id or a word on it; empty for BM25.
    """

    name: str
    latencies_ms: tuple[float, ...] = ()
    hyde_latencies_ms: tuple[float, ...] = ()
    encode_chunks_per_s: float | None = None
    index_bytes: int = 0
    dimension: int | None = None
    cost_usd_per_million_tokens: float | None = None
    n_chunks: int = 0
    n_cut: int | None = 0
    n_unembedded: int = 0
    n_queries_cut: int = 0
    n_failed_queries: int = 0
    n_hyde_failed: int = 0
    licence: str = ""


MetricTable = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Arm name -> measure name (``nDCG@5``, ``R@100``, ``P@5``, ``RR@5``, ``AP``) -> query id -> value."""
