"""The LLM judge: two blind requests, one an order; the rules decide, and what fails is kept as data."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from urllib.parse import urlsplit, urlunsplit

from backend.errors import BudgetError, CancelledError, ProviderError, ProviderFault, RagduelError
from backend.judging.blinding import PROMPT, BlindRequest, blind_requests
from backend.judging.replies import ReadReply, Unreadable, read_reply
from backend.judging.rules import combine, decide, scored, without_asking
from backend.judging.schema import ChunkScore, reply_schema
from backend.judging.types import DimensionScores, JudgeIdentity, JudgeKind, OrderJudgement, Outcome, Side, Verdict
from backend.llm.types import ChatMessage, ChatModel, ChatReply, ChatRequest
from backend.prompts import Prompt, load_prompt
from backend.store import storable

_STOP_HEARD_WITHIN_S = 0.2
MAX_TOKENS = 4096  # a verdict takes 400; the rest is for models that reason first
REPAIR_PROMPT = "judge_repair"
_SHOWN_AGAIN_CHARS = 8000
_FAULT_WORDS = {
    ProviderFault.UNREACHABLE: "endpoint not reached",
    ProviderFault.TIMEOUT: "no answer in time",
    ProviderFault.AUTHENTICATION: "key refused",
    ProviderFault.QUOTA: "quota used up",
    ProviderFault.RATE_LIMIT: "too many requests",
    ProviderFault.CONTENT_FILTER: "content filter (request refused)",
    ProviderFault.NOT_FOUND: "model or path not found",
    ProviderFault.CONTEXT_LENGTH: "texts too long for the model",
    ProviderFault.BAD_REQUEST: "request refused",
    ProviderFault.SERVER_ERROR: "server error",
    ProviderFault.BAD_REPLY: "not a chat reply",
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one order brought: a reply read, or why not; with every chat reply paid for.

    ``questions`` are the requests behind an answer that could not be used.
    """

    result: ReadReply | str
    replies: tuple[ChatReply, ...] = ()
    repaired: str = ""
    provider_fault: str = ""
    questions: tuple[tuple[ChatMessage, ...], ...] = ()


class LlmJudge:
    """Judges with a chat model.

    Args:
        chat: Where to ask.
        both_orders: Ask with each side first; one order can't rule position bias out, and the verdict says so.
        unit: What is compared, for the identity.
        seed: Seed of the drawn order; also sent to the endpoint.
        ask_again: A stored reply that could not be used is asked for, and paid, anew.
        cancelled: Asked while waiting; True stops with a CancelledError.
        temperature: Sampling temperature.
        max_tokens: Most completion tokens.
        reasoning_effort: For reasoning models; empty: not sent.
        prompt: An edited one (``edited_prompt``); None: the built-in.
    """

    def __init__(
        self,
        chat: ChatModel,
        *,
        both_orders: bool = True,
        unit: str = "rank 1",
        seed: int,
        ask_again: bool = False,
        cancelled: Callable[[], bool] | None = None,
        temperature: float = 0.0,
        max_tokens: int = MAX_TOKENS,
        reasoning_effort: str = "",
        prompt: Prompt | None = None,
    ) -> None:
        self._chat = chat
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._reasoning_effort = reasoning_effort
        self._prompt = prompt
        self._cancelled = cancelled
        self._ask_again = ask_again
        self._both_orders = both_orders
        self._unit = unit
        self._seed = seed

    @property
    def identity(self) -> JudgeIdentity:
        """Endpoint, model, prompts and settings; never a key."""
        versions = f"{(self._prompt or load_prompt(PROMPT)).version}+{load_prompt(REPAIR_PROMPT).version}"
        effort = f", reasoning effort {self._reasoning_effort}" if self._reasoning_effort else ""
        return JudgeIdentity(
            JudgeKind.LLM,
            self._chat.endpoint.model,
            versions,
            _without_credentials(self._chat.endpoint.base_url),
            self._both_orders,
            self._unit,
            f"temperature {self._temperature:g}, seed {self._seed}, at most {self._max_tokens} tokens{effort}",
        )

    def judge(self, query: str, text_a: str, text_b: str) -> Verdict:
        """Judge one pair; a provider's failure, a refusal or an unreadable reply is an unscored order."""
        query, text_a, text_b = map(storable, (query, text_a, text_b))
        identity = self.identity
        known = without_asking(query, text_a, text_b, identity, self._seed)
        if known is not None:
            return known
        started = time.perf_counter()
        requests = blind_requests(
            query, text_a, text_b, seed=self._seed, both_orders=self._both_orders, prompt=self._prompt
        )
        orders = self._all_orders(requests)
        joined = combine(orders)
        return Verdict(
            joined.outcome,
            joined.reason,
            identity,
            order_dependent=joined.order_dependent,
            rule_conflict=joined.rule_conflict,
            one_order=not self._both_orders,
            orders=orders,
            latency_ms=1000 * (time.perf_counter() - started),
            seed=self._seed,
        )

    def _all_orders(self, requests: Sequence[BlindRequest]) -> tuple[OrderJudgement, ...]:
        """Ask side by side; a stop leaves at once, and an answer that still comes is kept by the chat model."""
        pool = ThreadPoolExecutor(max_workers=len(requests), thread_name_prefix="judge")
        try:
            asked = [pool.submit(self._one_order, request) for request in requests]
            while wait(asked, timeout=_STOP_HEARD_WITHIN_S).not_done:
                if self._cancelled is not None and self._cancelled():
                    raise CancelledError("The judging was stopped.")
            return tuple(future.result() for future in asked)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _one_order(self, blind: BlindRequest) -> OrderJudgement:
        asked = self._ask(blind)
        stored = bool(asked.questions) and all(reply.from_store for reply in asked.replies)
        if self._ask_again and stored and isinstance(asked.result, str):
            for messages in asked.questions:  # a stored answer that could not be used: a person wants another one
                self._chat.forget(self._request(messages))
            asked = self._ask(blind)
        paid = _paid(asked.replies)
        raw = "\n\n--- asked again ---\n\n".join(reply.text or reply.refusal for reply in asked.replies)
        if isinstance(asked.result, str):
            return replace(
                paid, first=blind.first, outcome=Outcome.UNSCORED, unscored_reason=asked.result, raw_reply=raw,
                provider_fault=asked.provider_fault,
            )  # fmt: skip
        steps = ", ".join(step for step in (asked.repaired, asked.result.repaired) if step)
        return replace(_judged(blind.first, asked.result, paid), raw_reply=raw, repaired=steps)

    def _ask(self, blind: BlindRequest) -> _Asked:
        """Ask; where only the form of the reply is wrong, ask once more with the reply shown."""
        question = ChatMessage("user", blind.prompt)
        questions: tuple[tuple[ChatMessage, ...], ...] = ((question,),)
        first, failure, fault = self._complete(questions[0])
        if first is None:
            return _Asked(failure, provider_fault=fault)
        result = _read(first)
        if not isinstance(result, Unreadable):
            return _Asked(result, (first,))
        if not result.format_fault:
            return _Asked(result.reason, (first,), questions=questions)
        again = load_prompt(REPAIR_PROMPT).render(problem=result.reason)
        shown = ChatMessage("assistant", first.text[:_SHOWN_AGAIN_CHARS])
        questions += ((question, shown, ChatMessage("user", again)),)
        second, failure, fault = self._complete(questions[1])
        if second is None:
            return _Asked(f"{result.reason}; asked again: {failure}", (first,), provider_fault=fault)
        repeated = _read(second)
        if isinstance(repeated, Unreadable):
            told = "the same" if repeated.reason == result.reason else repeated.reason
            return _Asked(f"{result.reason}; asked again: {told}", (first, second), questions=questions)
        return _Asked(repeated, (first, second), f"asked again, since {result.reason}")

    def _request(self, messages: tuple[ChatMessage, ...]) -> ChatRequest:
        return ChatRequest(
            messages, json_schema=reply_schema(), schema_name="verdict", max_tokens=self._max_tokens, seed=self._seed,
            temperature=self._temperature, reasoning_effort=self._reasoning_effort, every_reply_counts=True,
        )  # fmt: skip

    def _complete(self, messages: tuple[ChatMessage, ...]) -> tuple[ChatReply | None, str, str]:
        """The reply, or None with the reason and the provider's fault (none where it answered by its filter)."""
        try:
            return self._chat.complete(self._request(messages)), "", ""
        except ProviderError as error:
            fault = "" if error.fault is ProviderFault.CONTENT_FILTER else error.fault.value
            return None, f"{_FAULT_WORDS[error.fault]}: {error.message}", fault
        except (CancelledError, BudgetError):
            raise
        except RagduelError as error:
            return None, error.message, ""


def _read(reply: ChatReply) -> ReadReply | Unreadable:
    """The reply's verdict, or what stands in its place; only a wrong form is worth asking again for."""
    if reply.refusal:
        return Unreadable(f"refused by the model: {reply.refusal}", format_fault=False)
    if reply.finish_reason == "content_filter":
        return Unreadable("content filter (reply withheld by the endpoint)", format_fault=False)
    cut_off = reply.finish_reason == "length"
    if not reply.text.strip():
        if not cut_off:
            return Unreadable("the reply is empty", format_fault=False)
        by = "by reasoning" if reply.reasoning else "before anything was written"
        return Unreadable(f"token limit used up {by}", format_fault=False)
    return read_reply(reply.text, cut_off=cut_off)


def _judged(first: Side, read: ReadReply, paid: OrderJudgement) -> OrderJudgement:
    """Turn slots into sides, and let the rules decide."""
    reply = read.reply
    slots = (reply.chunk_a_score, reply.chunk_b_score)
    of_a, of_b = slots if first == "a" else slots[::-1]
    scores_a, scores_b = _scores(of_a), _scores(of_b)
    stated = _as_side(reply.winner, first)
    decision = decide(scores_a, scores_b, stated_winner=stated, stated_confidence=reply.confidence)
    wrong_means = [
        f"states an overall of {'nothing usable' if told.overall is None else format(told.overall, 'g')} for side "
        f"{side}; the mean of its scores is {scores.overall:.2f}"
        for side, told, scores in (("A", of_a, scores_a), ("B", of_b, scores_b))
        if told.overall is None or abs(told.overall - scores.overall) > 0.0051  # 8.87 and 8.88 both round 8.875
    ]
    phrases = (
        (reply.chunk_a_strengths, reply.chunk_a_weaknesses),
        (reply.chunk_b_strengths, reply.chunk_b_weaknesses),
    )
    (strengths_a, weaknesses_a), (strengths_b, weaknesses_b) = phrases if first == "a" else phrases[::-1]
    return replace(
        paid,
        first=first,
        outcome=decision.outcome,
        scores_a=scores_a,
        scores_b=scores_b,
        stated_winner=stated,
        stated_confidence=reply.confidence,
        confidence_band=decision.confidence_band,
        reason=reply.winner_reason,
        deciding_dimension=reply.deciding_dimension,
        strengths_a=strengths_a,
        weaknesses_a=weaknesses_a,
        strengths_b=strengths_b,
        weaknesses_b=weaknesses_b,
        rule_conflict=decision.rule_conflict,
        contradictions=(*decision.contradictions, *wrong_means, *read.marks),
    )


def _scores(told: ChunkScore) -> DimensionScores:
    return scored(told.query_relevance, told.answer_completeness, told.factual_plausibility, told.clarity)


def _as_side(winner: str | None, first: Side) -> Outcome | None:
    if winner is None or winner == "tie":
        return None if winner is None else Outcome.TIE
    return Outcome.A if (winner == "chunk_a") == (first == "a") else Outcome.B


def _paid(replies: tuple[ChatReply, ...]) -> OrderJudgement:
    """What an order took, over its one or two requests; a sum with an unknown part is unknown."""
    return OrderJudgement(
        "a",
        Outcome.UNSCORED,
        n_prompt_tokens=_count(reply.n_prompt_tokens for reply in replies),
        n_completion_tokens=_count(reply.n_completion_tokens for reply in replies),
        cost_usd=_sum(reply.cost_usd for reply in replies),
        latency_ms=sum(reply.latency_ms for reply in replies),
        from_store=bool(replies) and all(reply.from_store for reply in replies),
    )


def _sum(parts: Iterable[float | None]) -> float | None:
    told = list(parts)
    known = [part for part in told if part is not None]
    return sum(known) if told and len(known) == len(told) else None


def _count(parts: Iterable[int | None]) -> int | None:
    total = _sum(parts)
    return None if total is None else int(total)


def _without_credentials(base_url: str) -> str:
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rsplit("@", 1)[-1]))
