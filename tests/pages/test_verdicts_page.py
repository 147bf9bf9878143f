"""The verdicts page: counts, filters, the card by link, and the CSV."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.judging import (
    DimensionScores,
    JudgeIdentity,
    JudgeKind,
    OrderJudgement,
    Outcome,
    StoredVerdict,
    Verdict,
)
from backend.workspace import DuelRequest, Workspace
from tests.pages.conftest import Open, click, shown

LIKELIHOOD = JudgeIdentity(JudgeKind.LIKELIHOOD, "small", "1-aaaaaaaa")
LLM = JudgeIdentity(JudgeKind.LLM, "big", "2-bbbbbbbb", "http://127.0.0.1:9/v1")
HIGH, LOW = DimensionScores(9, 8, 9, 9, 8.75), DimensionScores(6, 5, 8, 8, 6.75)
RAW = "I think **A** $x$ <b>"


def _order(first: str, outcome: Outcome) -> OrderJudgement:
    a, b = (HIGH, LOW) if outcome is Outcome.A else (LOW, HIGH)
    return OrderJudgement(
        "a" if first == "a" else "b", outcome, a, b, outcome, 0.86, "clear on most dimensions", "Chunk A is *clearer*.",
        "clarity", ("Names $3 and $4",), ("Short",), ("Calm",), ("Off <b>topic</b>",),
        contradictions=("declares side B the winner, but its overall score is the lower one",),
        n_prompt_tokens=800, n_completion_tokens=200, cost_usd=0.0005, latency_ms=900.0,
    )  # fmt: skip


@pytest.fixture
def verdicts(notes: Workspace) -> dict[str, StoredVerdict]:
    def duel(query: str) -> str:
        return notes.duel(DuelRequest("Notes", query, "fake-a", "fake-b", 2)).duel_id

    unread = OrderJudgement("a", Outcome.UNSCORED, unscored_reason="No JSON in the reply.", raw_reply=RAW)
    both = (_order("a", Outcome.A), _order("b", Outcome.A))
    split = (_order("a", Outcome.A), _order("b", Outcome.B))
    tie = Verdict(Outcome.TIE, "A tie that depends on the order.", LLM, order_dependent=True, orders=split)
    told = {
        "win": ("Honey?", Verdict(Outcome.A, "Side A wins in both orders.", LLM, orders=both)),
        "split": ("Bread?", tie),
        "unscored": ("=Tyres?", Verdict(Outcome.UNSCORED, "Not scored.", LLM, orders=(unread,))),
        "likelihood": ("Honey?", Verdict(Outcome.B, "Side B is likelier.", LIKELIHOOD, margin=-0.4, tie_band=0.1)),
    }  # fmt: skip
    return {name: notes.verdicts.save(duel(query), verdict) for name, (query, verdict) in told.items()}


def test_without_verdicts_the_page_says_how_to_get_one(workspace: Workspace, open_page: Open) -> None:
    at = open_page("verdicts")
    assert not at.exception
    assert "No verdict yet" in shown(at)


def test_all_verdicts_are_counted_the_unscored_apart(verdicts: dict[str, StoredVerdict], open_page: Open) -> None:
    at = open_page("verdicts")
    assert [(metric.label, metric.value) for metric in at.metric] == [
        ("Verdicts shown", "4 of 4"), ("A model wins", "2"), ("Ties", "1"), ("Unscored", "1"),
    ]  # fmt: skip
    outcomes = dict(zip(at.dataframe[0].value["Question"], at.dataframe[0].value["Outcome"], strict=True))
    assert outcomes["Bread?"] == "Tie: order-dependent"
    assert outcomes["=Tyres?"] == "Unscored"
    assert set(at.dataframe[0].value["Outcome"]) >= {"fake-a wins", "fake-b wins"}


@pytest.mark.parametrize(("widget", "value", "n"), [
    ("verdicts_kinds", ["unscored"], 1), ("verdicts_judges", ["likelihood: small"], 1),
    ("verdicts_models", ["fake-a"], 4), ("verdicts_corpora", ["Notes"], 4),
])  # fmt: skip
def test_filters_keep_what_they_say(
    verdicts: dict[str, StoredVerdict], open_page: Open, widget: str, value: list[str], n: int
) -> None:
    at = open_page("verdicts")
    at.multiselect(key=widget).set_value(value).run()
    assert at.metric[0].value == f"{n} of 4"


def test_text_and_order_dependence_filter(verdicts: dict[str, StoredVerdict], open_page: Open) -> None:
    at = open_page("verdicts")
    at.text_input(key="verdicts_text").set_value("honey").run()
    assert at.metric[0].value == "2 of 4"
    at.text_input(key="verdicts_text").set_value("").run()
    at.toggle(key="verdicts_order_dependent").set_value(True).run()
    assert at.metric[0].value == "1 of 4"
    at.text_input(key="verdicts_text").set_value("nothing like it").run()
    assert "No verdict passes" in shown(at)
    assert at.metric[0].value == "0 of 4"


def test_the_card_of_a_win_shows_both_orders(verdicts: dict[str, StoredVerdict], open_page: Open) -> None:
    at = open_page("verdicts", verdict=verdicts["win"].verdict_id)
    text = shown(at)
    assert at.subheader[0].value.replace("\\", "") == "fake-a wins"
    scores = at.dataframe[0].value
    assert list(scores.index) == [
        "Query relevance", "Answer completeness", "Factual plausibility", "Clarity", "Overall (mean)",
    ]  # fmt: skip
    assert scores["fake-a, order 1"].tolist() == [9, 8, 9, 9, 8.75]
    assert scores["fake-b, order 2"].tolist() == [6, 5, 8, 8, 6.75]
    texts = [t.value for t in at.text]
    for words in ("Chunk A is *clearer*.", "+ Names $3 and $4", "– Off <b>topic</b>", "Deciding dimension: Clarity"):
        assert words in texts
    assert "– declares fake-b the winner, but its overall score is the lower one" in texts
    assert "*stated*" in text
    assert "2,000 tokens" in text
    assert "0.00100 USD" in text


def test_the_card_of_an_unscored_one_holds_the_raw_reply(verdicts: dict[str, StoredVerdict], open_page: Open) -> None:
    at = open_page("verdicts", verdict=verdicts["unscored"].verdict_id)
    assert at.subheader[0].value == "Unscored"
    assert [code.value for code in at.code] == [RAW]
    assert "No score: No JSON in the reply." in [text.value for text in at.text]


def test_the_likelihood_card_speaks_about_relevance_only(verdicts: dict[str, StoredVerdict], open_page: Open) -> None:
    text = shown(open_page("verdicts", verdict=verdicts["likelihood"].verdict_id)).replace("\\", "")
    assert "fake-b wins" in text
    assert "This judge speaks about relevance only and gives no reasons." in text


def test_one_order_and_rule_conflict_are_said(notes: Workspace, open_page: Open) -> None:
    duel = notes.duel(DuelRequest("Notes", "Honey?", "fake-a", "fake-b", 2)).duel_id
    one = Verdict(
        Outcome.A, "Side A wins in the one order asked.", LLM, one_order=True, orders=(_order("a", Outcome.A),)
    )
    stored = notes.verdicts.save(duel, one)
    assert "Only one order was asked" in open_page("verdicts", verdict=stored.verdict_id).warning[0].value
    conflict = Verdict(Outcome.TIE, "A tie.", LIKELIHOOD, rule_conflict=True)
    stored = notes.verdicts.save(duel, conflict)
    at = open_page("verdicts", verdict=stored.verdict_id)
    assert at.subheader[0].value.replace("\\", "") == "Tie: rule conflict"


def test_a_bad_id_in_the_link_is_told_and_the_list_stays(verdicts: dict[str, StoredVerdict], open_page: Open) -> None:
    at = open_page("verdicts", verdict="nowhere")
    assert "nowhere" in at.error[0].value
    assert at.metric[0].value == "4 of 4"


def test_the_download_keeps_the_results(verdicts: dict[str, StoredVerdict], open_page: Open) -> None:
    """Case 27 on this page: a click on download takes nothing away and asks nobody anything."""
    at = open_page("verdicts")
    before = at.dataframe[0].value
    at.download_button(key="verdicts_csv").click().run()
    assert not at.exception
    assert at.dataframe[0].value.equals(before)
    assert at.metric[0].value == "4 of 4"


def test_an_unscored_verdict_can_be_judged_again(
    notes: Workspace, verdicts: dict[str, StoredVerdict], open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(notes, "start_judging", lambda *what: asked.append(what) or notes.start_sample())
    monkeypatch.setattr(notes, "prepare_sample", lambda *_: notes.duels.recent(1)[0])
    at = click(open_page(duel=verdicts["unscored"].duel_id), "vote_tie")
    click(at, "judge_again")
    (duel_id, choice, _) = asked[0]  # type: ignore[misc]
    assert duel_id == verdicts["unscored"].duel_id
    assert (choice.kind, choice.base_url, choice.model, choice.rank) == (JudgeKind.LLM, LLM.base_url, "big", 1)


def test_pages_are_short() -> None:
    pages = sorted((Path(__file__).resolve().parents[2] / "pages").glob("*.py"))
    assert [page.stem for page in pages] == ["corpora", "duel", "settings", "verdicts"]
    assert all(len(page.read_text(encoding="utf-8").splitlines()) <= 80 for page in pages)
