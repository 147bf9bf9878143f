"""Verdicts and votes as records."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import InputError, NotFoundError
from backend.judging import (
    JudgeIdentity,
    JudgeKind,
    LlmJudge,
    Outcome,
    Verdict,
    VerdictStore,
    VoteStore,
    verdict_from_json,
    verdict_to_json,
)
from backend.retrieval.duels import DuelStore
from backend.store import Database
from tests.fakes.chat import FakeChat
from tests.unit.judging.made import duel, preferring, reply

JUDGE = JudgeIdentity(JudgeKind.LIKELIHOOD, "m", "1")


@pytest.fixture
def with_duel(database: Database) -> Database:
    DuelStore(database).save(duel(["one"], ["two"]))
    return database


@pytest.mark.parametrize("answer", [reply(), "prose", reply((8.5, 9, 9, 9), winner="tie"), reply(confidence=95)])
def test_a_verdict_comes_back_exactly(answer: str) -> None:
    verdict = LlmJudge(FakeChat(answer), seed=3).judge("q", "one", "two")
    assert verdict_from_json(json.loads(json.dumps(verdict_to_json(verdict), allow_nan=False))) == verdict


@given(st.floats(allow_nan=False, allow_infinity=False), st.text())
def test_numbers_and_texts_come_back_exactly(margin: float, reason: str) -> None:
    verdict = Verdict(Outcome.TIE, reason, JUDGE, margin=margin, tie_band=0.1)
    assert verdict_from_json(json.loads(json.dumps(verdict_to_json(verdict)))) == verdict


def test_a_number_that_json_has_no_word_for_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        verdict_to_json(Verdict(Outcome.TIE, "", JUDGE, margin=math.nan))


def test_a_stored_verdict_is_found_by_id_duel_and_list(with_duel: Database) -> None:
    store = VerdictStore(with_duel)
    verdict = LlmJudge(FakeChat(preferring("one", "two")), seed=3).judge("q", "one", "two")
    stored = store.save("duel-1", verdict)
    assert stored.verdict == verdict
    assert store.get(stored.verdict_id) == stored
    assert store.for_duel("duel-1") == store.list() == [stored]
    assert store.for_duel("another") == []
    with pytest.raises(NotFoundError):
        store.get("nothing")


def test_judging_again_replaces_an_unscored_verdict_only(with_duel: Database) -> None:
    store = VerdictStore(with_duel)
    failed = store.save("duel-1", Verdict(Outcome.UNSCORED, "no", JUDGE))
    scored = store.save("duel-1", Verdict(Outcome.A, "yes", JUDGE))
    assert failed.verdict_id == scored.verdict_id
    assert scored.created_at >= failed.created_at
    for later in (Verdict(Outcome.UNSCORED, "no", JUDGE), Verdict(Outcome.B, "other", JUDGE)):
        assert store.save("duel-1", later) == scored
    other = store.save("duel-1", Verdict(Outcome.B, "other judge", replace(JUDGE, unit="rank 2")))
    assert [one.verdict_id for one in store.list()] == [other.verdict_id, scored.verdict_id]


def test_a_verdict_or_vote_on_no_duel_is_refused(database: Database) -> None:
    with pytest.raises(NotFoundError, match="duel-9"):
        VerdictStore(database).save("duel-9", Verdict(Outcome.A, "", JUDGE))
    with pytest.raises(NotFoundError, match="duel-9"):
        VoteStore(database).cast("duel-9", "a", "a")


def test_a_rater_has_one_vote_a_duel_and_the_last_counts(with_duel: Database) -> None:
    votes = VoteStore(with_duel)
    votes.cast("duel-1", "a", "b")
    votes.cast("duel-1", "a", "b")
    assert [(v.choice, v.left_side, v.rater) for v in votes.for_duel("duel-1")] == [("a", "b", "")]
    votes.cast("duel-1", "both_bad", "a", rater="Ann")
    votes.cast("duel-1", "tie", "a", rater="Ann")
    assert sorted((v.rater, v.choice) for v in votes.for_duel("duel-1")) == [("", "a"), ("Ann", "tie")]


@pytest.mark.parametrize(("choice", "left", "rater"), [("c", "a", ""), ("a", "left", ""), ("a", "a", "x" * 101)])
def test_a_vote_that_is_none_is_refused(with_duel: Database, choice: str, left: str, rater: str) -> None:
    with pytest.raises(InputError):
        VoteStore(with_duel).cast("duel-1", choice, left, rater)  # type: ignore[arg-type]
