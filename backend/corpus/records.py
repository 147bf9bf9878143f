"""Rows of the corpus tables, to and from the room's own types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from backend.corpus.files import FileFacts, Section, SkippedFile
from backend.corpus.types import Chunk, Chunking, ChunkStrategy, Corpus, Document, SizeUnit
from backend.store import Database, sha256_hex
from backend.store.tables import ChunkRow, CorpusRow, CorpusVersionRow, DocumentRow, SectionRow

UNNAMED = "\t"
"""Begins the name of a corpus in the making, with its id: no person can give such a name."""
BATCH_ROWS = 5_000
"""Rows written in one transaction: short, so that nobody else waits for long."""


def chunking_record(chunking: Chunking, tokenizer_identity: str) -> dict[str, Any]:
    """How a version was cut, as stored; the tokenizer by its name and by what it is."""
    return {**asdict(chunking), "tokenizer_identity": tokenizer_identity if chunking.counts_tokens else ""}


def chunking_of(record: dict[str, Any]) -> Chunking:
    """The chunking of a stored version."""
    if "size_tokens" in record:  # written before there were strategies
        strategy = ChunkStrategy.WHOLE if record["whole_documents"] else ChunkStrategy.TOKENS
        return Chunking(int(record["size_tokens"]), int(record["overlap_tokens"]), strategy)
    return Chunking(
        size=int(record["size"]),
        overlap=int(record["overlap"]),
        strategy=ChunkStrategy(record["strategy"]),
        min_size=int(record["min_size"]),
        unit=SizeUnit(record["unit"]),
        tokenizer=str(record["tokenizer"]),
    )


def documents_digest(documents: Iterable[Document]) -> str:
    """Names a set of documents: versions of the same ones can stand in for each other."""
    return sha256_hex(" ".join(sorted(document.document_id for document in documents)))


def tokenizer_identity_of(record: dict[str, Any]) -> str:
    """The identity of the tokenizer that a stored version was cut with; empty where none counted."""
    if "size_tokens" in record:
        return "" if record["whole_documents"] else str(record["tokenizer"])
    return str(record["tokenizer_identity"])


def report_record(skipped: Sequence[SkippedFile], warnings: Sequence[str]) -> dict[str, Any]:
    """What became of the batches, as stored."""
    return {"skipped": [[item.file, item.reason] for item in skipped], "warnings": list(warnings)}


def corpus_of(row: CorpusRow, version: CorpusVersionRow) -> Corpus:
    """A corpus at its current version."""
    return Corpus(
        corpus_id=row.corpus_id,
        name=row.name,
        version_id=version.version_id,
        version_fingerprint=version.fingerprint,
        chunking=chunking_of(version.chunking),
        n_documents=version.n_documents,
        n_chunks=version.n_chunks,
        is_sample=row.is_sample,
        created_at=row.created_at,
        suggested_queries=tuple(str(query) for query in row.suggested_queries),
        skipped=tuple(SkippedFile(file, reason) for file, reason in row.report.get("skipped", [])),
        warnings=tuple(row.report.get("warnings", [])),
    )


def document_of(row: DocumentRow) -> Document:
    """A document as stored."""
    facts = row.facts
    return Document(
        document_id=row.document_id,
        name=row.name,
        n_chars=row.n_chars,
        n_sections=row.n_sections,
        n_unreadable=row.n_unreadable,
        text_sha256=row.text_sha256,
        facts=FileFacts(
            title=row.title,
            media_type=row.media_type,
            encoding=str(facts.get("encoding", "")),
            encoding_guessed=bool(facts.get("encoding_guessed", False)),
            warnings=tuple(row.warnings),
            n_pages=int(facts.get("n_pages", 0)),
            empty_pages=tuple(facts.get("empty_pages", ())),
            picture_pages=tuple(facts.get("picture_pages", ())),
            n_records=int(facts.get("n_records", 0)),
        ),
        source_sha256=row.source_sha256,
        source_bytes=row.source_bytes,
    )


def insert_documents(session: Session, corpus_id: str, documents: Sequence[Document], first_position: int) -> None:
    """Store documents at the positions that follow."""
    rows = [
        {
            "document_id": document.document_id,
            "corpus_id": corpus_id,
            "position": first_position + at,
            "name": document.name,
            "title": document.title,
            "media_type": document.media_type,
            "text_sha256": document.text_sha256,
            "n_chars": document.n_chars,
            "n_sections": document.n_sections,
            "n_unreadable": document.n_unreadable,
            "warnings": list(document.warnings),
            "facts": {
                "encoding": document.facts.encoding,
                "encoding_guessed": document.facts.encoding_guessed,
                "n_pages": document.facts.n_pages,
                "empty_pages": list(document.facts.empty_pages),
                "picture_pages": list(document.facts.picture_pages),
                "n_records": document.facts.n_records,
            },
            "source_sha256": document.source_sha256,
            "source_bytes": document.source_bytes,
        }
        for at, document in enumerate(documents)
    ]
    session.execute(insert(DocumentRow.__table__), rows)  # type: ignore[arg-type]


def insert_sections(database: Database, document_id: str, sections: Iterable[Section]) -> Iterator[int]:
    """Store a document's sections in short transactions, giving how many are in after each."""
    n_in, sections = 0, iter(sections)
    while batch := list(islice(sections, BATCH_ROWS)):
        rows = [
            {
                "document_id": document_id,
                "start": section.start,
                "end": section.end,
                "place": section.place,
                "is_row": section.is_row,
                "record_id": section.record_id,
                "title": section.title,
                "metadata": [list(pair) for pair in section.metadata],
            }
            for section in batch
        ]
        with database.session() as session:
            session.execute(insert(SectionRow.__table__), rows)  # type: ignore[arg-type]
        n_in += len(batch)
        yield n_in


def select_sections(session: Session, document_id: str, start: int = 0, end: int | None = None) -> Iterator[Section]:
    """A document's sections that reach into a stretch of its text, in order."""
    statement = select(*_SECTION_COLUMNS).where(SectionRow.document_id == document_id).order_by(SectionRow.start)
    if end is not None:
        statement = statement.where(SectionRow.end > start, SectionRow.start < end)
    for row in session.execute(statement.execution_options(yield_per=BATCH_ROWS)):
        yield _section(row)


def _section(row: Any) -> Section:
    start, end, place, is_row, record_id, title, metadata = row
    pairs = tuple((str(name), str(value)) for name, value in metadata)
    return Section(start, end, place, bool(is_row), record_id, title, pairs)


_SECTION_COLUMNS = (
    SectionRow.start, SectionRow.end, SectionRow.place, SectionRow.is_row, SectionRow.record_id, SectionRow.title,
    SectionRow.metadata_,
)  # fmt: skip
_CHUNK_COLUMNS = (
    ChunkRow.chunk_id, ChunkRow.position, ChunkRow.document_id, ChunkRow.document_name, ChunkRow.start,
    ChunkRow.end, ChunkRow.place, ChunkRow.text, ChunkRow.text_sha256, ChunkRow.record_id,
)  # fmt: skip


def _chunk(row: Any) -> Chunk:
    return Chunk(*row)


def select_chunks(session: Session, version_id: str, positions: Sequence[int] | None = None) -> list[Chunk]:
    """The chunks of a version, or those at some positions of it, by position."""
    statement = select(*_CHUNK_COLUMNS).where(ChunkRow.version_id == version_id).order_by(ChunkRow.position)
    if positions is not None:
        statement = statement.where(ChunkRow.position.in_(positions))
    return [_chunk(row) for row in session.execute(statement)]


def chunks_from(session: Session, version_id: str, first: int, n_chunks: int) -> list[Chunk]:
    """At most ``n_chunks`` chunks from a position on."""
    statement = (
        select(*_CHUNK_COLUMNS)
        .where(ChunkRow.version_id == version_id, ChunkRow.position >= first, ChunkRow.position < first + n_chunks)
        .order_by(ChunkRow.position)
    )
    return [_chunk(row) for row in session.execute(statement)]


def find_chunks(session: Session, version_id: str, words: str, first: int, last: int, n_chunks: int) -> list[Chunk]:
    """At most ``n_chunks`` chunks among the positions ``first`` to ``last`` whose text holds ``words``."""
    statement = (
        select(*_CHUNK_COLUMNS)
        .where(ChunkRow.version_id == version_id, ChunkRow.position >= first, ChunkRow.position < last)
        .where(ChunkRow.text.icontains(words, autoescape=True))
        .order_by(ChunkRow.position)
        .limit(n_chunks)
    )
    return [_chunk(row) for row in session.execute(statement)]


def chunk_counts(session: Session, version_id: str) -> dict[str, int]:
    """Document id -> its chunks in a version."""
    statement = (
        select(ChunkRow.document_id, func.count())
        .where(ChunkRow.version_id == version_id)
        .group_by(ChunkRow.document_id)
    )
    return {str(document_id): int(n) for document_id, n in session.execute(statement)}


def find_places(session: Session, document_id: str, words: str, n_sections: int) -> list[Section]:
    """At most ``n_sections`` sections of a document whose place holds ``words``."""
    statement = (
        select(*_SECTION_COLUMNS)
        .where(SectionRow.document_id == document_id, SectionRow.place.icontains(words, autoescape=True))
        .order_by(SectionRow.start)
        .limit(n_sections)
    )
    return [_section(row) for row in session.execute(statement)]
