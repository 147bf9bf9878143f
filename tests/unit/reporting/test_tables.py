"""The verdict table and its CSV."""

import csv
import io
import math

import pandas as pd
import pytest

from backend.judging import LlmJudge, Outcome, StoredVerdict, Verdict
from backend.judging.types import JudgeIdentity, JudgeKind
from backend.llm.types import ChatReply
from backend.reporting import to_csv, verdict_table
from tests.fakes.chat import FakeChat
from tests.unit.judging.made import duel, reply


def parsed(data: bytes) -> list[dict[str, str]]:
    assert data.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def stored(answer: object, **fields: object) -> StoredVerdict:
    judge = LlmJudge(FakeChat(answer), seed=7)  # type: ignore[arg-type]
    return StoredVerdict("verdict-1", "duel-1", judge.judge("q", "one", "two"), "2026-11-30T00:00:00+00:00")


def test_a_row_tells_the_whole_verdict() -> None:
    paid = ChatReply(reply(), n_prompt_tokens=10, n_completion_tokens=5, cost_usd=0.01, latency_ms=1.0)
    table = verdict_table([(duel(["one"], ["two"]), stored(paid))])
    row = table.iloc[0].to_dict()
    assert (row["outcome"], row["winner_model"], row["order_dependent"], row["one_order"]) == ("tie", "", True, False)
    assert (row["model_a"], row["model_b"]) == ("nomic-embed-text", "bge-small-en")
    assert {row["order_1_first_model"], row["order_2_first_model"]} == {"nomic-embed-text", "bge-small-en"}
    assert {row["order_1_a_overall"], row["order_2_a_overall"]} == {9.0, 4.5}
    assert (row["n_prompt_tokens"], row["n_completion_tokens"], row["cost_usd"]) == (20, 10, 0.02)
    assert (row["verdict_id"], row["duel_id"], row["seed"]) == ("verdict-1", "duel-1", 7)


def test_the_winner_is_named_by_its_model() -> None:
    judge = JudgeIdentity(JudgeKind.LIKELIHOOD, "m", "1")
    won = StoredVerdict("v", "duel-1", Verdict(Outcome.B, "r", judge, margin=-0.5, tie_band=0.1), "t")
    row = verdict_table([(duel(["one"], ["two"]), won)]).iloc[0]
    assert (row["winner_model"], row["margin"]) == ("bge-small-en", -0.5)


def test_unscored_rows_stay_with_their_reason_and_without_numbers() -> None:
    data = to_csv(verdict_table([(duel(["one"], ["two"]), stored("prose"))]))
    (row,) = parsed(data)
    assert row["outcome"] == "unscored"
    assert row["unscored_reason"].startswith("the reply holds no JSON")
    assert (row["order_1_a_overall"], row["margin"], row["winner_model"]) == ("", "", "")
    assert b"nan" not in data.lower()


def test_an_empty_table_keeps_its_header() -> None:
    table = verdict_table([])
    assert len(table) == 0
    assert to_csv(table).decode("utf-8-sig").startswith("query,corpus,model_a")


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+cmd",
        "+491234",
        "-2 apples",
        "@SUM(A1)",
        "\tx",
        "\rx",
        " =1",
        "\u200b=1",
        "\ufeff=HYPERLINK(1)",
        "\n=1",
        "＝1",
        "\xa0@x",
        "-",
    ],
)
def test_no_text_starts_a_formula(text: str) -> None:
    (row,) = parsed(to_csv(pd.DataFrame({"text": [text], "=head": ["x"]})))
    assert row["text"] == "'" + text
    assert row["'=head"] == "x"


@pytest.mark.parametrize("text", ["-0.25", "1e-5", "-7", "plain", "a=b", "", "'quoted", "5 - 3"])
def test_plain_numbers_and_harmless_texts_stay(text: str) -> None:
    (row,) = parsed(to_csv(pd.DataFrame({"text": [text], "n": [-0.25]})))
    assert (row["text"], row["n"]) == (text, "-0.25")


def test_odd_characters_and_numbers_make_a_valid_file() -> None:
    frame = pd.DataFrame(
        {
            "text": pd.Series(
                ["half \ud800 pair", "nul \0 here", 'quotes " , and\r\nlines', "äß 漢字 😀"], dtype=object
            ),
            "number": [math.nan, math.inf, -math.inf, 1.5],
            "flag": [True, False, None, True],
        }
    )
    found = parsed(to_csv(frame))
    assert [row["text"] for row in found] == [
        "half \ufffd pair",
        "nul \ufffd here",
        'quotes " , and\r\nlines',
        "äß 漢字 😀",
    ]
    assert [row["number"] for row in found] == ["", "", "", "1.5"]
    assert [row["flag"] for row in found] == ["true", "false", "", "true"]


def test_half_a_surrogate_pair_in_a_verdict_does_not_break_the_table() -> None:
    (row,) = parsed(to_csv(verdict_table([(duel(["one"], ["two"], query="odd \ud800"), stored(reply()))])))
    assert row["query"] == "odd \ufffd"


def test_a_judges_words_cannot_start_a_formula() -> None:
    answer = reply(
        winner_reason="=HYPERLINK(\"http://x\")", chunk_a_strengths=["+1"], chunk_a_weaknesses=["@x"],
        chunk_b_strengths=["-cmd"],
    )  # fmt: skip
    question = duel(["one"], ["two"], query="=1+1")
    (row,) = parsed(to_csv(verdict_table([(question, stored(answer))])))
    assert row["query"] == "'=1+1"
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row.values())
