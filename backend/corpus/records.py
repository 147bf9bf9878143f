"""Rows of the corpus tables, to and from the room's own types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from backend.corpus.files import Section, SkippedFile
from backend.corpus.types import Chunk, Chunking, Corpus, Document
from backend.store.tables import ChunkRow, CorpusRow, CorpusVersionRow, DocumentRow

_BATCH_ROWS = 5000


def chunking_record(chunking: Chunking, tokenizer_name: str) -> dict[str, Any]:
    """How a version was cut, as stored."""
    return {
        "size_tokens": chunking.size_tokens,
        "overlap_tokens": chunking.overlap_tokens,
        "whole_documents": chunking.whole_documents,
        "tokenizer": tokenizer_name,
    }


def chunking_of(record: dict[str, Any]) -> Chunking:
    """The chunking of a stored version."""
    return Chunking(
        size_tokens=int(record["size_tokens"]),
        overlap_tokens=int(record["overlap_tokens"]),
        whole_documents=bool(record["whole_documents"]),
    )


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
    return Document(
        document_id=row.document_id,
        name=row.name,
        title=row.title,
        media_type=row.media_type,
        n_chars=row.n_chars,
        text_sha256=row.text_sha256,
        sections=tuple(Section(start, end, place, bool(is_row)) for start, end, place, is_row in row.sections),
        warnings=tuple(row.warnings),
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
            "sections": [[s.start, s.end, s.place, int(s.is_row)] for s in document.sections],
            "warnings": list(document.warnings),
        }
        for at, document in enumerate(documents)
    ]
    session.execute(insert(DocumentRow.__table__), rows)  # type: ignore[arg-type]


def insert_chunks(session: Session, version_id: str, chunks: Sequence[Chunk]) -> Iterator[int]:
    """Store the chunks of a version in bulk, giving how many are in after each batch."""
    for first in range(0, len(chunks), _BATCH_ROWS):
        batch = chunks[first : first + _BATCH_ROWS]
        rows = [
            {
                "version_id": version_id,
                "position": first + at,
                "chunk_id": chunk.chunk_id,
                "document_id": chunk.document_id,
                "document_name": chunk.document_name,
                "start": chunk.start,
                "end": chunk.end,
                "place": chunk.place,
                "text": chunk.text,
                "text_sha256": chunk.text_sha256,
            }
            for at, chunk in enumerate(batch)
        ]
        session.execute(insert(ChunkRow.__table__), rows)  # type: ignore[arg-type]
        yield first + len(batch)


def select_chunks(session: Session, version_id: str, positions: Sequence[int] | None = None) -> list[Chunk]:
    """The chunks of a version, or those at some positions of it, by position."""
    columns = (
        ChunkRow.chunk_id, ChunkRow.position, ChunkRow.document_id, ChunkRow.document_name, ChunkRow.start,
        ChunkRow.end, ChunkRow.place, ChunkRow.text, ChunkRow.text_sha256,
    )  # fmt: skip
    statement = select(*columns).where(ChunkRow.version_id == version_id).order_by(ChunkRow.position)
    if positions is not None:
        statement = statement.where(ChunkRow.position.in_(positions))
    return [Chunk(*row) for row in session.execute(statement)]
