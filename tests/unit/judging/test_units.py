"""What is compared: a rank, or two lists with equal room."""

from backend.judging import LlmJudge, Outcome, judged_texts, unit_name
from backend.judging.units import LIST_BUDGET_CHARS, SEPARATOR
from tests.fakes.chat import FakeChat
from tests.unit.judging.made import duel, reply


def test_the_chunk_at_a_rank() -> None:
    one = duel(["first a", "second a"], ["first b", "second b"])
    assert judged_texts(one, 1) == ("first a", "first b")
    assert judged_texts(one, 2) == ("second a", "second b")


def test_a_rank_that_a_list_does_not_reach_is_unscored() -> None:
    texts = judged_texts(duel(["first a", "second a"], ["first b"]), 2)
    assert texts == ("second a", "")
    chat = FakeChat(reply())
    verdict = LlmJudge(chat, seed=1).judge("q", *texts)
    assert (verdict.outcome, chat.requests) == (Outcome.UNSCORED, [])
    assert "Side B is empty" in verdict.reason


def test_two_lists_get_the_same_room() -> None:
    short = ["Short text one.", "Short text two."]
    long = ["A much longer text about the harbour. " * 5, "And another one. " * 5]
    a, b = judged_texts(duel(short, long), None)
    assert a == SEPARATOR.join(short)
    assert len(b) <= len(a)
    assert " ".join(long).startswith(b)
    mirrored = judged_texts(duel(long, short), None)
    assert mirrored == (b, a)


def test_a_list_ends_at_a_sentence_or_a_word_and_under_the_budget() -> None:
    a, b = judged_texts(duel(["Sentence number one is here. " * 1000], ["word " * 5000]), None)
    assert len(a) <= LIST_BUDGET_CHARS
    assert len(b) <= LIST_BUDGET_CHARS
    assert a.endswith("here.")
    assert b.endswith("word")


def test_lists_hold_no_rank_score_or_name() -> None:
    a, _ = judged_texts(duel(["alpha", "beta"], ["gamma", "delta"]), None)
    assert a == f"alpha{SEPARATOR}beta"
    assert not any(character.isdigit() for character in SEPARATOR)


def test_units_have_names() -> None:
    assert (unit_name(1, 5), unit_name(3, 5), unit_name(None, 5)) == ("rank 1", "rank 3", "top 5")
