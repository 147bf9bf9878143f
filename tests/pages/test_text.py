"""Untrusted text: the escape for markdown labels, and case 31 on the pages themselves."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from backend.settings import Settings
from backend.ui import sidebar
from backend.ui.text import count, label, short, size
from tests.cases.bench import Bench
from tests.conftest import Replay, shared_path
from tests.pages.conftest import Open, click

MARKUP = re.compile(r"(?<!\\)(?:\\\\)*[*_`\[\]<>$#|~!{}]")


@given(some.text())
def test_a_label_leaves_no_markup_unescaped_and_stays_on_one_line(text: str) -> None:
    escaped = label(text)
    assert not MARKUP.search(escaped)
    assert "\n" not in escaped
    assert re.sub(r"\\(.)", r"\1", escaped).replace("\u2060", "") == " ".join(text.replace("\u2060", "").split())


@pytest.mark.parametrize("text", [
    "Why does honey not go bad?", "What was the revenue in $ and <b>which</b> fees apply?", "e-mail: a, b; (c) 50%",
])  # fmt: skip
def test_an_ordinary_question_gains_no_invisible_character(text: str) -> None:
    assert re.sub(r"\\(.)", r"\1", label(text)) == text


@pytest.mark.parametrize(
    "text", [":smile:", ":red[x]", ":material/home:", "a -> b", "x <= y", "--", "me@example.org", "www.example.org"]
)
def test_sequences_that_are_read_after_escaping_are_broken_up(text: str) -> None:
    assert "\u2060" in label(text)


def test_words_for_numbers() -> None:
    assert [count(1, "chunk"), count(1204, "chunk"), count(2, "query", "queries")] == [
        "1 chunk",
        "1,204 chunks",
        "2 queries",
    ]
    assert [size(12), size(4_500_000), size(7_100_000_000)] == ["12 bytes", "4.5 MB", "7.10 GB"]
    assert short("a  b\nc" * 20, 10) == "a b ca b…"


def test_case_31_text_is_shown_as_it_is(
    settings: Settings, replay: Callable[[Path], Replay], open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shared_path("cases", "cases", "31-st-text-shown-verbatim")
    bench = Bench(settings, replay(folder / "responses.json"), [folder / "odd-text.md", folder / "plain-text.md"])
    monkeypatch.setattr("backend.ui.workspace.workspace", lambda: bench.workspace)
    query = (folder / "queries.txt").read_text(encoding="utf-8").strip()
    stored = bench.judge(query)
    duel = bench.workspace.duels.get(stored.duel_id)
    at = click(open_page(duel=duel.duel_id), "vote_tie")
    texts = [text.value for text in at.text]
    assert duel.a.hits[0].text in texts
    assert (folder / "odd-text.md").read_text(encoding="utf-8").strip() in [text.strip() for text in texts]
    order = stored.verdict.orders[0]
    assert order.reason in texts
    assert all(f"+ {strength}" in texts for strength in (*order.strengths_a, *order.strengths_b))
    assert "**names** $3 and $4 <b>both</b>" in "\n".join(texts)
    assert at.header[0].value == label(query)
    markdown = "\n".join(m.value for kind in ("markdown", "caption", "header", "subheader") for m in getattr(at, kind))
    assert "<script" not in markdown
    assert "![" not in markdown
    assert [one.proto.body for one in at.get("html")] == [sidebar.hidden_when_wide("duel_new")]  # no text in it
    bench.workspace.close()


def test_case_27_results_stay_after_a_download(
    settings: Settings, replay: Callable[[Path], Replay], open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The single-verdict part of the case: rows stay, the file holds them all, nobody is asked again."""
    corpus = shared_path("cases", "fixtures", "corpus-small")
    bench = Bench(settings, replay(shared_path("cases", "fixtures", "all-good.json")), [corpus])
    monkeypatch.setattr("backend.ui.workspace.workspace", lambda: bench.workspace)
    queries = shared_path("cases", "fixtures", "queries-10.txt").read_text(encoding="utf-8").split("\n")
    for query in filter(str.strip, queries):
        bench.judge(query.strip())
    n_calls = len(bench.server.requests())
    at = open_page("verdicts")
    assert len(at.dataframe[0].value) == 10
    for _ in range(2):
        at.download_button(key="verdicts_csv").click().run()
        assert not at.exception
        assert list(at.dataframe[0].value["Outcome"]) == ["emb-a wins"] * 10
    at.switch_page("pages/settings.py").run()
    at.switch_page("pages/verdicts.py").run()
    assert len(at.dataframe[0].value) == 10
    assert len(bench.server.requests()) == n_calls
    bench.workspace.close()
