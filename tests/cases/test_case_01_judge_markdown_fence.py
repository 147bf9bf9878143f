"""Case 01: replies in fences, with sentences round them, or with a fence inside the reason."""

from backend.judging import Outcome
from backend.settings import Settings
from tests.cases.judged import OpenCase, judged, open_case, scores

__all__ = ["open_case"]


def test_every_fenced_reply_is_read_without_asking_again(open_case: OpenCase, settings: Settings) -> None:
    case = open_case("01-judge-markdown-fence")
    verdicts = judged(case, settings, "queries-5.txt")
    assert [v.outcome for v in verdicts] == [Outcome.A] * 5
    assert all(scores(v) == {(9.0, 4.5)} for v in verdicts)
    assert len(case.server.chats()) == 10


def test_a_fence_inside_the_reason_stays(open_case: OpenCase, settings: Settings) -> None:
    verdict = judged(open_case("01-judge-markdown-fence"), settings, "queries-5.txt")[3]
    for order in verdict.orders:
        winner, loser = ("Chunk A", "chunk_b") if order.first == "a" else ("Chunk B", "chunk_a")
        other = "Chunk B" if winner == "Chunk A" else "Chunk A"
        assert order.reason == (
            f'{winner} shows the call ```json {{"winner": "{loser}"}} ``` from the manual. {other} does not.'
        )
        assert order.repaired == ""
