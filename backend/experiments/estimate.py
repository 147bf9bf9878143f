"""What a plan will take, told before it starts: encodes, judge calls, cost, and what so many queries can show."""

from __future__ import annotations

from dataclasses import dataclass

from backend.experiments.statistics import smallest_difference
from backend.experiments.types import ExperimentPlan, Unit
from backend.judging.types import JudgeKind

CHARS_PER_TOKEN = 4.0  # of English prose under the usual tokenizers; the estimate says "about"
PROMPT_TOKENS = 1_000  # of the judge's own words, without the query and the texts
REPLY_TOKENS = 400  # of a verdict in the judge's form
PASSAGE_TOKENS = 200  # of a hypothetical passage
LIKELIHOOD_S = 0.35  # seconds a text on two cores, as benchmarks/likelihood_judge.py measured it
USUAL_TIES = 0.3  # share of ties, for a plain number before anything is known


@dataclass(frozen=True, slots=True)
class Missing:
    """What is not stored yet.

    Attributes:
        n_chunks: Chunk embeddings, over all models.
        n_queries: Query encodings, over all models.
        n_passages: Hypothetical passages.
    """

    n_chunks: int = 0
    n_queries: int = 0
    n_passages: int = 0


@dataclass(frozen=True, slots=True)
class PriceTag:
    """Prices of one LLM judge: USD per million tokens; 0 means unknown (or free)."""

    model: str
    input_usd: float
    output_usd: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a plan will take.

    Attributes:
        n_queries: Queries.
        n_pairs: Pairs of arms.
        n_duels: Duels, not counting judges and repeats.
        n_stored_duels: Judged already, counting judges and repeats.
        missing: Encodes and passages that are not stored.
        n_probe_calls: Calls of the judges' health probe.
        n_judge_calls: Most calls of LLM judges; fewer where arms find the same text.
        n_likelihoods: Most texts that the likelihood judge scores.
        judge_minutes: About how long the judging takes at the plan's limits; None without a judge.
        cost_usd: About what the judge calls cost at the set prices; None where no price is set.
        most_cost_usd: The same with every reply as long as it may be; None where no price is set.
        smallest_share: The smallest true share of decisive duels won that shows at 80 % power; None: none at all.
        smallest_share_usual: The same if the usual share of duels ends in a tie.
        notes: What else should be known first.
    """

    n_queries: int
    n_pairs: int
    n_duels: int
    n_stored_duels: int
    missing: Missing
    n_probe_calls: int
    n_judge_calls: int
    n_likelihoods: int
    judge_minutes: float | None
    cost_usd: float | None
    most_cost_usd: float | None
    smallest_share: float | None
    smallest_share_usual: float | None
    notes: tuple[str, ...] = ()


def estimate(
    plan: ExperimentPlan,
    *,
    n_queries: int,
    chunk_chars: float,
    missing: Missing,
    prices: tuple[PriceTag, ...] = (),
    n_stored_duels: int = 0,
    n_planted: int = 0,
    notes: tuple[str, ...] = (),
) -> Estimate:
    """Work out what a plan takes. Identical texts and stored judgements only make it less.

    Args:
        plan: Checked.
        n_queries: Queries of its set.
        chunk_chars: Mean length of a chunk.
        missing: What the arms lack.
        prices: Of each LLM judge of the plan, in order.
        n_stored_duels: Judged already.
        n_planted: Planted pairs that each judge is asked about first.
        notes: Carried over.
    """
    n_duels = n_queries * len(plan.pairs())
    llm = [judge for judge in plan.judges if judge.kind is JudgeKind.LLM]
    asks = [judge.repeats * (2 if judge.both_orders else 1) for judge in llm]
    probe_calls = n_planted * sum(2 if judge.both_orders else 1 for judge in llm) if plan.probe else 0
    n_calls = n_duels * sum(asks) + probe_calls
    n_texts = (2 * n_duels + (n_planted if plan.probe else 0)) * (len(plan.judges) - len(llm))
    chunks_a_side = 1 if plan.unit is Unit.TOP_CHUNK else plan.k
    prompt_tokens = PROMPT_TOKENS + 2 * chunks_a_side * chunk_chars / CHARS_PER_TOKEN
    usual, most = 0.0, 0.0
    for judge, asked, price in zip(llm, asks, prices, strict=False):
        calls = n_duels * asked + (n_planted * 2 if plan.probe else 0)
        usual += calls * (prompt_tokens * price.input_usd + REPLY_TOKENS * price.output_usd) / 1e6
        most += calls * (prompt_tokens * price.input_usd + judge.max_tokens * price.output_usd) / 1e6
    is_priced = bool(llm) and len(prices) == len(llm) and all(price.input_usd or price.output_usd for price in prices)
    return Estimate(
        n_queries=n_queries,
        n_pairs=len(plan.pairs()),
        n_duels=n_duels,
        n_stored_duels=n_stored_duels,
        missing=missing,
        n_probe_calls=probe_calls,
        n_judge_calls=n_calls,
        n_likelihoods=n_texts,
        judge_minutes=_minutes(plan, n_calls, n_texts) if plan.judges else None,
        cost_usd=usual if is_priced or not llm else None,
        most_cost_usd=most if is_priced or not llm else None,
        smallest_share=smallest_difference(n_queries),
        smallest_share_usual=smallest_difference(round(n_queries * (1 - USUAL_TIES))),
        notes=notes,
    )


def _minutes(plan: ExperimentPlan, n_calls: int, n_texts: int) -> float:
    """At two seconds an answer, or the limit a minute, whichever is slower."""
    by_answers = n_calls * 2.0 / plan.concurrency / 60
    by_limit = n_calls / plan.requests_per_minute if plan.requests_per_minute else 0.0
    return max(by_answers, by_limit) + n_texts * LIKELIHOOD_S / 60
