"""The form that adds files: uploads, what they are recognised as, columns and encoding, cutting, the job."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from backend.corpus import ReadOptions
from backend.ui import state
from backend.workspace import Workspace
from backend.workspace.upload_draft import Draft, UploadDraft
from tests.pages.conftest import NOTES, Open, click, linked, settle, shown

TABLE = "Nr;Überschrift;Beschreibung\n1;Küche;Die Küche hat über dreißig Schränke für Töpfe.\n"


def draft(at: AppTest, ws: Workspace, form: str = "corpora") -> UploadDraft:
    return UploadDraft(ws.files, f"{at.session_state[state.CORPUS_DRAFT]} {form}")


def here(at: AppTest, ws: Workspace, form: str = "corpora") -> Draft:
    return draft(at, ws, form).read()


def upload(at: AppTest, *files: tuple[str, bytes], kind: str = "files", generation: int = 0) -> AppTest:
    box = at.file_uploader(key=f"corpora_{kind}_{generation}")
    for name, data in files:
        box.upload(name, data, "application/octet-stream")
    return at.run()


def recognised(at: AppTest) -> dict[str, dict[str, Any]]:
    frame = next(frame.value for frame in at.dataframe if "Recognised as" in frame.value.columns)
    return {row["File"]: dict(row) for row in frame.to_dict("records")}


def test_uploads_and_a_pasted_text_make_a_corpus_with_skipped_files_told(workspace: Workspace, open_page: Open) -> None:
    at = open_page("corpora")
    upload(at, *((name, text.encode()) for name, text in NOTES.items()), ("blank.txt", b"  \n"))
    assert "1 file gives no text as it is" in shown(at)
    at.text_input(key="corpora_name_0").set_value("Mine **bold**")
    at.text_area(key="corpora_paste_0").set_value("A pasted note about copper kettles.")
    settle(click(at, "corpora_add"), workspace)
    corpus = workspace.corpora.get(linked(at, "corpus"))
    assert (corpus.name, corpus.n_documents) == ("Mine **bold**", 4)
    assert [file.file for file in corpus.skipped] == ["blank.txt"]
    assert "**bold**" not in "\n".join(h.value for h in at.header)  # escaped


@pytest.mark.parametrize(("name", "text", "words"), [("", "Some text.", "no name yet"), ("N", "  ", "nothing to add")])
def test_wrong_input_is_told_and_nothing_starts(
    workspace: Workspace, open_page: Open, name: str, text: str, words: str
) -> None:
    at = open_page("corpora")
    at.text_area(key="corpora_paste_0").set_value(text).run()
    at.text_input(key="corpora_name_0").set_value(name or " ")
    click(at, "corpora_add")
    assert words in at.error[0].value
    assert workspace.jobs.recent() == []


def test_a_taken_name_is_told_before_the_work_and_the_files_stay(notes: Workspace, open_page: Open) -> None:
    at = open_page("corpora")
    upload(at, ("a.txt", b"Another text."))
    at.text_input(key="corpora_name_0").set_value("Notes")
    click(at, "corpora_add")
    assert "Notes" in at.error[0].value
    assert notes.jobs.recent() == []
    at.text_input(key="corpora_name_0").set_value("Other notes")
    settle(click(at, "corpora_add"), notes)
    assert notes.corpora.get("Other notes").n_documents == 1


def test_the_name_follows_the_files_until_somebody_types_one(notes: Workspace, open_page: Open) -> None:
    at = upload(open_page("corpora"), ("notes-2026/deep/a.txt", b"A."), kind="folder")
    assert at.text_input(key="corpora_name_0").value == "notes 2026"
    assert list(recognised(at)) == ["notes-2026/deep/a.txt"]
    at.text_input(key="corpora_name_0").set_value("My own").run()
    upload(at, ("b.txt", b"B."))
    assert at.text_input(key="corpora_name_0").value == "My own"


def test_a_suggested_name_is_free(notes: Workspace, open_page: Open) -> None:
    at = upload(open_page("corpora"), ("Notes.txt", b"A."))
    assert at.text_input(key="corpora_name_0").value == "Notes (2)"


def test_the_table_says_what_each_file_is(workspace: Workspace, open_page: Open) -> None:
    at = upload(
        open_page("corpora"),
        ("t.csv", TABLE.encode("cp1252")),
        ("scan.png", b"\x89PNG\r\n\x1a\n"),
        ("p.pdf", b"%PDF-1.4"),
        ("empty.txt", b""),
    )
    table = recognised(at)
    assert table["t.csv"]["Recognised as"] == "CSV table"
    assert table["t.csv"]["Encoding"] == "Windows-1252 (Western Europe), guessed"
    assert table["p.pdf"]["Recognised as"] == "PDF"
    assert "picture" in table["scan.png"]["Problem"]
    assert "empty" in table["empty.txt"]["Problem"]


def test_a_file_taken_out_of_the_browsers_list_leaves_the_draft(workspace: Workspace, open_page: Open) -> None:
    at = upload(open_page("corpora"), ("a.txt", b"A."), ("b.txt", b"B."))
    box = at.file_uploader(key="corpora_files_0")
    box.set_value([("b.txt", b"B.", "text/plain")]).run()
    assert [one.name for one in here(at, workspace).files] == ["b.txt"]


def test_removed_files_leave_nothing_and_the_rest_stays(workspace: Workspace, open_page: Open) -> None:
    at = upload(open_page("corpora"), ("a.txt", b"A."), ("b.txt", b"B."))
    draft(at, workspace).decide("a.txt", ReadOptions(encoding="utf-8"))
    at.multiselect(key="corpora_remove").set_value(["a.txt"]).run()
    click(at, "corpora_remove_these")
    left = here(at, workspace)
    assert ([one.name for one in left.files], left.options) == (["b.txt"], {})
    upload(at, ("c.txt", b"C."), generation=left.generation)
    assert [one.name for one in here(at, workspace).files] == ["b.txt", "c.txt"]


def test_files_stay_while_another_page_is_looked_at(workspace: Workspace, open_page: Open) -> None:
    at = upload(open_page("corpora"), ("a.txt", b"A text to keep."))
    at.switch_page("pages/settings.py").run()
    at.switch_page("pages/corpora.py").run()
    assert list(recognised(at)) == ["a.txt"]
    upload(at, ("b.txt", b"Another."), generation=here(at, workspace).generation)
    assert list(recognised(at)) == ["a.txt", "b.txt"]


def test_the_session_holds_ids_and_no_bytes(workspace: Workspace, open_page: Open) -> None:
    at = upload(open_page("corpora"), ("a.csv", TABLE.encode()))
    own = {key: value for key, value in at.session_state._state.filtered_state.items() if "files" not in key}
    assert len(repr(own)) < 2_000


def test_columns_and_encoding_are_chosen_for_one_file(workspace: Workspace, open_page: Open) -> None:
    at = upload(open_page("corpora"), ("t.csv", TABLE.encode("cp1252")), ("a.txt", b"Some text."))
    at.session_state["corpora_reading"] = True
    at.run()
    assert not at.exception
    assert any("Überschrift" in " ".join(map(str, frame.value.columns)) for frame in at.dataframe)
    text = next(box for box in at.multiselect if box.label == "Text columns")
    text.set_value(["Überschrift", "Beschreibung"]).run()
    record_id = next(box for box in at.selectbox if box.label == "Id column")
    record_id.set_value("Nr").run()
    encoding = next(box for box in at.selectbox if box.label == "Encoding")
    assert encoding.value == ""
    options = here(at, workspace).options
    assert options == {"t.csv": ReadOptions(text_columns=("Überschrift", "Beschreibung"), id_column="Nr")}
    upload(at, ("c.txt", b"C."), kind="folder")  # another file changes nothing of it
    assert here(at, workspace).options == options
    assert next(box for box in at.multiselect if box.label == "Text columns").value == ["Überschrift", "Beschreibung"]
    settle(click(at, "corpora_add"), workspace)
    corpus = workspace.corpora.get(linked(at, "corpus"))
    document = next(d for d in workspace.corpora.documents(corpus.corpus_id) if d.name == "t.csv")
    assert "Küche" in workspace.corpora.document_text(document.document_id)
    assert [section.record_id for section in workspace.corpora.sections(document.document_id)] == ["1"]


def test_a_chosen_encoding_shows_the_text_in_it(workspace: Workspace, open_page: Open) -> None:
    at = upload(open_page("corpora"), ("a.txt", "Слово о полку".encode("koi8-r")))
    at.session_state["corpora_reading"] = True
    at.run()
    encoding = next(box for box in at.selectbox if box.label == "Encoding")
    encoding.set_value("koi8-r").run()
    assert "Слово о полку" in "\n".join(code.value for code in at.code)
    encoding = next(box for box in at.selectbox if box.label == "Encoding")
    encoding.set_value("cp1251").run()
    assert "Слово" not in "\n".join(code.value for code in at.code)
    assert here(at, workspace).options == {"a.txt": ReadOptions(encoding="cp1251")}


def test_cutting_is_previewed_and_used(workspace: Workspace, open_page: Open) -> None:
    text = "One sentence is here. Another one follows it. A third one ends it.\n\n" * 20
    at = upload(open_page("corpora"), ("a.txt", text.encode()))
    at.session_state["corpora_cut"] = True
    at.run()
    assert not at.exception
    assert any("chunk" in one.value and "median" in one.value for one in at.markdown)
    at.radio(key="corpora_strategy").set_value("sentences").run()
    at.number_input(key="corpora_size_tokens").set_value(20).run()
    at.number_input(key="corpora_overlap_tokens").set_value(30).run()
    assert any("overlap" in error.value for error in at.error)
    click(at, "corpora_add")
    assert workspace.jobs.recent() == []
    at.number_input(key="corpora_overlap_tokens").set_value(0).run()
    assert not at.error
    settle(click(at, "corpora_add"), workspace)
    cut = workspace.corpora.get(linked(at, "corpus")).chunking
    assert (cut.strategy, cut.size, cut.overlap) == ("sentences", 20, 0)


def test_a_broken_file_is_told_before_it_is_added(workspace: Workspace, open_page: Open) -> None:
    at = upload(open_page("corpora"), ("broken.pdf", b"%PDF-1.4 broken"), ("a.txt", b"Some text."))
    assert "broken" in recognised(at)["broken.pdf"]["Problem"]
    assert at.text_input(key="corpora_name_0").value == "a"


def test_a_file_that_can_not_be_previewed_says_why_in_its_place(
    workspace: Workspace, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.ui.recognised_files._MOST_TRIED", 0)  # as in a large batch
    at = upload(open_page("corpora"), ("broken.pdf", b"%PDF-1.4 broken"))
    at.session_state["corpora_cut"] = True
    at.run()
    assert not at.exception
    assert any("broken" in error.value for error in at.error)


def test_a_second_click_finds_the_job_of_the_first(workspace: Workspace, open_page: Open) -> None:
    at = upload(open_page("corpora"), ("a.txt", b"Some text."))
    click(at, "corpora_add")
    first = workspace.jobs.recent()
    assert len(first) == 1
    at.query_params.clear()
    at.run()
    click(at, "corpora_add")
    assert not at.error
    assert [job.job_id for job in workspace.jobs.recent()] == [first[0].job_id]
    assert linked(at, "job") == first[0].job_id or linked(at, "corpus")


def test_too_many_files_are_told_before_anything_starts(
    workspace: Workspace, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "settings", workspace.settings.model_copy(update={"max_files": 1}))
    at = upload(open_page("corpora"), ("a.txt", b"A."), ("b.txt", b"B."))
    assert any("2 files are more than the 1" in error.value for error in at.error)
    click(at, "corpora_add")
    assert workspace.jobs.recent() == []
