"""Case 11: a judge that always prefers what it sees first."""

from backend.judging import Outcome
from backend.settings import Settings
from tests.cases.clients import pairs
from tests.cases.judged import OpenCase, judged, open_case

__all__ = ["open_case"]

NAME = "11-judge-always-first"


def test_both_orders_turn_a_leaning_into_marked_ties(open_case: OpenCase, settings: Settings) -> None:
    case = open_case(NAME)
    verdicts = judged(case, settings, "queries-10.txt")
    assert [(v.outcome, v.order_dependent, v.identical) for v in verdicts] == [(Outcome.TIE, True, False)] * 10
    orders = [order for v in verdicts for order in v.orders]
    assert [order.outcome for order in orders] == [Outcome(order.first) for order in orders]
    assert len(orders) == len(case.server.chats()) == 20
    assert all({o.first for o in v.orders} == {"a", "b"} for v in verdicts)


def test_one_order_is_drawn_and_says_so(open_case: OpenCase, settings: Settings) -> None:
    case = open_case(NAME, both_orders=False)
    verdicts = judged(case, settings, "queries-10.txt")
    assert all(v.one_order and len(v.orders) == 1 for v in verdicts)
    assert {v.outcome for v in verdicts} == {Outcome.A, Outcome.B}  # neither model gets 10 of 10
    again = judged(open_case(NAME, both_orders=False), settings, "queries-10.txt")
    assert [v.orders[0].first for v in again] == [v.orders[0].first for v in verdicts]


def test_the_log_confirms_each_order_and_names_nothing(open_case: OpenCase, settings: Settings) -> None:
    case = open_case(NAME)
    asked = pairs(case.server.base_url, settings, "queries-10.txt")
    verdicts = case.verdicts(asked)
    prompts = [entry["body"]["messages"][0]["content"] for entry in case.server.chats()]
    for pair, verdict in zip(asked, verdicts, strict=True):
        mine = [p for p in prompts if pair.query in p]
        a_first = [p.index(pair.text_a) < p.index(pair.text_b) for p in mine]
        assert sorted(a_first) == [False, True] == sorted(o.first == "a" for o in verdict.orders)
    for prompt in prompts:
        for secret in ("emb-a", "emb-b", "01-pressure", "02-shifts", ".md", ".txt"):
            assert secret not in prompt
