"""Uploads that are not added yet: kept on disk, named apart, gone without a trace when they are removed."""

from __future__ import annotations

import io

import pytest

from backend.corpus import ReadOptions
from backend.errors import NotFoundError
from backend.store import FileStore
from backend.workspace.upload_draft import UploadDraft


def _up(upload_id: str, name: str, data: bytes) -> tuple[str, str, io.BytesIO]:
    return upload_id, name, io.BytesIO(data)


@pytest.fixture
def draft(files: FileStore) -> UploadDraft:
    return UploadDraft(files, "one session's form")


def _held(files: FileStore) -> list[str]:
    folder = files.root / "uploads"
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_files_lie_on_disk_and_another_object_finds_them(draft: UploadDraft, files: FileStore) -> None:
    draft.add([_up("a", "notes/one.txt", b"One."), _up("b", "two.txt", b"Two.")])
    again = UploadDraft(files, "one session's form")
    here = again.read()
    assert [(one.name, one.size_bytes) for one in here.files] == [("notes/one.txt", 4), ("two.txt", 4)]
    source = again.source(here.files[0])
    assert (source.name, source.data) == ("notes/one.txt", b"One.")
    assert here.size_bytes == 8


def test_drafts_of_other_forms_are_apart(draft: UploadDraft, files: FileStore) -> None:
    other = UploadDraft(files, "another form")
    draft.add([_up("a", "one.txt", b"The same.")])
    other.add([_up("a", "one.txt", b"The same.")])
    other.drop(["one.txt"])
    assert draft.source(draft.read().files[0]).data == b"The same."
    assert other.read().files == ()


def test_the_same_file_twice_is_one_and_another_of_its_name_gets_a_number(draft: UploadDraft) -> None:
    draft.add([_up("a", "notes.txt", b"One."), _up("b", "notes.txt", b"Two."), _up("c", "notes.txt", b"One.")])
    here = draft.add([_up("d", "notes.txt", b"Two."), _up("e", ".env", b"X"), _up("f", ".env", b"Y")])
    assert [one.name for one in here.files] == ["notes.txt", "notes (2).txt", ".env", ".env (2)"]
    assert here.upload_ids == set("abcdef")


def test_a_name_is_a_relative_path_whatever_the_browser_says(draft: UploadDraft) -> None:
    here = draft.add([_up("a", "\\folder\\one.txt", b"1"), _up("b", "", b"2")])
    assert [one.name for one in here.files] == ["folder/one.txt", "file"]


def test_nothing_is_left_of_a_removed_file(draft: UploadDraft, files: FileStore) -> None:
    draft.add([_up("a", "one.csv", b"a;b"), _up("b", "copy.csv", b"a;b"), _up("c", "two.csv", b"c;d")])
    draft.decide("one.csv", ReadOptions(delimiter=";"))
    draft.decide("two.csv", ReadOptions(text_columns=("c",), metadata_columns=("d",)))
    assert draft.read().options == {
        "one.csv": ReadOptions(delimiter=";"),
        "two.csv": ReadOptions(text_columns=("c",), metadata_columns=("d",)),
    }
    here = draft.drop(["one.csv", "two.csv"])
    assert here.options == {}
    assert draft.source(here.files[0]).data == b"a;b"  # the copy's content is still needed
    assert len(_held(files)) == 2  # the copy and the list
    back = draft.add([_up("d", "two.csv", b"c;d")])
    assert back.options == {}


def test_what_went_into_a_job_leaves_the_draft_and_a_second_click_finds_the_job(
    draft: UploadDraft, files: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = draft.add([_up("a", "one.txt", b"One.")])
    assert before.just_started() == ""
    draft.finish("job-1")
    here = draft.read()
    assert (here.files, here.just_started()) == ((), "job-1")
    assert (here.generation, here.n_started) == (before.generation + 1, before.n_started + 1)
    assert len(_held(files)) == 1
    monkeypatch.setattr("backend.workspace.upload_draft.time.time", lambda: here.started_at + 60)
    assert here.just_started() == ""


def test_fresh_lists_keep_the_files(draft: UploadDraft) -> None:
    before = draft.add([_up("a", "one.txt", b"One."), _up("b", "one.txt", b"One.")])
    after = draft.renew()
    assert after.files == before.files
    assert (after.generation, after.n_started, after.doubles) == (before.generation + 1, before.n_started, ())


def test_a_file_that_was_swept_away_is_named(draft: UploadDraft) -> None:
    here = draft.add([_up("a", "one.txt", b"One.")])
    draft.path(here.files[0]).unlink()
    with pytest.raises(NotFoundError, match=r"one\.txt was uploaded too long ago"):
        draft.source(here.files[0])
