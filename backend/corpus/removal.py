"""Taking documents and versions away, with what derives from them; and what a crash left behind."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, literal, select

from backend.corpus import records
from backend.corpus.types import Derived, Document
from backend.store import Database, FileStore
from backend.store.tables import ChunkRow, CorpusRow, CorpusVersionRow, DocumentRow, SectionRow

_UNFINISHED = select(CorpusVersionRow.version_id).where(CorpusVersionRow.fingerprint == "")
_UNFINISHED_AFTER = timedelta(hours=24)
_QUERY_SIZE = 500


def remove_versions(database: Database, version_ids: Sequence[str]) -> Derived:
    """Remove versions; tell which fingerprints and chunk texts no version has any more."""
    fingerprints: set[str] = set()
    texts: set[str] = set()
    for version_id in version_ids:
        with database.session() as session:
            row = session.get(CorpusVersionRow, version_id)
            if row is None:
                continue
            fingerprints.add(row.fingerprint)
            digests = select(ChunkRow.text_sha256).where(ChunkRow.version_id == version_id)
            texts.update(session.scalars(digests.execution_options(yield_per=records.BATCH_ROWS)))
            session.delete(row)
    with database.session() as session:
        fingerprints -= set(session.scalars(select(CorpusVersionRow.fingerprint).distinct()))
        listed = sorted(texts)
        for first in range(0, len(listed), _QUERY_SIZE):
            part = listed[first : first + _QUERY_SIZE]
            still = select(ChunkRow.text_sha256).where(ChunkRow.text_sha256.in_(part)).distinct()
            texts.difference_update(session.scalars(still))
    return Derived(frozenset(fingerprints), frozenset(texts))


def forget_documents(database: Database, files: FileStore, documents: Collection[Document]) -> None:
    """Remove documents: their rows, places, and the texts that no other document has."""
    ids = [document.document_id for document in documents]
    with database.session() as session:
        # One transaction that begins with a change: on SQLite nobody can begin to add the same text until it ends.
        for first in range(0, len(ids), _QUERY_SIZE):
            part = ids[first : first + _QUERY_SIZE]
            session.execute(delete(SectionRow).where(SectionRow.document_id.in_(part)))
            session.execute(delete(DocumentRow).where(DocumentRow.document_id.in_(part)))
        if session.scalar(_UNFINISHED.limit(1)) is not None:
            return  # somebody may be adding the same text just now: sweep() looks again
        for digest in {document.text_sha256 for document in documents}:
            held = select(DocumentRow.document_id).where(DocumentRow.text_sha256 == digest).limit(1)
            if session.scalar(held) is None:
                files.path("documents", digest).unlink(missing_ok=True)


def sweep(database: Database, files: FileStore) -> None:
    """Remove what a crash left unfinished more than a day ago."""
    before = (datetime.now(UTC) - _UNFINISHED_AFTER).isoformat()
    with database.session() as session:
        unnamed = CorpusRow.name == literal(records.UNNAMED).concat(CorpusRow.corpus_id)
        session.execute(delete(CorpusRow).where(unnamed, CorpusRow.created_at < before))
        session.execute(
            delete(CorpusVersionRow).where(CorpusVersionRow.fingerprint == "", CorpusVersionRow.created_at < before)
        )
        if session.scalar(_UNFINISHED.limit(1)) is not None:
            return
        session.execute(delete(SectionRow).where(SectionRow.document_id.not_in(select(DocumentRow.document_id))))
        kept = set(session.scalars(select(DocumentRow.text_sha256)))
    files.remove_old("documents", 1, keep=kept)
    files.remove_old("uploads", 7)  # whose job nobody resumed
    files.remove_old("scratch", 1)  # what was left when the process was killed
