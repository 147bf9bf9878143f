"""The corpora page: read, delete, count cuts. Adding files is in ``test_adding_files``."""

from __future__ import annotations

import pytest

from backend.errors import NotFoundError
from backend.ui import state
from backend.workspace import Workspace
from tests.pages.conftest import NOTES, Open, click, linked, shown


def test_an_empty_folder_asks_for_documents(workspace: Workspace, open_page: Open) -> None:
    at = open_page("corpora")
    assert not at.exception
    assert "No corpus yet" in shown(at)


def test_a_corpus_by_link_shows_documents_and_chunks(notes: Workspace, open_page: Open) -> None:
    corpus = notes.corpora.get("Notes")
    at = open_page("corpora", corpus=corpus.corpus_id)
    frames = [frame.value for frame in at.dataframe]
    assert list(next(f for f in frames if "Title" in f.columns)["Document"]) == list(NOTES)
    chunks = next(f for f in frames if "Text" in f.columns)
    assert len(chunks) == corpus.n_chunks
    document = notes.corpora.documents(corpus.corpus_id)[0]
    at.selectbox(key=state.CORPUS_DOCUMENT).set_value(document.document_id).run()
    assert at.code[0].value == notes.corpora.document_text(document.document_id)


def test_cuts_are_counted_for_ready_models(notes: Workspace, open_page: Open) -> None:
    at = click(open_page("corpora", corpus=notes.corpora.get("Notes").corpus_id), "corpora_cuts_ask")
    assert not at.error
    table = next(frame.value for frame in at.dataframe if "Chunks cut" in frame.value.columns)
    assert dict(zip(table["Model"], table["Chunks cut"], strict=True)) == {"fake-a": "0 of 3", "fake-b": "3 of 3"}


def test_duel_on_this_corpus_goes_to_the_duel_page(notes: Workspace, open_page: Open) -> None:
    corpus = notes.corpora.get("Notes")
    at = click(open_page("corpora", corpus=corpus.corpus_id), "corpora_duel")
    assert [title.value for title in at.title] == ["Duel"]
    assert at.selectbox(key=state.DUEL_CORPUS).value == corpus.corpus_id
    assert at.text_area(key=state.DUEL_QUERY).value == "Why does honey keep?"


def test_delete_stands_behind_a_second_button(notes: Workspace, open_page: Open) -> None:
    corpus = notes.corpora.get("Notes")
    at = open_page("corpora", corpus=corpus.corpus_id)
    assert "will be gone for good" in shown(at)
    click(at, "corpora_delete_sure")
    with pytest.raises(NotFoundError):
        notes.corpora.get("Notes")
    assert not at.error
    assert linked(at, "corpus") == ""


def test_a_bad_id_in_the_link_is_told(notes: Workspace, open_page: Open) -> None:
    at = open_page("corpora", corpus="nowhere")
    assert "nowhere" in at.error[0].value
    assert not at.exception
