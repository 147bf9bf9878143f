"""The rules of a verdict, kept by code: pure functions over scores and outcomes, blind to every name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from backend.judging.types import DIMENSIONS, DimensionScores, JudgeIdentity, OrderJudgement, Outcome, Verdict

TIE_OVERALL = Decimal("0.5")  # a declared tie stands up to this difference of the overall scores, it included
TIE_DIMENSION = Decimal(2)  # and while no dimension differs by more than this
BANDS = (
    "genuine tie (below 0.5)",
    "marginal edge (0.5–0.69)",
    "wins with a notable weakness (0.7–0.89)",
    "clear on most dimensions (0.9–1)",
)
_MOST_DIMENSIONS = 3


@dataclass(frozen=True, slots=True)
class Decision:
    """What the rules make of one order's scores.

    Attributes:
        outcome: a, b or tie.
        rule_conflict: Equal overall scores with a dimension more than 2 apart.
        confidence_band: One of BANDS.
        contradictions: Where what was declared goes against the scores.
    """

    outcome: Outcome
    rule_conflict: bool
    confidence_band: str
    contradictions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Combination:
    """What several orders come to."""

    outcome: Outcome
    reason: str
    order_dependent: bool = False
    rule_conflict: bool = False


def scored(
    query_relevance: float, answer_completeness: float, factual_plausibility: float, clarity: float
) -> DimensionScores:
    """Four scores with their mean to two decimals, halves of a hundredth rounded up (8.875 gives 8.88)."""
    four = (query_relevance, answer_completeness, factual_plausibility, clarity)
    mean = sum(map(_exact, four), Decimal(0)) / len(four)
    return DimensionScores(*four, overall=float(mean.quantize(Decimal("0.01"), ROUND_HALF_UP)))


def decide(
    scores_a: DimensionScores,
    scores_b: DimensionScores,
    *,
    stated_winner: Outcome | None,
    stated_confidence: float | None = None,
) -> Decision:
    """Let the scores decide one order.

    The higher overall wins, by however little, unless a tie was declared and the rule allows one: overall scores at
    most 0.5 apart and no dimension more than 2 apart. Equal overall scores are a tie whatever was declared, and a
    *rule conflict* where a dimension is more than 2 apart, since the rule then allows neither a winner nor a tie.

    Args:
        scores_a: Side a's, from ``scored``.
        scores_b: Side b's.
        stated_winner: What the judge declared; None where it declared nothing usable.
        stated_confidence: What it stated, None where unusable.
    """
    difference = _exact(scores_a.overall) - _exact(scores_b.overall)
    widest = max(abs(_exact(getattr(scores_a, one)) - _exact(getattr(scores_b, one))) for one in DIMENSIONS)
    tie_allowed = abs(difference) <= TIE_OVERALL and widest <= TIE_DIMENSION
    by_score = Outcome.TIE if difference == 0 else Outcome.A if difference > 0 else Outcome.B
    outcome = Outcome.TIE if stated_winner is Outcome.TIE and tie_allowed else by_score
    contradictions = list(_against_scores(scores_a, scores_b, stated_winner, outcome, widest))
    band = _band(scores_a, scores_b, outcome)
    if stated_confidence is not None:
        stated = _band_of_confidence(stated_confidence)
        if abs(stated - band) > 1:  # the next band is a matter of taste, two away is not
            contradictions.append(f"states a confidence of {stated_confidence:g}, but the scores say: {BANDS[band]}")
    return Decision(outcome, difference == 0 and widest > TIE_DIMENSION, BANDS[band], tuple(contradictions))


def _against_scores(
    a: DimensionScores, b: DimensionScores, stated: Outcome | None, outcome: Outcome, widest: Decimal
) -> Sequence[str]:
    pair = f"{a.overall:.2f} for side A and {b.overall:.2f} for side B"
    if stated in {outcome, None}:
        return ()
    if stated is Outcome.TIE:
        apart = abs(_exact(a.overall) - _exact(b.overall))
        why = f"the overall scores are {apart} apart" if apart > TIE_OVERALL else f"a dimension is {widest:f} apart"
        return (f"declares a tie where the rule allows none: {why} ({pair})",)
    name = "side A" if stated is Outcome.A else "side B"
    if outcome is Outcome.TIE:
        return (f"declares {name} the winner, but the overall scores are equal ({pair})",)
    return (f"declares {name} the winner, but its overall score is the lower one ({pair})",)


def _band(a: DimensionScores, b: DimensionScores, outcome: Outcome) -> int:
    """The band that scores fall in, as a position in BANDS.

    The prompt describes the bands in words; here they are made exact. A tie is the lowest. Up to 0.5 overall is
    marginal. Above, the winner is clear if it leads on three dimensions or all and trails on none, else it wins with
    a weakness.
    """
    if outcome is Outcome.TIE:
        return 0
    if abs(_exact(a.overall) - _exact(b.overall)) <= TIE_OVERALL:
        return 1
    sign = 1 if outcome is Outcome.A else -1
    leads = [sign * (_exact(getattr(a, one)) - _exact(getattr(b, one))) for one in DIMENSIONS]
    return 3 if sum(lead > 0 for lead in leads) >= _MOST_DIMENSIONS and min(leads) >= 0 else 2


def _band_of_confidence(stated: float) -> int:
    return sum(stated >= low for low in (0.5, 0.7, 0.9))


def combine(orders: Sequence[OrderJudgement]) -> Combination:
    """Join what the orders say: a side wins only if every order asked says so.

    An unscored order leaves the pair unscored: half an answer can't rule position bias out. A tie in one order with a
    win in the other, or two different winners, is a tie that depends on the order.
    """
    conflict = any(order.rule_conflict for order in orders)
    failed = [order for order in orders if order.outcome is Outcome.UNSCORED]
    if failed or not orders:
        reasons = list(dict.fromkeys(order.unscored_reason for order in failed)) or ["nothing was asked"]
        which = "" if len(failed) == len(orders) else " in one of the two orders"
        return Combination(Outcome.UNSCORED, f"Not scored{which}: {'; '.join(reasons)}.", rule_conflict=conflict)
    outcomes = {order.outcome for order in orders}
    if len(outcomes) > 1:
        told = " and ".join(f"{_named(o.outcome)} with side {o.first.upper()} shown first" for o in orders)
        return Combination(Outcome.TIE, f"A tie that depends on the order: the judge said {told}.", True, conflict)
    outcome = outcomes.pop()
    where = "in both orders" if len(orders) > 1 else "in the one order asked"
    if outcome is Outcome.TIE:
        return Combination(outcome, f"A tie {where}.", rule_conflict=conflict)
    return Combination(outcome, f"Side {outcome.upper()} wins {where}: {_told_scores(orders)}.", rule_conflict=conflict)


def without_asking(query: str, text_a: str, text_b: str, identity: JudgeIdentity, seed: int = 0) -> Verdict | None:
    """The verdict on a pair that needs no judge, or None: the same text twice, or a text that is missing.

    Texts are the same if they differ in white space only.
    """
    missing = [
        name
        for name, text in (("The query is", query), ("Side A is", text_a), ("Side B is", text_b))
        if not text.strip()
    ]
    if missing:
        reason = f"Not scored: {' empty and '.join(missing).replace('and Side', 'and side')} empty."
        return Verdict(Outcome.UNSCORED, reason, identity, seed=seed)
    if text_a.split() == text_b.split():
        return Verdict(Outcome.TIE, "Both sides hold the same text.", identity, identical=True, seed=seed)
    return None


def _named(outcome: Outcome) -> str:
    return "tie" if outcome is Outcome.TIE else f"side {outcome.upper()}"


def _told_scores(orders: Sequence[OrderJudgement]) -> str:
    pairs = [
        f"{o.scores_a.overall:.2f} to {o.scores_b.overall:.2f}"
        for o in orders
        if o.scores_a is not None and o.scores_b is not None
    ]
    return "overall " + " and ".join(dict.fromkeys(pairs))


def _exact(score: float) -> Decimal:
    return Decimal(str(score))
