"""43 doc-cjk-chunking: scripts without blanks become several chunks within a model's input; no character is torn."""

from __future__ import annotations

from itertools import pairwise

import pytest

from backend.corpus import Chunking, ChunkStrategy, CorpusLibrary, SizeUnit, SourceFile, default_tokenizer
from backend.corpus.graphemes import splits_cluster
from backend.store import Database, FileStore
from tests.conftest import shared_path

CASE = ("cases", "cases", "43-doc-cjk-chunking")
FILES = ("ar.txt", "family.txt", "queries.txt", "th.txt", "zh-no-stops.txt", "zh.txt")
ENDS = {
    "zh.txt": "备用钥匙放在蓝色铁盒里。",
    "zh-no-stops.txt": "备用钥匙放在蓝色铁盒里",
    "ar.txt": "المفتاح في صندوق أزرق.",
    "family.txt": "The family picnic is on Sunday.",
}
FAMILY = "👨\u200d👩\u200d👧"
MODEL_TOKENS = 256  # what all-MiniLM-L6-v2 reads, two special tokens included

WAYS = [
    *(Chunking(200, 20, strategy) for strategy in ChunkStrategy if strategy is not ChunkStrategy.WHOLE),
    *(
        Chunking(500, 50, strategy, 50, SizeUnit.CHARACTERS)
        for strategy in (ChunkStrategy.SENTENCES, ChunkStrategy.RECURSIVE, ChunkStrategy.HEADINGS)
    ),
]


@pytest.mark.parametrize("chunking", WAYS, ids=lambda c: f"{c.strategy.value}-{c.unit.value}")
def test_all_files_in_one_go(database: Database, files: FileStore, chunking: Chunking) -> None:
    library = CorpusLibrary(database, files)
    report = library.add("reservoir", [SourceFile(name, shared_path(*CASE, name)) for name in FILES], chunking)
    corpus = library.get("reservoir")
    chunks = library.chunks(corpus.version_id)

    assert report.skipped == ()
    assert {document.name for document in library.documents(corpus.corpus_id)} == set(FILES)
    for name in FILES:
        text = shared_path(*CASE, name).read_text(encoding="utf-8")
        own = [chunk for chunk in chunks if chunk.document_name == name]
        if name in ("zh.txt", "zh-no-stops.txt", "th.txt"):
            assert len(own) > 1
        assert all(text[chunk.start : chunk.end] == chunk.text for chunk in own), "unchanged, Arabic too"
        assert "".join(text.split()) == "".join(
            "".join(text[max(start, reached) : end].split()) for start, end, reached in stretches(own)
        )
        for chunk in own:
            assert "\ufffd" not in chunk.text
            assert not splits_cluster(text, chunk.start)
            assert not splits_cluster(text, chunk.end)
            assert chunking.counts_tokens is False or len(default_tokenizer().spans(chunk.text)) <= chunking.size
            assert chunking.counts_tokens or len(chunk.text) <= chunking.size
        if name in ENDS:
            assert own[-1].text.endswith(ENDS[name])


def stretches(chunks: list) -> list[tuple[int, int, int]]:  # type: ignore[type-arg]
    """(start, end, where the chunk before ended)."""
    spans = [(0, 0), *((chunk.start, chunk.end) for chunk in chunks)]
    return [(start, end, reached) for (_, reached), (start, end) in pairwise(spans)]


def test_the_default_chunks_fit_the_default_model(database: Database, files: FileStore) -> None:
    library = CorpusLibrary(database, files)
    library.add("reservoir", [SourceFile(name, shared_path(*CASE, name)) for name in FILES])
    for chunk in library.chunks(library.get("reservoir").version_id):
        assert len(default_tokenizer().fast.encode(chunk.text).ids) <= MODEL_TOKENS


def test_families_are_counted_whole(database: Database, files: FileStore) -> None:
    library = CorpusLibrary(database, files)
    chunking = Chunking(64, 12, ChunkStrategy.RECURSIVE, unit=SizeUnit.CHARACTERS)
    library.add("picnic", [SourceFile("family.txt", shared_path(*CASE, "family.txt"))], chunking)
    for chunk in library.chunks(library.get("picnic").version_id):
        emoji = chunk.text.split(" ")[0]
        assert emoji.replace(FAMILY, "").isascii()
