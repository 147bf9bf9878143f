"""Judgements by content, their mirror image, and edited prompts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import InputError, NotFoundError
from backend.judging import JudgementStore, LlmJudge, Outcome, Verdict, judgement_key, mirrored
from backend.judging.judgements import figures_of_verdict
from backend.llm import ChatReply
from backend.prompts import edited_prompt, load_prompt
from backend.store import Database
from tests.fakes.chat import FakeChat
from tests.unit.judging.made import BAD, preferring, reply

BETTER, WORSE = "the better text", "the worse text"


def verdict(better: str = BETTER, worse: str = WORSE, **settings: object) -> Verdict:
    judge = LlmJudge(FakeChat(preferring(better, worse)), seed=1, **settings)  # type: ignore[arg-type]
    return judge.judge("why?", better, worse)


def timeless(one: Verdict) -> Verdict:
    orders = tuple(replace(order, latency_ms=0.0) for order in one.orders)
    return replace(one, latency_ms=0.0, orders=orders)


@given(st.text(min_size=1).filter(str.strip), st.text(min_size=1).filter(str.strip))
def test_the_mirror_image_is_what_the_judge_says_with_sides_exchanged(a: str, b: str) -> None:
    judge = LlmJudge(FakeChat([reply(), reply(BAD, (6, 7, 8, 9), "chunk_b")]), seed=1)
    first = judge.judge("why?", a, b)
    assert mirrored(mirrored(first)) == first
    again = LlmJudge(judge._chat, seed=1).judge("why?", b, a)
    without_store = replace(again, orders=tuple(replace(o, from_store=False) for o in again.orders))
    assert timeless(without_store) == timeless(mirrored(first))


def test_a_mirrored_verdict_names_the_other_side_in_our_words_only() -> None:
    told = verdict()
    assert told.outcome is Outcome.A
    other = mirrored(told)
    assert (other.outcome, other.reason.split(" wins")[0]) == (Outcome.B, "Side B")
    assert [order.reason for order in other.orders] == [order.reason for order in told.orders]
    assert other.orders[0].scores_b == told.orders[0].scores_a


def test_figures_are_worked_out_by_hand() -> None:
    figures = figures_of_verdict(verdict())
    assert (figures["outcome"], figures["n_decisive_orders"], figures["n_first_shown_won"]) == ("a", 2, 1)
    assert figures["scores_a"]["overall"] == 9.0
    assert figures["scores_b"]["overall"] == pytest.approx(4.5)
    always_first = LlmJudge(FakeChat(reply()), seed=1).judge("why?", BETTER, WORSE)
    told = figures_of_verdict(always_first)
    assert (told["outcome"], told["order_dependent"], told["n_first_shown_won"]) == ("tie", True, 2)
    refused = LlmJudge(FakeChat(ChatReply("", refusal="I will not")), seed=1).judge("why?", BETTER, WORSE)
    assert figures_of_verdict(refused)["unscored_reason"] == "refused by the model"


def test_the_same_texts_are_one_judgement_whichever_side_they_stand_on(database: Database) -> None:
    told = verdict()
    one, swapped = judgement_key(told.judge, "why?", BETTER, WORSE)
    other, also = judgement_key(told.judge, "why?", WORSE, BETTER)
    assert (one, swapped) == (other, not also)
    lower, higher = (WORSE, BETTER) if swapped else (BETTER, WORSE)
    store = JudgementStore(database)
    kept = mirrored(told) if swapped else told
    assert store.save("why?", lower, higher, kept) == one
    assert store.outcomes([one, "unknown"]) == {one: kept.outcome}
    assert store.get(one).verdict == kept
    assert store.figures([one])[one]["outcome"] == kept.outcome
    with pytest.raises(ValueError, match="lower sha256"):
        store.save("why?", higher, lower, told)
    with pytest.raises(NotFoundError):
        store.get("unknown")


def test_a_scored_judgement_stays_and_an_unscored_one_gives_way(database: Database) -> None:
    store, told = JudgementStore(database), verdict()
    one, swapped = judgement_key(told.judge, "why?", BETTER, WORSE)
    texts = (WORSE, BETTER) if swapped else (BETTER, WORSE)
    unscored = Verdict(Outcome.UNSCORED, "Not scored: no.", told.judge)
    store.save("why?", *texts, unscored)
    assert store.outcomes([one]) == {one: Outcome.UNSCORED}
    store.save("why?", *texts, told)
    store.save("why?", *texts, unscored)
    assert store.outcomes([one]) == {one: told.outcome}


def test_settings_change_the_identity_and_the_request_and_defaults_do_not() -> None:
    plain = LlmJudge(FakeChat(reply()), seed=1)
    assert plain.identity.settings == "temperature 0, seed 1, at most 4096 tokens"
    chat = FakeChat(reply())
    edited = edited_prompt(load_prompt("judge").source.replace("Be strict", "Be very strict"))
    set_up = LlmJudge(chat, seed=1, temperature=0.5, max_tokens=900, reasoning_effort="low", prompt=edited)
    assert set_up.identity.settings == "temperature 0.5, seed 1, at most 900 tokens, reasoning effort low"
    assert set_up.identity.prompt_version.startswith(edited.version)
    set_up.judge("why?", BETTER, WORSE)
    asked = chat.requests[0]
    assert (asked.temperature, asked.max_tokens, asked.reasoning_effort) == (0.5, 900, "low")
    assert "Be very strict" in asked.messages[0].content


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("{{ query }}", "the query"), "lacks {{ query }}"),
        (("{{ query }}", "{{ query }} {{ model }}"), "asks for what there is not: model"),
        (("{{ query }}", "{{ query"), "can't be read as a template"),
        ((">>> end of Chunk B {{ nonce }}", ""), "chunk_b }} does not stand between two lines"),
        (("<<< query {{ nonce }}", "<<< query"), "query }} does not stand between two lines"),
    ],
)
def test_a_prompt_that_could_be_forged_or_filled_wrongly_is_refused(change: tuple[str, str], words: str) -> None:
    with pytest.raises(InputError) as told:
        edited_prompt(load_prompt("judge").source.replace(*change))
    assert words in str(told.value)


def test_the_built_in_prompt_itself_passes() -> None:
    assert edited_prompt(load_prompt("judge").source).version.startswith("edited-")
