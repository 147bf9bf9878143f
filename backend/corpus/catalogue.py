"""The reading side of the library: corpora, documents and chunks as stored."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from backend.corpus import records
from backend.corpus.types import Chunk, Corpus, Document
from backend.errors import NotFoundError
from backend.store import Database, FileStore
from backend.store.tables import CorpusRow, CorpusVersionRow, DocumentRow

Documents = list[Document]  # ``list`` is a method below
Chunks = list[Chunk]


class Catalogue:
    """What corpora there are, and what is in them.

    Args:
        database: Holds the records.
        files: Holds the documents' texts.
    """

    def __init__(self, database: Database, files: FileStore) -> None:
        self._database = database
        self._files = files

    def list(self) -> list[Corpus]:
        """All corpora, oldest first."""
        statement = (
            select(CorpusRow, CorpusVersionRow)
            .join(CorpusVersionRow, CorpusVersionRow.version_id == CorpusRow.current_version_id)
            .order_by(CorpusRow.created_at, CorpusRow.corpus_id)
        )
        with self._database.session() as session:
            return [records.corpus_of(row, version) for row, version in session.execute(statement)]

    def get(self, name_or_id: str) -> Corpus:
        """The corpus of this id, else of this name.

        Raises:
            NotFoundError: Nothing goes by it; the message names what there is.
        """
        with self._database.session() as session:
            row = session.get(CorpusRow, name_or_id) or session.scalar(
                select(CorpusRow).where(CorpusRow.name == name_or_id.strip())
            )
            if row is not None:
                return records.corpus_of(row, session.get_one(CorpusVersionRow, row.current_version_id))
            names = session.scalars(select(CorpusRow.name).order_by(CorpusRow.name).limit(20)).all()
        there = ", ".join(names) if names else "there is none yet"
        raise NotFoundError(f"There is no corpus “{name_or_id[:200]}”.", hint=f"Corpora: {there}.")

    def documents(self, corpus_id: str) -> Documents:
        """The documents of a corpus, in the order they were added."""
        statement = select(DocumentRow).where(DocumentRow.corpus_id == corpus_id).order_by(DocumentRow.position)
        with self._database.session() as session:
            return [records.document_of(row) for row in session.scalars(statement)]

    def document_text(self, document_id: str) -> str:
        """A document's whole text.

        Raises:
            NotFoundError: No such document, or its text is gone.
        """
        with self._database.session() as session:
            digest = session.scalar(select(DocumentRow.text_sha256).where(DocumentRow.document_id == document_id))
        if digest is None:
            raise NotFoundError(f"There is no document {document_id[:40]}.")
        return self._files.get_text(digest)

    def chunks(self, version_id: str) -> Chunks:
        """The chunks of a corpus version; ``chunks[i].position == i``.

        Raises:
            NotFoundError: No such version.
        """
        with self._database.session() as session:
            if session.get(CorpusVersionRow, version_id) is None:
                raise NotFoundError(f"There is no corpus version {version_id[:40]}.")
            return records.select_chunks(session, version_id)

    def chunks_at(self, version_id: str, positions: Sequence[int]) -> Chunks:
        """The chunks at some positions of a version, in the order asked.

        Raises:
            NotFoundError: The version holds no chunk at one of them: the corpus was deleted meanwhile.
        """
        with self._database.session() as session:
            found = {chunk.position: chunk for chunk in records.select_chunks(session, version_id, positions)}
        if len(found) < len(set(positions)):
            raise NotFoundError(f"Corpus version {version_id[:40]} has no such chunk.", hint="Was the corpus deleted?")
        return [found[position] for position in positions]
