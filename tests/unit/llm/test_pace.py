"""The pace of a run: limits, waits that hold everybody, budgets that are never exceeded, failures that end it."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.errors import BudgetError, CancelledError, InputError, ProviderError, ProviderFault
from backend.llm import ChatEndpoint, ChatMessage, ChatReply, ChatRequest, OpenAIChat, Pace
from backend.store import Database
from tests.fakes.scripted_server import Behaviour, Reply, ScriptedServer, chat, error

PRICED = ChatEndpoint("http://127.0.0.1:9/v1", "m", price_input_usd=1.0, price_output_usd=10.0)
FREE = ChatEndpoint("http://127.0.0.1:9/v1", "m")
ASK = ChatRequest((ChatMessage("user", "x" * 84),), max_tokens=10)
WORST_USD = (100 * 1.0 + 10 * 10.0) / 1e6  # 84 letters and 16 for the message; 10 tokens of reply


def call(pace: Pace, endpoint: ChatEndpoint = FREE, cost: float | None = 0.0, hold_s: float = 0.0) -> None:
    with pace.turn(endpoint, ASK) as tell:
        time.sleep(hold_s)
        tell(ChatReply("OK", cost_usd=cost))


def failing(fault: ProviderFault) -> Callable[[Pace], None]:
    def fail(pace: Pace) -> None:
        with pytest.raises(ProviderError), pace.turn(FREE, ASK):
            raise ProviderError("No.", fault=fault)

    return fail


@settings(max_examples=40, deadline=None)
@given(st.floats(WORST_USD, 12 * WORST_USD), st.integers(0, 10**6), st.integers(1, 4))
def test_a_budget_is_never_exceeded_and_used_as_far_as_it_goes(budget: float, seed: int, concurrency: int) -> None:
    pace, draw = Pace(concurrency, budget_usd=budget), random.Random(seed)
    costs = [draw.choice([None, draw.uniform(0, WORST_USD)]) for _ in range(40)]
    stopped = 0
    with ThreadPoolExecutor(4) as pool:
        for one in [pool.submit(call, pace, PRICED, cost) for cost in costs]:
            try:
                one.result()
            except BudgetError:
                stopped += 1
    assert pace.spent_usd <= budget + 1e-12
    if stopped:  # nothing more would have fitted for sure
        assert pace.spent_usd + WORST_USD > budget - 1e-12


def test_a_budget_needs_prices_and_what_was_spent_before_counts() -> None:
    with pytest.raises(InputError, match="no price is known"):
        call(Pace(budget_usd=1.0), FREE)
    with pytest.raises(BudgetError, match=r"0\.99999 USD are spent"):
        call(Pace(budget_usd=1.0, spent_usd=0.99999), PRICED)


def test_no_more_calls_are_under_way_than_allowed_and_two_until_one_succeeded() -> None:
    pace, lock, now, most = Pace(5), threading.Lock(), [0], []

    def work(n: int) -> None:
        with pace.turn(FREE, ASK) as tell:
            with lock:
                now[0] += 1
                most.append((n, now[0]))
            time.sleep(0.02)
            with lock:
                now[0] -= 1
            tell(ChatReply("OK"))

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(work, range(40)))
    assert max(at_once for _, at_once in most[:2]) <= 2
    assert max(at_once for _, at_once in most) == 5


def test_no_window_of_a_minute_holds_more_calls_than_the_limit() -> None:
    now = [0.0]
    pace = Pace(1, requests_per_minute=3, clock=lambda: now[0])
    starts = []
    pace._changed.wait = lambda timeout=None: now.__setitem__(0, now[0] + (timeout or 0.1)) or True  # type: ignore[method-assign,func-returns-value]
    for _ in range(10):
        call(pace)
        starts.append(now[0])
    for first, fourth in zip(starts, starts[3:], strict=False):
        assert fourth - first >= 60
    assert starts[-1] < 3 * 60 + 2


def test_a_wait_that_the_server_asks_for_holds_everybody() -> None:
    pace = Pace(4)
    call(pace)
    pace.hold(0.3)
    began = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: call(pace), range(4)))
    assert time.monotonic() - began >= 0.3


def test_a_stop_is_heard_while_waiting() -> None:
    stop = threading.Event()
    pace = Pace(1, cancelled=stop.is_set)
    pace.hold(30)
    threading.Timer(0.1, stop.set).start()
    began = time.monotonic()
    with pytest.raises(CancelledError):
        call(pace)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("fault", [ProviderFault.AUTHENTICATION, ProviderFault.QUOTA, ProviderFault.NOT_FOUND])
def test_after_a_fault_that_every_call_would_meet_nobody_asks_again(fault: ProviderFault) -> None:
    pace = Pace(4)
    failing(fault)(pace)
    with pytest.raises(ProviderError) as told:
        call(pace)
    assert told.value.fault is fault
    assert pace.n_calls == 1


def test_trouble_ends_a_run_only_after_five_in_a_row() -> None:
    pace, fail = Pace(1), failing(ProviderFault.SERVER_ERROR)
    for _ in range(4):
        fail(pace)
    call(pace)
    for _ in range(5):
        assert pace.fatal is None
        fail(pace)
    assert pace.fatal is not None
    lenient = Pace(1)
    for _ in range(20):
        failing(ProviderFault.CONTENT_FILTER)(lenient)
    assert lenient.fatal is None


def numbered(n: int) -> ChatRequest:
    return ChatRequest((ChatMessage("user", f"Question {n}"),))


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (error(401, "Incorrect API key provided"), ProviderFault.AUTHENTICATION),
        (error(429, "You exceeded your current quota", code="insufficient_quota"), ProviderFault.QUOTA),
    ],
)
def test_a_wrong_key_or_an_empty_account_costs_two_requests_at_most(
    database: Database, answer: Behaviour, fault: ProviderFault
) -> None:
    pace = Pace(16)
    with ScriptedServer(answer) as server:
        asked = OpenAIChat(ChatEndpoint(server.base_url, "m", timeout_s=5), database, pace=pace)

        def ask(n: int) -> ProviderFault | None:
            try:
                asked.complete(numbered(n))
            except ProviderError as failure:
                return failure.fault
            return None

        with ThreadPoolExecutor(16) as pool:
            assert set(pool.map(ask, range(60))) == {fault}
        assert len(server.log) <= 2


def test_stored_answers_pass_without_a_turn(database: Database) -> None:
    with ScriptedServer(chat("OK")) as server:
        endpoint = ChatEndpoint(server.base_url, "m", timeout_s=5)
        OpenAIChat(endpoint, database).complete(numbered(1))
        pace = Pace(1)
        assert OpenAIChat(endpoint, database, pace=pace).complete(numbered(1)).from_store
        assert pace.n_calls == 0


def test_retry_after_holds_the_whole_run(database: Database) -> None:
    busy = Reply(429, {"error": {"message": "slow down"}}, headers={"Retry-After": "1"})
    pace = Pace(8)
    with ScriptedServer(chat("OK"), busy, chat("OK")) as server:
        asked = OpenAIChat(ChatEndpoint(server.base_url, "m", timeout_s=5), database, pace=pace)
        asked.complete(numbered(0))
        asked.complete(numbered(1))
        refused_at, again_at = server.log[1].at_s, server.log[2].at_s
        assert again_at - refused_at >= 0.9
        assert pace._held_until > 0
