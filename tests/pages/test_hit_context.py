"""From a hit to its place in its document: the link, the reading pane, and what is gone."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from backend.corpus import Chunking, ReadOptions, SourceFile
from backend.ui import state
from backend.workspace import DuelRequest, Workspace
from tests.pages.conftest import Open, click, linked, shown

LONG = "\n".join(f"Line {n} of the harbour book tells who paid for which mooring." for n in range(1_200))
TABLE = "id,title,text,shelf\n" + "".join(
    f"k{n},Keeper {n},Keeper {n} minds lock {n} and its <b>weir</b>.,Shelf {n % 7}\n" for n in range(40)
)


def context_links(at: AppTest) -> list[str]:
    return [one.proto.query_string for one in at.get("page_link") if one.proto.label == "Show in context"]


def pane(at: AppTest) -> str:
    return next(str(one.proto.body) for one in at.get("html") if '<div class="rd-marked' in one.proto.body)


def span(start: int, end: int) -> dict[str, str]:
    return {"from": str(start), "to": str(end)}


def ids_of(query: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in query.split("&"))


def test_each_hit_links_to_its_place_and_names_no_model(duel_id: str, notes: Workspace, open_page: Open) -> None:
    duel = notes.duels.get(duel_id)
    at = open_page("duel", duel=duel_id)
    queries = context_links(at)
    assert len(queries) == len(duel.a.hits) + len(duel.b.hits)
    assert "fake" not in " ".join(queries)
    for query in queries:
        assert set(ids_of(query)) == {"corpus", "document", "from", "to", "duel"}
    spans = {(hit.document_id, str(hit.start), str(hit.end)) for hit in (*duel.a.hits, *duel.b.hits)}
    assert {(ids["document"], ids["from"], ids["to"]) for ids in map(ids_of, queries)} == spans


def test_a_hit_opens_marked_in_its_document_and_leads_back(duel_id: str, notes: Workspace, open_page: Open) -> None:
    hit = notes.duels.get(duel_id).a.hits[0]
    ids = ids_of(context_links(open_page("duel", duel=duel_id))[0])
    at = open_page("corpora", **{**ids, "document": hit.document_id, "from": str(hit.start), "to": str(hit.end)})
    assert not at.exception
    assert not at.error
    assert 'data-tone="hit"' in pane(at)
    assert hit.text.splitlines()[-1] in pane(at)
    assert "chunk 1" in shown(at)
    back = next(one for one in at.get("page_link") if one.proto.label == "Back to the duel")
    assert back.proto.query_string == f"duel={duel_id}"
    assert "fake" not in shown(at) + pane(at)


def test_a_long_document_is_read_part_by_part(notes: Workspace, open_page: Open) -> None:
    notes.corpora.extend("Notes", [SourceFile("harbour.txt", LONG.encode())])
    corpus = notes.corpora.get("Notes")
    document = notes.corpora.documents(corpus.corpus_id)[-1]
    at = open_page("corpora", corpus=corpus.corpus_id, document=document.document_id)
    assert "Line 0 of" in pane(at)
    assert "Line 1199 of" not in pane(at)
    assert at.button(key="document_prev_above").disabled
    while not at.button(key="document_next_below").disabled:
        before = linked(at, "from")
        click(at, "document_next_below")
        assert linked(at, "from") != before
    assert "Line 1199 of" in pane(at)
    click(at, "document_prev_above")
    assert "Line 1199 of" not in pane(at)

    at = open_page("corpora", corpus=corpus.corpus_id, document=document.document_id, **{"from": "x", "to": "-3"})
    assert not at.exception
    assert "Line 0 of" in pane(at)


def test_a_record_shows_id_title_and_the_columns_kept(notes: Workspace, open_page: Open) -> None:
    columns = ReadOptions(text_columns=("text",), title_column="title", id_column="id", metadata_columns=("shelf",))
    notes.corpora.extend("Notes", [SourceFile("keepers.csv", TABLE.encode())], options={"keepers.csv": columns})
    corpus = notes.corpora.get("Notes")
    chunk = next(c for c in notes.corpora.chunks(corpus.version_id) if c.record_id == "k9")
    at = open_page(
        "corpora",
        corpus=corpus.corpus_id,
        document=chunk.document_id,
        **{"from": str(chunk.start), "to": str(chunk.end)},
    )
    fields = next(frame.value for frame in at.dataframe if "Field" in frame.value.columns)
    assert dict(zip(fields["Field"], fields["Value"], strict=True)) == {
        "Id": "k9", "Title": "Keeper 9", "shelf": "Shelf 2",
    }  # fmt: skip
    assert chunk.place in shown(at).replace("\\", "")
    assert "&lt;b&gt;weir&lt;/b&gt;" in pane(at)
    assert "<b>" not in pane(at)

    jump = at.selectbox(key=f"document_jump_{chunk.document_id}")
    row = next(section for section in notes.corpora.sections(chunk.document_id) if section.record_id == "k30")
    jump.set_value(row.start).run()
    assert linked(at, "from") == str(row.start)
    assert linked(at, "to") == ""


def test_a_hit_of_an_earlier_cutting_is_still_shown_at_its_place(
    duel_id: str, notes: Workspace, open_page: Open
) -> None:
    hit = notes.duels.get(duel_id).a.hits[0]
    corpus = notes.corpora.rechunk("Notes", Chunking(8, 0))
    at = open_page("corpora", corpus=corpus.corpus_id, document=hit.document_id, **span(hit.start, hit.end))
    assert "earlier cutting" in shown(at)
    assert 'data-tone="hit"' in pane(at)


def test_what_is_gone_is_told_and_the_hit_keeps_its_text(duel_id: str, notes: Workspace, open_page: Open) -> None:
    hit = notes.duels.get(duel_id).a.hits[0]
    corpus = notes.corpora.get("Notes")
    ids = {"corpus": corpus.corpus_id, "document": hit.document_id, "from": str(hit.start), "to": str(hit.end)}
    notes.corpus_work.remove_documents("Notes", [hit.document_id])
    at = open_page("corpora", **ids, duel=duel_id)
    assert "This document was removed from the corpus" in at.warning[0].value
    assert not at.error
    notes.corpus_work.delete("Notes")
    at = open_page("corpora", **ids, duel=duel_id)
    assert "This corpus was deleted" in at.warning[0].value
    assert not at.error
    at = open_page("duel", duel=duel_id)
    assert context_links(at) == []
    assert hit.text in [text.value for text in at.text]
    assert "This corpus was deleted; the duel stays" in shown(at)


@pytest.mark.parametrize("page", ["nowhere", ""])
def test_a_document_in_a_corpus_that_never_was(workspace: Workspace, open_page: Open, page: str) -> None:
    at = open_page("corpora", corpus="nowhere", document=page)
    assert not at.exception
    assert at.warning or at.error


def test_a_question_run_from_the_phone_closes_the_sidebar(notes: Workspace, open_page: Open) -> None:
    duel = notes.duel(DuelRequest("Notes", "Why does honey keep?", "fake-a", "fake-b", 2))
    at = open_page("duel", duel=duel.duel_id)
    click(at, "duel_new")
    assert any("stExpandSidebarButton" in one.proto.body for one in at.get("html"))
    assert state.SIDEBAR not in at.session_state
    at.run()
    assert not any("stExpandSidebarButton" in one.proto.body for one in at.get("html"))
