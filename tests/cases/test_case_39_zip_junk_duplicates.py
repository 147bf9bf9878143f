"""39 doc-zip-junk-duplicates: files of one name are told apart by path, side files are noted, copies are marked."""

from __future__ import annotations

from backend.corpus import CorpusLibrary, SourceFile
from backend.store import Database, FileStore
from tests.conftest import shared_path

CASE = ("cases", "cases", "39-doc-zip-junk-duplicates")


def test_four_documents_and_every_side_file_named(database: Database, files: FileStore) -> None:
    library = CorpusLibrary(database, files)
    report = library.add("notes", [SourceFile("notes.zip", shared_path(*CASE, "notes.zip"))])
    texts = {d.name: library.document_text(d.document_id) for d in library.documents(report.corpus_id)}
    assert report.documents == 4
    assert "stores oak" in texts["notes.zip/a/readme.md"]
    assert "stores pine" in texts["notes.zip/b/readme.md"]
    assert "stores ash" in texts["notes.zip/表x.txt"]
    assert not any("Mac OS X" in text for text in texts.values())
    assert {item.file for item in report.skipped} == {
        "notes.zip/__MACOSX/", "notes.zip/.DS_Store", "notes.zip/d/", "notes.zip/empty.txt",
    }  # fmt: skip
    assert all(item.reason for item in report.skipped)
    copy = "notes.zip/c/copy-of-north.md: the same text as notes.zip/a/readme.md"
    assert copy in report.warnings


def test_the_single_file_added_later_is_marked_as_a_copy(database: Database, files: FileStore) -> None:
    library = CorpusLibrary(database, files)
    report = library.add("notes", [SourceFile("notes.zip", shared_path(*CASE, "notes.zip"))])
    more = library.extend(report.corpus_id, [SourceFile("readme.md", b"# North yard\nThe north yard stores oak.\n")])
    assert more.warnings == ("readme.md: the same text as notes.zip/a/readme.md",)
    names = [document.name for document in library.documents(report.corpus_id)]
    assert names.count("notes.zip/a/readme.md") == names.count("readme.md") == 1
    chunks = {chunk.text for chunk in library.chunks(library.get("notes").version_id)}
    assert any("pine" in text for text in chunks)
    assert any("oak" in text for text in chunks)
