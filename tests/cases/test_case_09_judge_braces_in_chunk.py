"""Case 09: braces and percent signs in texts, query and reason."""

from backend.judging import Outcome
from tests.cases.clients import Pair
from tests.cases.judged import OpenCase, open_case, scores
from tests.conftest import shared_path

__all__ = ["open_case"]

NAME = "09-judge-braces-in-chunk"


def pairs_of_case() -> list[Pair]:
    right, wrong, asked = (
        shared_path("cases", "cases", NAME, name).read_text(encoding="utf-8")
        for name in ("relay-config.md", "rack-notes.md", "queries.txt")
    )
    return [Pair(query, right, wrong) for query in asked.splitlines() if query.strip()]


def test_braces_reach_the_judge_and_come_back_unchanged(open_case: OpenCase) -> None:
    case, asked = open_case(NAME), pairs_of_case()
    verdicts = case.verdicts(asked)
    assert [v.outcome for v in verdicts] == [Outcome.A, Outcome.A]
    for verdict in verdicts:
        assert scores(verdict) == {(9.0, 4.5)}
        for order in verdict.orders:
            slot = "Chunk A" if order.first == "a" else "Chunk B"
            assert order.reason.startswith(f'The snippet {{"retries": 3}} and {{x}} }} in {slot} answers it.')
    prompts = [entry["body"]["messages"][0]["content"] for entry in case.server.chats()]
    assert len(prompts) == 4
    for prompt in prompts:
        assert asked[0].text_a in prompt
        assert asked[0].text_b in prompt
    assert sum(asked[0].query in prompt for prompt in prompts) == 2
