"""Paths, pasted text, and the sample that ships with the app."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.corpus import SAMPLE_NAME, CorpusLibrary, pasted, read_paths, sample_queries, sample_sources
from backend.errors import InputError
from backend.store import Database, FileStore


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (
        "b.txt", "a/readme.md", "a/z.txt", "c/readme.md", ".hidden", ".git/config", "__MACOSX/._b.txt", "._b.txt",
        "Thumbs.db",
    ):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    return tmp_path


def test_a_folder_is_walked_in_order_and_junk_is_noted(tree: Path) -> None:
    sources, skipped = read_paths([tree], max_files=10, max_file_bytes=100)
    assert [s.name for s in sources] == ["b.txt", "a/readme.md", "a/z.txt", "c/readme.md"]
    assert sources[1].data == b"a/readme.md"
    assert {s.file for s in skipped} == {".hidden", ".git/", "__MACOSX/", "._b.txt", "Thumbs.db"}
    assert all(s.reason for s in skipped)


def test_equal_names_from_different_places_are_told_apart(tree: Path) -> None:
    sources, _ = read_paths([tree / "a", tree / "c", tree / "b.txt"], max_files=10, max_file_bytes=100)
    names = [s.name for s in sources]
    assert len(set(names)) == 4
    assert names[0].endswith("a/readme.md")
    assert names[2].endswith("c/readme.md")
    assert names[1] == "z.txt"


def test_what_is_missing_too_many_or_too_large(tree: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.txt"):
        read_paths([tree / "nowhere.txt"], max_files=10, max_file_bytes=100)
    with pytest.raises(InputError, match="4 files"):
        read_paths([tree], max_files=3, max_file_bytes=100)
    sources, skipped = read_paths([tree / "a"], max_files=3, max_file_bytes=8)
    assert [s.name for s in sources] == ["z.txt"]
    assert "too large" in skipped[0].reason


def test_links_that_lead_nowhere_or_round_in_circles(tree: Path) -> None:
    (tree / "a" / "loop").symlink_to(tree)
    (tree / "a" / "gone").symlink_to(tree / "nowhere")
    sources, skipped = read_paths([tree / "a"], max_files=10, max_file_bytes=100)
    assert [s.name for s in sources] == ["readme.md", "z.txt"]
    assert [s.file for s in skipped] == ["loop/", "gone"]


def test_a_pasted_text_is_a_file() -> None:
    assert pasted("é").data == "é".encode()
    assert pasted("x").name == "pasted text"


def test_the_sample_is_a_corpus_without_skipped_files(database: Database, files: FileStore) -> None:
    sources, queries = sample_sources(), sample_queries()
    assert [s.name for s in sources] == sorted(s.name for s in sources)
    assert all(q.strip() for q in queries)
    library = CorpusLibrary(database, files)
    report = library.add(SAMPLE_NAME, sources, suggested_queries=queries, is_sample=True)
    assert report.skipped == ()
    assert report.documents == len(sources) >= 24
    assert library.get(SAMPLE_NAME).suggested_queries == tuple(q.strip() for q in queries)


def test_links_to_elsewhere_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.txt").write_text("private")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("mine")
    (folder / "link.txt").symlink_to(tmp_path / "secret" / "key.txt")
    (folder / "below").symlink_to(tmp_path / "secret")
    (folder / "same.txt").symlink_to(folder / "a.txt")
    sources, skipped = read_paths([folder], max_files=10, max_file_bytes=1000)
    assert [one.name for one in sources] == ["a.txt", "same.txt"]
    assert [(one.file, one.reason) for one in skipped] == [
        ("below/", "a link to elsewhere, left out."), ("link.txt", "a link to elsewhere, left out."),
    ]  # fmt: skip
