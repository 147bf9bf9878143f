"""The LLM judge: both orders, one repair, failures as data, costs summed, nothing secret in the identity."""

import threading
from dataclasses import replace

import pytest
from pydantic import SecretStr

from backend.errors import CancelledError, ProviderError, ProviderFault, UnavailableError
from backend.judging import LlmJudge, Outcome
from backend.llm.types import ChatEndpoint, ChatReply, ChatRequest
from tests.fakes.chat import FakeChat
from tests.unit.judging.made import BAD, GOOD, preferring, reply

QUERY, RIGHT, WRONG = "When does the harbour open?", "The harbour opens at six.", "Ferries are painted white."


def usage(text: str, cost: float | None = 0.25, **fields: object) -> ChatReply:
    told = ChatReply(text, n_prompt_tokens=100, n_completion_tokens=20, cost_usd=cost, latency_ms=5.0)
    return replace(told, **fields)  # type: ignore[arg-type]


def test_the_better_text_wins_wherever_it_stands() -> None:
    for a, b, outcome in ((RIGHT, WRONG, Outcome.A), (WRONG, RIGHT, Outcome.B)):
        verdict = LlmJudge(FakeChat(preferring(RIGHT, WRONG)), seed=7).judge(QUERY, a, b)
        assert (verdict.outcome, verdict.order_dependent, verdict.one_order) == (outcome, False, False)
        assert {order.first for order in verdict.orders} == {"a", "b"}
        for order in verdict.orders:
            winner, loser = (
                (order.scores_a, order.scores_b) if outcome is Outcome.A else (order.scores_b, order.scores_a)
            )
            assert winner is not None
            assert loser is not None
            assert (winner.overall, loser.overall) == (9.0, 4.5)
            assert order.contradictions == ()
            assert order.stated_winner is outcome
        assert (verdict.seed, "seed 7" in verdict.judge.settings) == (7, True)


def test_strengths_and_weaknesses_follow_the_side_not_the_slot() -> None:
    chat = FakeChat(reply(chunk_a_strengths=["slot a"], chunk_b_weaknesses=["slot b"]))
    for order in LlmJudge(chat, seed=7).judge(QUERY, RIGHT, WRONG).orders:
        a_first = order.first == "a"
        assert order.strengths_a == (("slot a",) if a_first else ())
        assert order.strengths_b == (() if a_first else ("slot a",))
        assert order.weaknesses_b == (("slot b",) if a_first else ("short",))


def test_always_first_is_a_tie_that_depends_on_the_order() -> None:
    verdict = LlmJudge(FakeChat(reply()), seed=7).judge(QUERY, RIGHT, WRONG)
    assert (verdict.outcome, verdict.order_dependent) == (Outcome.TIE, True)
    assert "depends on the order" in verdict.reason


def test_a_wrong_form_is_asked_once_more_with_the_reply_shown() -> None:
    def answer(request: ChatRequest) -> ChatReply:
        if len(request.messages) == 1:
            return usage("Chunk A, I think.")
        assert [m.role for m in request.messages] == ["user", "assistant", "user"]
        assert request.messages[1].content == "Chunk A, I think."
        assert "the reply holds no JSON" in request.messages[2].content
        better_first = request.messages[0].content.index(RIGHT) < request.messages[0].content.index(WRONG)
        return usage(reply() if better_first else reply(BAD, GOOD, "chunk_b"))

    chat = FakeChat(answer)
    verdict = LlmJudge(chat, seed=7).judge(QUERY, RIGHT, WRONG)
    assert verdict.outcome is Outcome.A
    assert len(chat.requests) == 4
    for order in verdict.orders:
        assert (order.n_prompt_tokens, order.n_completion_tokens, order.cost_usd) == (200, 40, 0.5)
        assert order.latency_ms == 10.0
        assert order.repaired == "asked again, since the reply holds no JSON"
        assert order.raw_reply.startswith("Chunk A, I think.")
        assert order.raw_reply.endswith("}")


def test_after_one_repair_it_is_unscored_with_the_raw_reply() -> None:
    chat = FakeChat("no")
    verdict = LlmJudge(chat, seed=7).judge(QUERY, RIGHT, WRONG)
    assert len(chat.requests) == 4
    assert verdict.outcome is Outcome.UNSCORED
    assert all("no" in o.raw_reply and o.unscored_reason.endswith("asked again: the same") for o in verdict.orders)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (usage("", finish_reason="length", reasoning="hm"), "token limit used up by reasoning"),
        (usage("", finish_reason="length"), "token limit used up before anything was written"),
        (
            usage(reply()[:-30], finish_reason="length"),
            "the token limit ended the reply before its verdict was complete",
        ),
        (usage("", refusal="No."), "refused by the model: No."),
        (usage("half", finish_reason="content_filter"), "content filter (reply withheld by the endpoint)"),
        (usage(" \n"), "the reply is empty"),
        (usage(reply((11, 9, 9, 9))), "chunk_a_score.query_relevance lies outside 1 to 10: 11"),
        (ProviderError("Slow.", fault=ProviderFault.TIMEOUT), "no answer in time: Slow."),
        (ProviderError("No money.", fault=ProviderFault.QUOTA, status=429), "quota used up: No money."),
    ],
)
def test_what_another_try_cannot_mend_is_asked_once_an_order(answer: ChatReply | ProviderError, reason: str) -> None:
    chat = FakeChat(answer)
    verdict = LlmJudge(chat, seed=7).judge(QUERY, RIGHT, WRONG)
    assert verdict.outcome is Outcome.UNSCORED
    assert {order.unscored_reason for order in verdict.orders} == {reason}
    assert reason in verdict.reason
    assert len(chat.requests) == 2


@pytest.mark.parametrize("fault", list(ProviderFault))
def test_every_fault_of_a_provider_has_its_words(fault: ProviderFault) -> None:
    verdict = LlmJudge(FakeChat(ProviderError("X.", fault=fault)), seed=7).judge(QUERY, RIGHT, WRONG)
    assert all(o.unscored_reason.endswith(": X.") and len(o.unscored_reason) > 5 for o in verdict.orders)


def test_one_failed_order_leaves_the_pair_unscored_and_keeps_the_other() -> None:
    def answer(request: ChatRequest) -> str | ProviderError:
        prompt = request.messages[0].content
        if prompt.index(RIGHT) < prompt.index(WRONG):
            return reply()
        return ProviderError("Down.", fault=ProviderFault.SERVER_ERROR)

    verdict = LlmJudge(FakeChat(answer), seed=7).judge(QUERY, RIGHT, WRONG)
    assert verdict.outcome is Outcome.UNSCORED
    assert sorted(order.outcome for order in verdict.orders) == ["a", "unscored"]
    assert "in one of the two orders" in verdict.reason


def test_unknown_costs_stay_unknown_and_stored_replies_are_free() -> None:
    chat = FakeChat([usage(reply(), cost=None)])
    judge = LlmJudge(chat, seed=7)
    assert all(o.cost_usd is None and not o.from_store for o in judge.judge(QUERY, RIGHT, WRONG).orders)
    again = judge.judge(QUERY, RIGHT, WRONG)
    assert all(o.from_store for o in again.orders)
    assert len(chat.requests) == 2


def test_the_same_model_called_b_is_not_paid_again() -> None:
    chat = FakeChat(preferring(RIGHT, WRONG))
    judge = LlmJudge(chat, seed=7)
    one, other = judge.judge(QUERY, RIGHT, WRONG), judge.judge(QUERY, WRONG, RIGHT)
    assert (one.outcome, other.outcome, len(chat.requests)) == (Outcome.A, Outcome.B, 2)


def test_both_orders_are_asked_at_the_same_time() -> None:
    together = threading.Barrier(2, timeout=10)

    def answer(_: ChatRequest) -> str:
        together.wait()
        return reply()

    assert LlmJudge(FakeChat(answer), seed=7).judge(QUERY, RIGHT, WRONG).order_dependent


def test_identical_and_missing_texts_cost_nothing() -> None:
    chat = FakeChat(reply())
    judge = LlmJudge(chat, seed=7)
    assert judge.judge(QUERY, RIGHT, f" {RIGHT}\n").identical
    assert judge.judge(QUERY, RIGHT, "").outcome is Outcome.UNSCORED
    assert chat.requests == []


def test_what_is_asked_is_deterministic_and_strict() -> None:
    chat = FakeChat(reply())
    LlmJudge(chat, seed=7).judge(QUERY, RIGHT, WRONG)
    for request in chat.requests:
        assert (request.temperature, request.seed, request.max_tokens) == (0.0, 7, 4096)
        assert request.json_schema is not None
        assert [m.role for m in request.messages] == ["user"]


def test_a_cancelled_call_stops_the_judge_and_a_missing_model_does_not() -> None:
    class Failing(FakeChat):
        def __init__(self, error: Exception) -> None:
            super().__init__()
            self.error = error

        def complete(self, request: ChatRequest) -> ChatReply:
            raise self.error

    with pytest.raises(CancelledError):
        LlmJudge(Failing(CancelledError("Stopped.")), seed=7).judge(QUERY, RIGHT, WRONG)
    verdict = LlmJudge(Failing(UnavailableError("Not here.")), seed=7).judge(QUERY, RIGHT, WRONG)
    assert verdict.outcome is Outcome.UNSCORED


def test_the_identity_names_everything_but_secrets() -> None:
    endpoint = ChatEndpoint("https://ann:pw@llm.example/v1", "judge-1", SecretStr("sk-secret"))
    one = LlmJudge(FakeChat(reply(), endpoint=endpoint), unit="top 5", both_orders=False, seed=3).identity
    assert (one.model, one.base_url, one.unit, one.both_orders) == ("judge-1", "https://llm.example/v1", "top 5", False)
    assert "secret" not in repr(one)
    assert "pw" not in repr(one)


def test_half_a_surrogate_pair_does_not_break_a_request() -> None:
    chat = FakeChat(reply())
    LlmJudge(chat, seed=7).judge(QUERY + "\ud800", RIGHT, WRONG + "\udfff")
    for request in chat.requests:
        request.messages[0].content.encode("utf-8")


def test_contradictions_of_a_reply_are_kept_beside_the_outcome() -> None:
    lying = reply(winner="chunk_b", chunk_a_score={
        "query_relevance": 9, "answer_completeness": 9, "factual_plausibility": 9, "clarity": 9, "overall": 3,
    })  # fmt: skip
    for order in LlmJudge(FakeChat(lying), seed=7).judge(QUERY, RIGHT, WRONG).orders:
        assert order.outcome == order.first  # the scores decide
        assert len(order.contradictions) == 2
