"""Case 05: nothing to read, for five reasons."""

from backend.judging import Outcome
from backend.settings import Settings
from tests.cases.judged import OpenCase, judged, open_case
from tests.conftest import shared_path

__all__ = ["open_case"]


def test_five_unscored_with_five_causes(open_case: OpenCase, settings: Settings) -> None:
    case = open_case("05-judge-no-usable-content")
    verdicts = judged(case, settings, "queries-5.txt")
    assert [v.outcome for v in verdicts] == [Outcome.UNSCORED] * 5
    assert not any(v.order_dependent or v.identical for v in verdicts)
    reasons = [{order.unscored_reason for order in v.orders} for v in verdicts]
    assert all(len(told) == 1 for told in reasons), reasons
    limit, refusal, withheld, refused, prose = (told.pop() for told in reasons)
    assert limit == "token limit used up by reasoning"
    assert refusal == "refused by the model: I can't help with judging this content."
    assert withheld == "content filter (reply withheld by the endpoint)"
    assert refused.startswith("content filter (request refused)")
    assert "content management policy" in refused
    assert prose.startswith("the reply holds no JSON")
    assert len({limit, refusal, withheld, refused, prose}) == 5
    assert all("5/5 would be unfair" in order.raw_reply for order in verdicts[4].orders)


def test_only_a_wrong_form_is_asked_again(open_case: OpenCase, settings: Settings) -> None:
    case = open_case("05-judge-no-usable-content")
    judged(case, settings, "queries-5.txt")
    asked = ["\n".join(m["content"] for m in entry["body"]["messages"]) for entry in case.server.chats()]
    questions = shared_path("cases", "fixtures", "queries-5.txt").read_text(encoding="utf-8").splitlines()
    per_query = [sum(question in prompt for prompt in asked) for question in questions if question.strip()]
    assert per_query == [2, 2, 2, 2, 4]
