"""Case 29: the same upload is read as often as it is needed, and a changed chunk size is really used."""

from __future__ import annotations

import io

from backend.corpus import Chunking, CorpusLibrary, SourceFile, read_file
from backend.store import Database, FileStore
from tests.conftest import shared_path

CASE = ("cases", "cases", "29-st-upload-read-twice")


def test_three_rows_each_time(database: Database, files: FileStore) -> None:
    upload = io.BytesIO(shared_path(*CASE, "corpus.csv").read_bytes())
    corpus_file = SourceFile("corpus.csv", upload.getvalue())
    library = CorpusLibrary(database, files)
    library.add("Mill", [corpus_file], Chunking(200, 40))
    first = library.get("Mill")

    assert first.n_chunks == 3
    smaller = library.rechunk("Mill", Chunking(4, 0))
    assert smaller.chunking == Chunking(4, 0)
    assert smaller.n_chunks > 3
    assert {c.place for c in library.chunks(smaller.version_id)} == {"row 1", "row 2", "row 3"}
    back = library.rechunk("Mill", Chunking(200, 40))
    assert back == first
    assert [c.text for c in library.chunks(back.version_id)] == [
        "The mill race is cleaned in March.",
        "The sluice key hangs by the door.",
        "Eels are counted in autumn.",
    ]
    # The same upload once more, in another corpus.
    assert library.add("Mill again", [corpus_file]).chunks == 3
    assert len(library.list()) == 2


def test_the_same_file_serves_two_fields() -> None:
    for name in ("corpus.csv", "queries.csv"):
        file = SourceFile(name, shared_path(*CASE, name).read_bytes())
        assert read_file(file) == read_file(file)
    queries = read_file(SourceFile("queries.csv", shared_path(*CASE, "queries.csv").read_bytes()))
    assert [queries.text[s.start : s.end] for s in queries.sections] == [
        "When is the mill race cleaned?",
        "Where is the sluice key?",
    ]
