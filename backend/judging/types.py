"""What the judging room hands on: verdicts and the Judge seam."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

Side = Literal["a", "b"]
DIMENSIONS = ("query_relevance", "answer_completeness", "factual_plausibility", "clarity")


class Outcome(StrEnum):
    """What a judge made of a pair."""

    A = "a"
    B = "b"
    TIE = "tie"
    UNSCORED = "unscored"


class JudgeKind(StrEnum):
    """How a judge works."""

    LLM = "llm"
    LIKELIHOOD = "likelihood"


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """Which judge, exactly: everything that changes its verdict.

    Attributes:
        kind: LLM or likelihood.
        model: Model name (and, for a local one, its file's fingerprint).
        prompt_version: Version of the prompt.
        base_url: Endpoint, without any key; empty for a local judge.
        both_orders: Whether both orders were asked (always True where order can't matter).
        unit: What is compared: "rank 1", "rank 3", "top 5".
        settings: Whatever else changes the verdict, as text (tie band, temperature, seed).
    """

    kind: JudgeKind
    model: str
    prompt_version: str
    base_url: str = ""
    both_orders: bool = True
    unit: str = "rank 1"
    settings: str = ""


@dataclass(frozen=True, slots=True)
class DimensionScores:
    """Scores of one text on the four dimensions, 1 to 10, and their mean to two decimals."""

    query_relevance: float
    answer_completeness: float
    factual_plausibility: float
    clarity: float
    overall: float


@dataclass(frozen=True, slots=True)
class OrderJudgement:
    """One order: one request to the judge and what came of it. Sides are a and b, not slots.

    Attributes:
        first: Which side stood as Chunk A.
        outcome: After the rules; unscored where the reply could not be used.
        scores_a: Side a's scores, None where unscored.
        scores_b: Side b's scores.
        stated_winner: What the judge itself declared, as a side.
        stated_confidence: The judge's own confidence, 0 to 1; None where unusable.
        confidence_band: The words of the band that the scores put it in.
        reason: The judge's reason, verbatim (it speaks of Chunk A and Chunk B of *this* order).
        deciding_dimension: As the judge said.
        strengths_a: Side a's strengths; likewise the next three.
        contradictions: Where the reply contradicts itself or the rules, in plain words.
        unscored_reason: Why there is no score; empty where there is one.
        raw_reply: What came back, whole.
        repaired: How the reply was made readable; empty where it was valid as it came.
        n_prompt_tokens: From the provider; None where it did not say.
        n_completion_tokens: Likewise.
        cost_usd: At the set prices; None without usage or prices.
        latency_ms: Time the answer took when it was paid for.
        from_store: The reply came from the store, free of charge.
        provider_fault: The ProviderFault where the endpoint failed; empty where it answered.
    """

    first: Side
    outcome: Outcome
    scores_a: DimensionScores | None = None
    scores_b: DimensionScores | None = None
    stated_winner: Outcome | None = None
    stated_confidence: float | None = None
    confidence_band: str = ""
    reason: str = ""
    deciding_dimension: str = ""
    strengths_a: tuple[str, ...] = ()
    weaknesses_a: tuple[str, ...] = ()
    strengths_b: tuple[str, ...] = ()
    weaknesses_b: tuple[str, ...] = ()
    rule_conflict: bool = False
    contradictions: tuple[str, ...] = ()
    unscored_reason: str = ""
    raw_reply: str = ""
    repaired: str = ""
    n_prompt_tokens: int | None = None
    n_completion_tokens: int | None = None
    cost_usd: float | None = None
    latency_ms: float = 0.0
    from_store: bool = False
    provider_fault: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says about a pair, after all rules.

    Attributes:
        outcome: a or b only if every order asked agrees; tie; or unscored.
        reason: One sentence for people on how the outcome came about.
        identical: Both texts were the same; no call was made.
        order_dependent: The orders disagreed.
        rule_conflict: Equal overall with a dimension more than 2 apart.
        one_order: Only one order was asked, so position bias is not ruled out.
        orders: What each order said; empty for identical texts and for the likelihood judge.
        margin: Likelihood judge: mean log-probability per query token of a minus that of b (nats); else None.
        tie_band: Likelihood judge: margins up to this are ties; else None.
        seed: Seed of the drawn order.
    """

    outcome: Outcome
    reason: str
    judge: JudgeIdentity
    identical: bool = False
    order_dependent: bool = False
    rule_conflict: bool = False
    one_order: bool = False
    orders: tuple[OrderJudgement, ...] = ()
    margin: float | None = None
    tie_band: float | None = None
    latency_ms: float = 0.0
    seed: int = 0

    @property
    def provider_failed(self) -> bool:
        """Whether an endpoint's failure, not its answer, left a request without a score."""
        return any(order.provider_fault for order in self.orders)


class Judge(Protocol):
    """Says which of two texts serves a query better, knowing nothing but the three texts.

    Every implementation passes ``tests/contract/test_judges.py``: swapping the texts swaps the outcome,
    the same text twice is a tie without a call, a failure is unscored and never raised.
    """

    @property
    def identity(self) -> JudgeIdentity:
        """What this judge is."""

    def judge(self, query: str, text_a: str, text_b: str) -> Verdict:
        """Judge one pair. A provider's failure becomes an unscored verdict."""
