"""The corpora page: read, delete, count cuts. Adding files is in ``test_adding_files``."""

from __future__ import annotations

import pytest

from backend.errors import NotFoundError
from backend.ui import corpus_view, state
from backend.workspace import Workspace
from tests.pages.conftest import NOTES, Open, click, linked, shown


def test_an_empty_folder_asks_for_documents(workspace: Workspace, open_page: Open) -> None:
    at = open_page("corpora")
    assert not at.exception
    assert "No corpus yet" in shown(at)


def test_a_corpus_by_link_shows_documents_and_chunks(notes: Workspace, open_page: Open) -> None:
    corpus = notes.corpora.get("Notes")
    at = open_page("corpora", corpus=corpus.corpus_id)
    at.session_state[state.CORPUS_TAB] = corpus_view.DOCUMENTS
    at.run()
    assert list(at.dataframe[0].value["Document"]) == list(NOTES)
    at.session_state[state.CORPUS_TAB] = corpus_view.CHUNKS
    at.run()
    assert list(at.dataframe[0].value["Text"]) == [chunk.text for chunk in notes.corpora.chunks(corpus.version_id)]


def test_cuts_are_counted_for_ready_models(notes: Workspace, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes.tokenizers, "count", lambda _spec, texts: [len(text.split()) for text in texts])
    at = open_page("corpora", corpus=notes.corpora.get("Notes").corpus_id)
    at.session_state[state.CORPUS_TAB] = corpus_view.CUTS
    at.run()
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
