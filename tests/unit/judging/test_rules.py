"""The rules, at their borders, and what must hold whatever the scores."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.judging import DimensionScores, JudgeIdentity, JudgeKind, OrderJudgement, Outcome
from backend.judging.rules import combine, decide, scored, without_asking
from tests.unit.judging.made import mirrored

A, B, TIE, OUT = Outcome.A, Outcome.B, Outcome.TIE, Outcome.UNSCORED
SCORES = st.builds(scored, *[st.integers(1, 10) | st.sampled_from([7.3, 8.5, 6.8])] * 4)
STATED = st.sampled_from([A, B, TIE, None])
JUDGE = JudgeIdentity(JudgeKind.LLM, "m", "1")


def order(outcome: Outcome, first: str = "a", why: str = "", conflict: bool = False) -> OrderJudgement:
    return OrderJudgement(first, outcome, unscored_reason=why, rule_conflict=conflict)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("four", "overall"),
    [((9, 9, 9, 9), 9.0), ((4, 4, 5, 5), 4.5), ((8.5, 9, 9, 9), 8.88), ((1, 1, 1, 2), 1.25), ((7, 8, 8, 8), 7.75),
     ((8.1, 9, 9, 9), 8.78), ((10, 10, 10, 9.9), 9.98)],
)  # fmt: skip
def test_the_mean_is_rounded_half_up_to_two_decimals(four: tuple[float, ...], overall: float) -> None:
    assert scored(*four).overall == overall


@pytest.mark.parametrize(
    ("a", "b", "stated", "outcome", "contradicted", "conflict"),
    [
        ((9, 9, 9, 9), (4, 4, 5, 5), A, A, False, False),
        ((9, 9, 9, 9), (4, 4, 5, 5), B, A, True, False),  # declared winner has the lower overall
        ((9, 9, 9, 9), (4, 4, 5, 5), TIE, A, True, False),
        ((9, 9, 9, 9), (4, 4, 5, 5), None, A, False, False),
        ((8, 8, 8, 8), (8, 8, 7, 7), TIE, TIE, False, False),  # exactly 0.5 apart: the tie stands
        ((8, 8, 8, 8), (8, 8, 7, 6), TIE, A, True, False),  # 0.75 apart
        ((8, 8, 8, 8), (6, 8, 8, 8), TIE, TIE, False, False),  # a dimension exactly 2 apart
        ((8, 8, 8, 8), (5, 9, 9, 9), TIE, TIE, False, True),  # equal, 3 apart: neither winner nor tie by the rule
        ((8, 8, 8, 8), (5, 9, 9, 8), TIE, A, True, False),  # 0.25 overall, but a dimension 3 apart
        ((8, 8, 8, 8), (8, 8, 8, 7), A, A, False, False),  # a narrow win is a win
        ((8, 8, 8, 8), (8, 8, 8, 7), None, A, False, False),
        ((8, 8, 8, 8), (8, 8, 8, 8), TIE, TIE, False, False),
        ((8, 8, 8, 8), (8, 8, 8, 8), A, TIE, True, False),  # declared winner, equal overall
        ((8, 8, 8, 8), (5, 9, 9, 9), B, TIE, True, True),
        ((8, 8, 8, 8), (9, 7, 9, 7), None, TIE, False, False),
        ((8.8, 8, 8, 8), (6.8, 8, 8, 8), TIE, TIE, False, False),  # 2.0 and 0.5 in spite of binary fractions
    ],
)
def test_border_cases(
    a: tuple[float, ...], b: tuple[float, ...], stated: Outcome, outcome: Outcome, contradicted: bool, conflict: bool
) -> None:
    made = decide(scored(*a), scored(*b), stated_winner=stated)
    assert (made.outcome, bool(made.contradictions), made.rule_conflict) == (outcome, contradicted, conflict)


def test_the_band_comes_from_the_scores() -> None:
    def band(a: tuple[int, ...], b: tuple[int, ...], stated: Outcome = A) -> str:
        return decide(scored(*a), scored(*b), stated_winner=stated).confidence_band

    assert band((9, 9, 9, 9), (4, 4, 5, 5)).startswith("clear")
    assert band((9, 9, 9, 3), (4, 4, 5, 5)).startswith("wins with a notable weakness")
    assert band((9, 9, 9, 9), (9, 9, 9, 8)).startswith("marginal")
    assert band((9, 9, 9, 9), (9, 9, 9, 8), TIE).startswith("genuine tie")


def test_a_stated_confidence_far_from_the_scores_is_a_contradiction() -> None:
    clear = scored(9, 9, 9, 9), scored(4, 4, 5, 5)
    assert decide(*clear, stated_winner=A, stated_confidence=0.8).contradictions == ()
    (told,) = decide(*clear, stated_winner=A, stated_confidence=0.4).contradictions
    assert "confidence of 0.4" in told


@given(a=SCORES, b=SCORES, stated=STATED)
def test_exchanging_the_sides_mirrors_the_decision(
    a: DimensionScores, b: DimensionScores, stated: Outcome | None
) -> None:
    one = decide(a, b, stated_winner=stated)
    other = decide(b, a, stated_winner=None if stated is None else mirrored(stated))
    assert other.outcome is mirrored(one.outcome)
    assert (other.rule_conflict, other.confidence_band) == (one.rule_conflict, one.confidence_band)
    assert len(other.contradictions) == len(one.contradictions)


@given(a=SCORES, b=SCORES, stated=STATED)
def test_a_decision_stands_when_it_is_declared(a: DimensionScores, b: DimensionScores, stated: Outcome | None) -> None:
    made = decide(a, b, stated_winner=stated)
    again = decide(a, b, stated_winner=made.outcome)
    assert (again.outcome, again.contradictions) == (made.outcome, ())
    if made.outcome is A:
        assert a.overall > b.overall
    elif made.outcome is TIE and stated is not TIE:
        assert a.overall == b.overall


def test_every_combination_of_two_orders() -> None:
    wanted = {
        (A, A): (A, False), (B, B): (B, False), (TIE, TIE): (TIE, False), (A, B): (TIE, True), (A, TIE): (TIE, True),
        (B, TIE): (TIE, True),
    }  # fmt: skip
    for first, second in product([A, B, TIE, OUT], repeat=2):
        made = combine([order(first, "a", "no JSON"), order(second, "b", "no JSON")])
        if OUT in {first, second}:
            assert (made.outcome, made.order_dependent) == (OUT, False)
            assert "no JSON" in made.reason
        else:
            key = (first, second) if (first, second) in wanted else (second, first)
            assert (made.outcome, made.order_dependent) == wanted[key]


@given(st.lists(st.sampled_from([A, B, TIE, OUT]), min_size=1, max_size=2), st.booleans())
def test_combining_mirrors_with_the_sides(outcomes: list[Outcome], conflict: bool) -> None:
    one = combine([order(o, "ab"[n], "x", conflict) for n, o in enumerate(outcomes)])
    other = combine([order(mirrored(o), "ba"[n], "x", conflict) for n, o in enumerate(outcomes)])
    assert other.outcome is mirrored(one.outcome)
    assert (other.order_dependent, other.rule_conflict) == (one.order_dependent, one.rule_conflict)
    assert one.rule_conflict == conflict


def test_one_order_and_none() -> None:
    assert combine([order(A)]).outcome is A
    assert combine([]).outcome is OUT


def test_reasons_of_two_failures_are_both_told() -> None:
    assert combine([order(OUT, "a", "timeout"), order(OUT, "b", "refused")]).reason == "Not scored: timeout; refused."
    assert "one of the two orders" in combine([order(A), order(OUT, "b", "refused")]).reason


def test_the_same_text_and_missing_texts_need_no_judge() -> None:
    same = without_asking("q", "one  text\n", " one text", JUDGE)
    assert same is not None
    assert (same.outcome, same.identical, same.orders) == (TIE, True, ())
    for texts, told in (
        (("q", "", "b"), "Side A is empty"),
        (("q", "a", " \n"), "Side B is empty"),
        ((" ", "a", "b"), "query is empty"),
    ):
        missing = without_asking(*texts, JUDGE)
        assert missing is not None
        assert missing.outcome is OUT
        assert told in missing.reason
    both = without_asking("q", "", "", JUDGE)
    assert both is not None
    assert (both.outcome, both.identical) == (OUT, False)
    assert without_asking("q", "one text", "One text", JUDGE) is None
