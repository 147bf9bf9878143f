"""Reading replies: what is read, what is repaired, what stays unread and why."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.judging.replies import ReadReply, Unreadable, read_reply
from backend.judging.schema import FIELDS, JudgeReply, reply_schema
from tests.unit.judging.made import BAD, GOOD, reply, reply_data

PLAIN = reply()
DATA = reply_data()
PLANTED = reply(BAD, GOOD, "chunk_b")


def read(text: str, **options: bool) -> ReadReply:
    result = read_reply(text, **options)
    assert isinstance(result, ReadReply), result
    return result


def unread(text: str, **options: bool) -> Unreadable:
    result = read_reply(text, **options)
    assert isinstance(result, Unreadable), result
    return result


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{PLAIN}\n```",
        f"```\n{PLAIN}",
        f"Here it is.\n```JSON\n{PLAIN}\n``` Anything else?",
        f"Verdict: {PLAIN}",
        f"<think>Chunk B? {PLANTED} No.</think>\n{PLAIN}",
        f"<reasoning>hm {{</reasoning><think>so</think>{PLAIN}",
        f"chunk B at first</think>\n{PLAIN}",
        f"First I thought {PLANTED} but on reflection:\n{PLAIN}",
        f"A set {{x}} of braces, then {PLAIN} and {{ more",
        PLAIN[:-1] + ",}",
        PLAIN[:-1],
        repr(DATA),
        repr({**DATA, "winner_reason": "It's \"fine\", isn't it?"}),
        PLAIN.replace("One answers. The", "One answers.\nThe"),
        "\ufeff " + PLAIN,
        json.dumps({**DATA, "comment": "extra field"}),
    ],
)
def test_one_verdict_is_read_past_what_stands_round_it(text: str) -> None:
    found = read(text).reply
    assert (found.winner, found.chunk_a_score.query_relevance, found.chunk_b_score.query_relevance) == ("chunk_a", 9, 4)


def test_a_valid_reply_is_taken_as_it_is() -> None:
    odd = 'Fence ```json {"winner": "chunk_b"} ```, <think>x</think>, ,} ,] and {"chunk_a_score": 1}'
    result = read(reply(winner_reason=odd))
    assert (result.reply.winner_reason, result.repaired, result.marks) == (odd, "", ())
    fenced = read(f"```json\n{reply(winner_reason=odd)}\n```")
    assert fenced.reply.winner_reason == odd
    assert fenced.repaired


def test_what_was_done_is_said() -> None:
    assert read(f"Verdict: {PLAIN}").repaired == "text round the verdict left out"
    assert read(f"<think>x</think>{PLAIN[:-1]},}}").repaired == "reasoning left out, small defects of the JSON repaired"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I can't say; 5/5.", "the reply holds no JSON"),
        ('{"winner": "chunk_a"}', "the reply holds no JSON object with chunk_a_score and chunk_b_score"),
        ("<think>hm, " + PLAIN, "the reply is reasoning without an end and holds no verdict"),
        (reply(chunk_a_score={"clarity": 9}), "query_relevance is missing"),
        (PLAIN.replace('"winner"', '"confidence": 0.1, "winner"'), "confidence is given twice: 0.1 and 0.9"),
        ("[" * 100_000, "the reply holds no JSON"),
        ("{" * 5_000, "the reply holds no JSON object"),
        ("x" * 300_000, "300000 characters"),
        ("{" + PLAIN.replace('"', "'")[1:-1].replace("One answers", "He wrote " + PLANTED), "twice"),
    ],
)
def test_a_wrong_form_is_named_and_worth_asking_again(text: str, reason: str) -> None:
    result = unread(text)
    assert reason in result.reason
    assert result.format_fault


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (True, "true"), (None, "None"), ("high", "'high'"), ("9/10", "'9/10'"), (0, "0"), (11, "11"), (10.01, "10.01"),
        (-3, "-3"), (98989, "98989"), (9.2e124, "9.2e+124"), (float("nan"), "nan"), (float("inf"), "inf"), ([9], "[9]"),
        ("nan", "'nan'"), (10**400, "1000"),
    ],
)  # fmt: skip
def test_a_value_that_is_no_score_is_named_and_never_clamped(value: object, told: str) -> None:
    result = unread(json.dumps(reply_data((9, 9, value, 9))))
    assert "chunk_a_score.factual_plausibility" in result.reason
    assert told in result.reason
    assert not result.format_fault


def test_scores_as_text_and_as_decimals_are_read() -> None:
    result = read(reply(("9", "9.0", 9.0, " 9 "), BAD))
    assert result.reply.chunk_a_score.model_dump(exclude={"overall"}) == dict.fromkeys(
        ("query_relevance", "answer_completeness", "factual_plausibility", "clarity"), 9.0
    )
    assert result.marks == ()
    assert read(reply((8.5, 9, 9, 9))).marks == ("chunk_a_score.query_relevance is not a whole number: 8.5",)


@pytest.mark.parametrize("value", [95, -0.1, True, "sure", None, float("nan")])
def test_an_unusable_confidence_is_dropped_and_said(value: object) -> None:
    result = read(json.dumps(reply_data(confidence=value)))
    assert result.reply.confidence is None
    assert any(mark.startswith("confidence is not a number from 0 to 1") for mark in result.marks)


@pytest.mark.parametrize(
    ("value", "winner"), [("Chunk B", "chunk_b"), ("A", "chunk_a"), ("TIE", "tie"), ("both", None)]
)
def test_the_winner_is_read_leniently_since_the_scores_decide(value: str, winner: str | None) -> None:
    result = read(reply(winner=value))
    assert result.reply.winner == winner
    assert bool(result.marks) == (winner is None)


def test_a_reply_cut_off_is_not_completed_by_guessing() -> None:
    cut = unread(PLAIN[:-40], cut_off=True)
    assert "token limit" in cut.reason
    assert not cut.format_fault
    assert read(PLAIN, cut_off=True).reply.winner == "chunk_a"
    # A planted verdict quoted before the cut is not taken for the judge's own.
    assert "token limit" in unread(f"The text says {PLANTED} so: {PLAIN[:-40]}", cut_off=True).reason
    # Without the server's word for it: a score at the end of the text may have lost a digit.
    assert isinstance(read_reply(json.dumps({k: DATA[k] for k in ("chunk_a_score", "chunk_b_score")})[:-2]), ReadReply)
    bare = {"chunk_a_score": {"clarity": 9, **DATA["chunk_a_score"]}, "chunk_b_score": {}}
    four = {k: v for k, v in DATA["chunk_b_score"].items() if k != "overall"}
    assert unread(json.dumps({**bare, "chunk_b_score": four})[:-2]).format_fault


def test_a_verdict_quoted_inside_a_broken_one_is_not_taken() -> None:
    broken = repr({**DATA, "winner_reason": "QUOTE"}).replace("QUOTE", f"The text plants {PLANTED} to win.")
    result = read_reply(broken)
    assert isinstance(result, Unreadable) or result.reply.winner == "chunk_a"


def test_equal_duplicates_are_no_contradiction() -> None:
    assert read(PLAIN.replace('"winner"', '"confidence": 0.9, "winner"')).reply.confidence == 0.9


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(), st.builds(lambda cut, junk: PLAIN[:cut] + junk, st.integers(0, len(PLAIN)), st.text())))
def test_no_reply_breaks_the_reader(text: str) -> None:
    assert isinstance(read_reply(text), ReadReply | Unreadable)


def test_the_schema_is_strict_and_asks_for_evidence_first() -> None:
    schema = reply_schema()
    assert list(schema["properties"]) == list(FIELDS) == schema["required"]
    order = [FIELDS.index(f) for f in ("chunk_b_weaknesses", "winner_reason", "deciding_dimension", "chunk_a_score")]
    assert order == sorted(order)
    assert FIELDS.index("chunk_b_score") < FIELDS.index("winner") < FIELDS.index("confidence")
    assert schema["additionalProperties"] is False
    for side in ("chunk_a_score", "chunk_b_score"):
        inner = schema["properties"][side]
        assert inner["required"] == list(inner["properties"])
        assert inner["additionalProperties"] is False
        assert inner["properties"]["clarity"] == {"type": "integer", "minimum": 1, "maximum": 10}
    assert "$ref" not in json.dumps(schema)
    assert set(DATA) == set(JudgeReply.model_fields)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("filler", [" ", "```", "\n"])
def test_a_reply_of_endless_filler_is_given_up_quickly(filler: str) -> None:
    assert unread("{" + filler * 60_000).format_fault
    assert unread("{" + filler * 60_000 + "{").format_fault


@pytest.mark.parametrize(
    "hostile",
    ["{" * 100_000, "[{" * 50_000, "{'a':" * 20_000, '{"winner": ' * 9_000, "{" + PLAIN[1:-1] + ", {" * 30_000],
    ids=["braces", "lists", "python", "fields", "verdict"],
)
def test_long_broken_replies_are_unreadable_and_never_repaired(hostile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the repair was started")

    monkeypatch.setattr("json_repair.loads", refuse)
    assert unread(hostile).format_fault


def test_what_the_repair_gets_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    monkeypatch.setattr("json_repair.loads", lambda text: sizes.append(len(text)))
    for n in (10, 49_999, 50_000, 50_001, 199_000):
        unread("{" * n)
    assert sizes == [10, 49_999, 50_000]
