"""The reading side of the library: corpora, documents and chunks as stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import select

from backend.corpus import records
from backend.corpus.files import Section
from backend.corpus.text import joined
from backend.corpus.types import Chunk, Corpus, Document
from backend.errors import NotFoundError
from backend.store import Database, FileStore
from backend.store.files import open_text
from backend.store.tables import CorpusRow, CorpusVersionRow, DocumentRow

_BLOCK_CHARS = 1 << 20
Documents = list[Document]  # ``list`` is a method below
Chunks = list[Chunk]
Sections = list[Section]


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
            .where(CorpusVersionRow.fingerprint != "")
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
                select(CorpusRow).where(CorpusRow.name == " ".join(name_or_id.split()))
            )
            version = session.get(CorpusVersionRow, row.current_version_id) if row is not None else None
            if row is not None and version is not None and version.fingerprint:
                return records.corpus_of(row, version)
            whole = select(CorpusRow.name).where(CorpusRow.current_version_id != "")
            names = session.scalars(whole.order_by(CorpusRow.name)).all()
        there = joined(names) if names else "there is none yet"
        raise NotFoundError(f"There is no corpus “{name_or_id[:200]}”.", hint=f"Corpora: {there}.")

    def documents(self, corpus_id: str) -> Documents:
        """The documents of a corpus, in the order they were added."""
        statement = select(DocumentRow).where(DocumentRow.corpus_id == corpus_id).order_by(DocumentRow.position)
        with self._database.session() as session:
            return [records.document_of(row) for row in session.scalars(statement)]

    def document(self, document_id: str) -> Document:
        """One document.

        Raises:
            NotFoundError: No such document.
        """
        with self._database.session() as session:
            row = session.get(DocumentRow, document_id)
            if row is None:
                raise NotFoundError(f"There is no document {document_id[:40]}.", hint="Was it removed?")
            return records.document_of(row)

    def document_text(self, document_id: str, start: int = 0, end: int | None = None) -> str:
        """A document's text, whole or the characters ``start`` to ``end`` of it.

        Raises:
            NotFoundError: No such document, or its text is gone.
        """
        document = self.document(document_id)
        return self._files.get_text_part(document.text_sha256, start, document.n_chars if end is None else end)

    def text_blocks(self, document_id: str) -> Iterator[str]:
        """A document's text in blocks of about a million characters.

        Raises:
            NotFoundError: No such document, or its text is gone.
        """
        with open_text(self._files.text_path(self.document(document_id).text_sha256)) as stream:
            while block := stream.read(_BLOCK_CHARS):
                yield block

    def sections(self, document_id: str, start: int = 0, end: int | None = None) -> Iterator[Section]:
        """A document's sections in order, all or those that reach into a stretch of its text."""
        with self._database.session() as session:
            yield from records.select_sections(session, document_id, start, end)

    def chunks(self, version_id: str) -> Chunks:
        """The chunks of a corpus version; ``chunks[i].position == i``.

        Raises:
            NotFoundError: No such version.
        """
        with self._database.session() as session:
            if session.get(CorpusVersionRow, version_id) is None:
                raise NotFoundError(f"There is no corpus version {version_id[:40]}.")
            return records.select_chunks(session, version_id)

    def chunks_from(self, version_id: str, first: int, n_chunks: int) -> Chunks:
        """At most ``n_chunks`` chunks of a version from a position on: one page of them."""
        with self._database.session() as session:
            return records.chunks_from(session, version_id, first, n_chunks)

    def each_chunk(self, version_id: str) -> Iterator[Chunk]:
        """The chunks of a version one by one, whatever their number, in batches of short reads."""
        first = 0
        while batch := self.chunks_from(version_id, first, records.BATCH_ROWS):
            yield from batch
            first += len(batch)

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

    def find_chunks(self, version_id: str, words: str, first: int, last: int, n_chunks: int) -> Chunks:
        """The first ``n_chunks`` chunks among the positions ``first`` to ``last`` whose text holds some words.

        Letters match in either case; with SQLite those beyond ASCII only as they are.
        """
        with self._database.session() as session:
            return records.find_chunks(session, version_id, words, first, last, n_chunks)

    def chunk_counts(self, version_id: str) -> dict[str, int]:
        """Document id -> its chunks in a version. Reads every chunk's row: not for very large versions."""
        with self._database.session() as session:
            return records.chunk_counts(session, version_id)

    def find_places(self, document_id: str, words: str, n_sections: int) -> Sections:
        """The first ``n_sections`` sections of a document whose place (page, row, heading) holds some words."""
        with self._database.session() as session:
            return records.find_places(session, document_id, words, n_sections)
