"""Finding chunks by their place, without reading all of a version."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.corpus import Chunk, Chunking, ChunkStrategy, CorpusLibrary, SizeUnit, SourceFile
from backend.corpus.chunk_places import ChunkPlaces
from backend.store import Database, FileStore

CUT = Chunking(40, 12, ChunkStrategy.RECURSIVE, unit=SizeUnit.CHARACTERS)


@pytest.fixture
def library(database: Database, files: FileStore) -> CorpusLibrary:
    made = CorpusLibrary(database, files)
    texts = [
        " ".join(f"Lock {n} of canal {name} opens at dawn." for n in range(30 * name)) + f" 100%_of_{name}"
        for name in (1, 2, 3)
    ]
    made.add("Canals", [SourceFile(f"canal {n}.txt", text.encode()) for n, text in enumerate(texts, 1)], CUT)
    table = "id,name,note\n" + "".join(f"k{n},Keeper {n},keeps lock {n} and the weir behind it\n" for n in range(60))
    made.extend("Canals", [SourceFile("keepers.csv", table.encode())])
    return made


def places_of(library: CorpusLibrary) -> tuple[ChunkPlaces, list[Chunk]]:
    corpus = library.get("Canals")
    return ChunkPlaces(library, corpus, library.documents(corpus.corpus_id)), library.chunks(corpus.version_id)


def test_each_document_has_the_positions_of_its_chunks(library: CorpusLibrary) -> None:
    places, chunks = places_of(library)
    for document in places.documents:
        own = [chunk.position for chunk in chunks if chunk.document_id == document.document_id]
        assert own
        assert list(places.positions(document.document_id)) == own
    assert not places.positions("nowhere")


def test_positions_hold_after_a_document_was_removed(library: CorpusLibrary) -> None:
    places, _ = places_of(library)
    library.remove_documents("Canals", [places.documents[1].document_id])
    places, chunks = places_of(library)
    for document in places.documents:
        own = [chunk.position for chunk in chunks if chunk.document_id == document.document_id]
        assert list(places.positions(document.document_id)) == own


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 3), st.integers(0, 4_000), st.integers(1, 900))
def test_chunks_that_reach_into_a_stretch_are_found(library: CorpusLibrary, at: int, start: int, length: int) -> None:
    places, chunks = places_of(library)
    document_id = places.documents[at].document_id
    expected = [c for c in chunks if c.document_id == document_id and c.end > start and c.start < start + length]
    assert places.between(document_id, start, start + length, 1_000) == expected
    assert places.between(document_id, start, start + length, 2) == expected[:2]


def test_words_are_found_literally_and_a_page_at_a_time(library: CorpusLibrary) -> None:
    places, chunks = places_of(library)
    version_id = places.corpus.version_id
    n = len(chunks)
    expected = [chunk for chunk in chunks if "canal 2" in chunk.text.lower()]
    assert library.find_chunks(version_id, "CANAL 2", 0, n, 1_000) == expected
    assert library.find_chunks(version_id, "canal 2", expected[0].position + 1, n, 3) == expected[1:4]
    assert library.find_chunks(version_id, "canal 2", 0, expected[0].position, 3) == []
    assert all("100%_of_" in chunk.text for chunk in library.find_chunks(version_id, "%_of", 0, n, 1_000))
    assert library.find_chunks(version_id, "1_0", 0, n, 10) == []


def test_chunks_are_counted_by_document(library: CorpusLibrary) -> None:
    places, chunks = places_of(library)
    counts = library.chunk_counts(places.corpus.version_id)
    assert sum(counts.values()) == len(chunks)
    assert set(counts) == {document.document_id for document in places.documents}


def test_a_row_is_found_by_its_place(library: CorpusLibrary) -> None:
    places, _ = places_of(library)
    table = places.documents[3]
    found = library.find_places(table.document_id, "Row 5", 20)
    assert [section.place for section in found][:2] == ["row 5", "row 50"]
    text = library.document_text(table.document_id, found[0].start, found[0].end)
    assert "keeps lock" in text
    assert library.find_places(table.document_id, "page", 20) == []
