"""Case 65, the corpus side: no blank chunk is made of blank files, sections or rows, and each is accounted for."""

from __future__ import annotations

from backend.corpus import WHOLE_DOCUMENTS, Chunking, CorpusLibrary, SourceFile, read_file
from backend.store import Database, FileStore
from tests.conftest import shared_path

CASE = ("cases", "cases", "65-embed-empty-chunk")


def test_blank_texts_never_become_chunks(database: Database, files: FileStore) -> None:
    library = CorpusLibrary(database, files)
    batch = [SourceFile(n, shared_path(*CASE, n).read_bytes()) for n in ("beds.csv", "blank.txt", "gaps.md")]
    for name, chunking in (
        ("default", Chunking()),
        ("tiny", Chunking(8, 2)),
        ("whole", WHOLE_DOCUMENTS),
    ):
        report = library.add(name, batch, chunking)
        chunks = library.chunks(library.get(name).version_id)

        assert all(chunk.text.strip() for chunk in chunks)
        assert [(c.place, c.text) for c in chunks if c.document_name == "beds.csv"] == [
            ("row 1", "Bed one holds leeks."),
            ("row 3", "Bed three holds mint."),
            ("row 5", "Bed five holds beans."),
        ]
        text = " ".join(c.text for c in chunks if c.document_name == "gaps.md")
        assert "omatoes" in text
        assert "heater" in text
        assert [(s.file, "no text" in s.reason) for s in report.skipped] == [("blank.txt", True)]
        assert report.warnings == ("beds.csv: rows 2 and 4 are empty (2 left out)",)


def test_blank_cells_shift_no_row_number() -> None:
    document = read_file(SourceFile("beds.csv", shared_path(*CASE, "beds.csv")))
    assert {s.place: document.text[s.start : s.end] for s in document.sections} == {
        "row 1": "Bed one holds leeks.",
        "row 3": "Bed three holds mint.",
        "row 5": "Bed five holds beans.",
    }
    assert [s.record_id for s in document.sections] == ["1", "3", "5"]
    assert (document.facts.n_records, document.warnings) == (3, ("rows 2 and 4 are empty (2 left out)",))
