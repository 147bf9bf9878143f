"""Case 03: almost-JSON."""

from backend.judging import Outcome
from backend.settings import Settings
from tests.cases.judged import OpenCase, judged, open_case, scores

__all__ = ["open_case"]


def test_small_defects_are_repaired_and_said(open_case: OpenCase, settings: Settings) -> None:
    case = open_case("03-judge-trailing-comma-quotes")
    verdicts = judged(case, settings, "queries-4.txt")
    assert [v.outcome for v in verdicts] == [Outcome.A] * 4
    assert all(scores(v) == {(9.0, 4.5)} for v in verdicts)
    assert [all(o.repaired for o in v.orders) for v in verdicts] == [True, True, True, False]
    assert len(case.server.chats()) == 8  # repaired here, not asked again


def test_the_reason_keeps_its_line_break_and_its_commas(open_case: OpenCase, settings: Settings) -> None:
    _, _, broken_line, valid = judged(open_case("03-judge-trailing-comma-quotes"), settings, "queries-4.txt")
    assert all("\nLine two says why." in order.reason for order in broken_line.orders)
    assert all("ends with ,} and ,] by mistake." in order.reason for order in valid.orders)
    assert all(order.repaired == "" for order in valid.orders)
