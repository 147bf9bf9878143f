"""Case 07: scores of odd types and outside the scale."""

import json

from backend.judging import Outcome, verdict_to_json
from backend.settings import Settings
from tests.cases.judged import OpenCase, judged, open_case, scores

__all__ = ["open_case"]

A, OUT = Outcome.A, Outcome.UNSCORED


def test_what_is_a_score_counts_and_what_is_none_does_not(open_case: OpenCase, settings: Settings) -> None:
    case = open_case("07-judge-score-types-range")
    verdicts = judged(case, settings, "queries-10.txt")
    assert [v.outcome for v in verdicts] == [A, A, A, OUT, OUT, OUT, OUT, OUT, A, A]
    for n in (0, 2, 8, 9):
        assert scores(verdicts[n]) == {(9.0, 4.5)}
    assert scores(verdicts[1]) == {(8.88, 4.5)}
    assert all(any("8.5" in c for c in order.contradictions) for order in verdicts[1].orders)
    assert len(case.server.chats()) == 20  # a wrong value is no reason to ask again

    reasons = [[o.unscored_reason for o in v.orders] for v in verdicts]
    for n, field, value in (
        (3, "query_relevance", "98989"),
        (4, "query_relevance", "9.2e+124"),
        (5, "query_relevance", "true"),
        (6, "query_relevance", "nan"),
        (7, "clarity", "11"),
    ):
        assert all(field in told and value in told for told in reasons[n]), reasons[n]
    assert all("query_relevance" in told and ": 0" in told for told in reasons[7])
    assert all(o.scores_a is None and o.scores_b is None for n in range(3, 8) for o in verdicts[n].orders)


def test_a_wrong_mean_and_a_wrong_confidence_are_contradictions(open_case: OpenCase, settings: Settings) -> None:
    verdicts = judged(open_case("07-judge-score-types-range"), settings, "queries-10.txt")
    for order in verdicts[8].orders:
        assert any("states an overall of 2 for side A" in c for c in order.contradictions)
        assert any("states an overall of 9.9 for side B" in c for c in order.contradictions)
    for order in verdicts[9].orders:
        assert order.stated_confidence is None
        assert "confidence is not a number from 0 to 1: 95" in order.contradictions
    for verdict in verdicts:  # no number in an export is NaN or infinite
        json.dumps(verdict_to_json(verdict), allow_nan=False)
