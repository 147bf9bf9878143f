"""Writing a corpus version: batch by batch in short transactions, invisible until it is whole."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import delete, insert
from sqlalchemy.orm import Session

from backend.corpus import records
from backend.corpus.types import Chunk, Document
from backend.store import Database, now_iso, sha256_hex
from backend.store.tables import ChunkRow, CorpusVersionRow

Cut = tuple[int, int, str, str, str]
"""A chunk before it has a number: start, end, place, record id, text."""


class VersionWriter:
    """Writes the chunks of one version in the order that they come.

    The version's fingerprint is sha256 over its documents and chunks in order: the same content and chunking have the
    same value, whatever the corpus. While it is written the fingerprint is empty, and nobody reads the version.

    Args:
        database: Where to.
        corpus_id: The corpus that the version is of; its row is there.
        chunking: As stored.
        check: Called between transactions; what it raises ends the work.
    """

    def __init__(self, database: Database, corpus_id: str, chunking: dict[str, Any], check: Callable[[], None]) -> None:
        self.version_id = uuid.uuid4().hex
        self.n_chunks = 0
        self._database = database
        self._check = check
        self._documents: list[Document] = []
        self._of_documents = hashlib.sha256()
        self._of_chunks = hashlib.sha256()
        with database.session() as session:
            session.add(
                CorpusVersionRow(
                    version_id=self.version_id,
                    corpus_id=corpus_id,
                    fingerprint="",
                    chunking=chunking,
                    n_documents=0,
                    n_chunks=0,
                    created_at=now_iso(),
                )
            )

    def add(self, document: Document, cuts: Iterable[Cut]) -> Iterator[int]:
        """Write a document's chunks, giving after each batch how far in its text they reach."""
        self._count(document)
        cuts = iter(cuts)
        while batch := list(islice(cuts, records.BATCH_ROWS)):
            self._write(
                [
                    self._row(document.document_id, document.name, start, end, place, record_id, text)
                    for start, end, place, record_id, text in batch
                ]
            )
            yield batch[-1][1]

    def copy(self, version_id: str, documents: Sequence[Document]) -> Iterator[int]:
        """Write what another version holds of some documents, giving how many chunks are in after each batch."""
        for document in documents:
            self._count(document)
        kept = {document.document_id for document in documents}
        first = 0
        while batch := self._chunks(version_id, first):
            first += len(batch)
            self._write(
                [
                    self._row(c.document_id, c.document_name, c.start, c.end, c.place, c.record_id, c.text)
                    for c in batch
                    if c.document_id in kept
                ]
            )
            yield self.n_chunks

    def finish(self, session: Session) -> str:
        """Make the version readable; return its fingerprint."""
        row = session.get_one(CorpusVersionRow, self.version_id)
        row.fingerprint = sha256_hex(f"ragduel-corpus-2 {self._of_documents.hexdigest()} {self._of_chunks.hexdigest()}")
        row.n_documents, row.n_chunks = len(self._documents), self.n_chunks
        row.chunking = {**row.chunking, "documents": records.documents_digest(self._documents)}
        return row.fingerprint

    def abandon(self) -> None:
        """Remove what was written."""
        with self._database.session() as session:
            session.execute(delete(CorpusVersionRow).where(CorpusVersionRow.version_id == self.version_id))

    def _chunks(self, version_id: str, first: int) -> list[Chunk]:
        with self._database.session() as session:
            return records.chunks_from(session, version_id, first, records.BATCH_ROWS)

    def _count(self, document: Document) -> None:
        self._documents.append(document)
        self._of_documents.update(f"\n{document.text_sha256} {document.name}".encode("utf-8", "surrogatepass"))

    def _row(
        self, document_id: str, name: str, start: int, end: int, place: str, record_id: str, text: str
    ) -> dict[str, Any]:
        digest = sha256_hex(text)
        line = f"\n{digest} {start} {end} {name}\t{place}\t{record_id}"
        self._of_chunks.update(line.encode("utf-8", "surrogatepass"))
        row = {
            "version_id": self.version_id,
            "position": self.n_chunks,
            "chunk_id": sha256_hex(f"{name}\n{start}\n{end}\n{digest}")[:20],
            "document_id": document_id,
            "document_name": name,
            "start": start,
            "end": end,
            "place": place,
            "text": text,
            "text_sha256": digest,
            "record_id": record_id,
        }
        self.n_chunks += 1
        return row

    def _write(self, rows: list[dict[str, Any]]) -> None:
        self._check()
        if rows:
            with self._database.session() as session:
                session.execute(insert(ChunkRow.__table__), rows)  # type: ignore[arg-type]
