"""One corpus on its page: header, report, documents, chunks, cuts, queries; cutting anew, removing, renaming."""

from __future__ import annotations

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from backend.corpus import Chunking, Corpus, SourceFile
from backend.jobs import JobContext, JobState
from backend.store.tables import JobRow
from backend.ui import corpus_chunks, corpus_view, state
from backend.workspace import Workspace
from tests.pages.conftest import NOTES, Open, click, linked, settle, shown

LETTERS = " ".join(f"Letter {n} asks for oak, tar and rope by the spring tide." for n in range(400))


def corpus_of(ws: Workspace) -> Corpus:
    return ws.corpora.get("Notes")


def open_tab(at: AppTest, tab: str) -> AppTest:
    at.session_state[state.CORPUS_TAB] = tab
    return at.run()


def table_with(at: AppTest, column: str) -> pd.DataFrame:
    return next(frame.value for frame in at.dataframe if column in frame.value.columns)


def tick(at: AppTest, corpus: Corpus, rows: list[int]) -> AppTest:
    at.session_state[f"corpora_documents_{corpus.version_id}"] = {
        "selection": {"rows": rows, "columns": [], "cells": []}
    }
    return at.run()


def links(at: AppTest) -> dict[str, str]:
    """Label -> query of the page links."""
    return {element.proto.label: element.proto.query_string for element in at.get("page_link")}


def test_the_header_tells_how_the_corpus_was_cut(notes: Workspace, open_page: Open) -> None:
    corpus = corpus_of(notes)
    at = open_page("corpora", corpus=corpus.corpus_id)
    assert not at.exception
    assert "Notes" in [header.value for header in at.header]
    for words in ("3 documents", "3 chunks", "at most 200 tokens", corpus.version_fingerprint[:8]):
        assert words in shown(at)
    assert "All corpora" in links(at)


def test_a_corpus_without_a_report_offers_to_make_one(notes: Workspace, open_page: Open) -> None:
    corpus = corpus_of(notes)
    at = open_page("corpora", corpus=corpus.corpus_id)
    assert "There is no report on this version yet" in shown(at)
    settle(click(at, "corpora_report_make"), notes)
    report = notes.corpus_work.report(corpus)
    assert report is not None
    assert not at.error
    assert report.findings
    assert len([one for one in at.markdown if "**Fine:**" in one.value or "**Worth" in one.value]) >= 1
    metrics = {metric.label: metric.value for metric in at.metric}
    assert metrics["Files read"] == "3"
    assert metrics["Exact copies"] == "0"
    assert {button.key for button in at.get("download_button")} >= {"report_html", "report_csv", "report_json"}


def test_documents_stand_in_a_table_with_kind_and_language(notes: Workspace, open_page: Open) -> None:
    corpus = corpus_of(notes)
    notes.corpus_work.make_report(corpus)
    at = open_tab(open_page("corpora", corpus=corpus.corpus_id), corpus_view.DOCUMENTS)
    table = table_with(at, "Kind")
    assert list(table["Document"]) == list(NOTES)
    assert list(table["Kind"]) == ["Markdown"] * 3
    assert list(table["Chunks"]) == [1, 1, 1]
    assert list(table["Characters"]) == [d.n_chars for d in notes.corpora.documents(corpus.corpus_id)]
    assert "Language" in table.columns


def test_ticked_documents_are_removed_behind_a_second_button(notes: Workspace, open_page: Open) -> None:
    corpus = corpus_of(notes)
    at = open_tab(open_page("corpora", corpus=corpus.corpus_id), corpus_view.DOCUMENTS)
    tick(at, corpus, [0, 2])
    assert "Duels that were run stay readable" in shown(at)
    settle(click(at, "corpora_remove_sure"), notes)
    assert not at.error
    left = notes.corpora.documents(corpus.corpus_id)
    assert [document.name for document in left] == ["bread.md"]
    assert linked(at, "corpus") == corpus.corpus_id
    assert "1 document" in shown(at)


def test_all_documents_cannot_be_removed(notes: Workspace, open_page: Open) -> None:
    corpus = corpus_of(notes)
    at = open_tab(open_page("corpora", corpus=corpus.corpus_id), corpus_view.DOCUMENTS)
    tick(at, corpus, [0, 1, 2])
    assert "delete the corpus instead" in at.info[0].value
    assert not [button for button in at.button if button.key == "corpora_remove_sure"]


def test_chunks_come_a_page_at_a_time_and_by_document_and_words(notes: Workspace, open_page: Open) -> None:
    notes.corpora.extend("Notes", [SourceFile("letters.txt", LETTERS.encode())])
    notes.corpora.rechunk("Notes", Chunking(12, 2))
    corpus = corpus_of(notes)
    assert corpus.n_chunks > corpus_chunks.PAGE_CHUNKS
    at = open_tab(open_page("corpora", corpus=corpus.corpus_id), corpus_view.CHUNKS)
    first = table_with(at, "Number")
    assert list(first["Number"]) == list(range(1, corpus_chunks.PAGE_CHUNKS + 1))
    assert first["Tokens"].max() <= 12
    click(at, "chunks_next")
    assert table_with(at, "Number")["Number"].iloc[0] == corpus_chunks.PAGE_CHUNKS + 1
    click(at, "chunks_previous")
    assert table_with(at, "Number")["Number"].iloc[0] == 1

    at.text_input(key=state.CHUNKS_WORDS).set_value("letter 399 ASKS").run()
    found = table_with(at, "Number")
    assert all("Letter 399 asks" in text for text in found["Text"])
    assert len(found) >= 1

    bread = next(d for d in notes.corpora.documents(corpus.corpus_id) if d.name == "bread.md")
    at.text_input(key=state.CHUNKS_WORDS).set_value("").run()
    at.selectbox(key=state.CHUNKS_DOCUMENT).set_value(bread.document_id).run()
    assert set(table_with(at, "Number")["Document"]) == {"bread.md"}
    at.text_input(key=state.CHUNKS_WORDS).set_value("honey").run()
    assert "No chunk holds" in at.info[0].value


def test_a_search_goes_on_where_it_stopped(notes: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_chunks, "SEARCHED_CHUNKS", 2)
    corpus = corpus_of(notes)
    among = range(corpus.n_chunks)
    page = corpus_chunks.page_of(notes, corpus, among, 0, "tyres")
    assert (page.chunks, page.following) == ([], 2)
    page = corpus_chunks.page_of(notes, corpus, among, 2, "tyres")
    assert [chunk.document_name for chunk in page.chunks] == ["tyres.md"]
    assert page.following is None


def test_cuts_are_counted_at_once_for_a_small_corpus(notes: Workspace, open_page: Open) -> None:
    at = open_tab(open_page("corpora", corpus=corpus_of(notes).corpus_id), corpus_view.CUTS)
    assert not at.error
    assert list(table_with(at, "Chunks cut")["Model"]) == ["fake-a", "fake-b"]


def test_cuts_of_a_large_corpus_wait_for_a_button(
    notes: Workspace, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.ui.corpus_cuts._AT_ONCE_CHUNKS", 3)
    at = open_tab(open_page("corpora", corpus=corpus_of(notes).corpus_id), corpus_view.CUTS)
    assert not at.dataframe
    click(at, "corpora_cuts_ask")
    assert len(table_with(at, "Chunks cut")) == 2


def test_queries_have_a_tab_where_there_are_some(notes: Workspace, open_page: Open) -> None:
    corpus = corpus_of(notes)
    at = open_page("corpora", corpus=corpus.corpus_id)
    assert corpus_view.QUERIES not in [tab.label for tab in at.tabs]
    queries = (("q1", "Why does honey keep?"), ("q2", "Who pumps tyres?"))
    notes.query_sets.add(corpus.corpus_id, "Notes", queries, {"test": {"q1": {"honey": 2, "bread": 0}}}, "beir")
    at = open_tab(open_page("corpora", corpus=corpus.corpus_id), corpus_view.QUERIES)
    table = table_with(at, "Query")
    assert list(table["Query"]) == [text for _, text in queries]
    assert table["Relevant documents"].iloc[0] == 1
    assert "1 of them judged" in shown(at)
    assert "ragduel score" in shown(at)


def test_a_corpus_is_renamed(notes: Workspace, open_page: Open) -> None:
    corpus = corpus_of(notes)
    at = open_page("corpora", corpus=corpus.corpus_id)
    at.text_input(key=f"corpora_rename_{corpus.corpus_id}").set_value("Larder *notes*")
    click(at, "corpora_rename_sure")
    assert notes.corpora.get("Larder *notes*").corpus_id == corpus.corpus_id
    assert not at.error
    at.text_input(key=f"corpora_rename_{corpus.corpus_id}").set_value(" ")
    click(at, "corpora_rename_sure")
    assert "no name" in at.error[0].value


def test_a_corpus_is_cut_anew_and_duels_stay(notes: Workspace, duel_id: str, open_page: Open) -> None:
    corpus = corpus_of(notes)
    at = click(open_page("corpora", corpus=corpus.corpus_id), "corpora_open_cut")
    assert "Finished duels, votes and verdicts stay" in shown(at)
    assert at.button(key="corpora_recut_start").disabled
    at.number_input(key=f"recut_{corpus.version_id}_size_tokens").set_value(10)
    at.number_input(key=f"recut_{corpus.version_id}_overlap_tokens").set_value(2)
    at.run()
    settle(click(at, "corpora_recut_start"), notes)
    assert not at.error
    assert corpus_of(notes).n_chunks > corpus.n_chunks
    assert notes.duels.get(duel_id).version_id == corpus.version_id
    assert not [button for button in at.button if button.key == "corpora_recut_start"]  # the form is closed again


def test_running_and_interrupted_jobs_stand_on_the_page_with_their_corpus(notes: Workspace, open_page: Open) -> None:
    def wait(context: JobContext) -> dict[str, str]:
        while not context.cancelled():
            pass
        return {}

    notes.jobs.register("ingest", wait)
    job_id = notes.jobs.submit("ingest", {"name": "Harbour $5 *books*"})
    stopped = notes.jobs.submit("rechunk", {"corpus_id": corpus_of(notes).corpus_id, "chunking": {}})
    notes.jobs.wait(stopped, 20)
    with notes.database.session() as session:
        session.get_one(JobRow, stopped).status = JobState.INTERRUPTED
    at = open_page("corpora")
    try:
        assert "Reading files for “Harbour" in shown(at)
        assert "*books*" not in shown(at)  # escaped
        assert "Interrupted: Cutting “Notes” anew" in shown(at)
        assert links(at)["Watch"] == f"job={job_id}"
        assert links(at)["Look at it"] == f"job={stopped}"
    finally:
        notes.jobs.cancel(job_id)
        notes.jobs.wait(job_id, 20)
    at = open_page("corpora", job=stopped)
    assert "Cutting “Notes” anew: interrupted" in at.warning[0].value


def test_the_list_tells_files_and_size(notes: Workspace, open_page: Open) -> None:
    table = table_with(open_page("corpora"), "Files")
    assert list(table["Name"]) == ["Notes"]
    assert list(table["Files"]) == ["3 Markdown"]
    assert list(table["Size"]) == [sum(len(text.encode()) for text in NOTES.values())]
