"""The library: named corpora, their documents and versions. What indexes, duels and pages read from."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.corpus import records
from backend.corpus.catalogue import Catalogue
from backend.corpus.chunking import check_chunking
from backend.corpus.files import SourceFile
from backend.corpus.ingest import (
    IsCancelled,
    Named,
    ReportProgress,
    Watch,
    chunk_document,
    fingerprint,
    nothing_found,
    parse_batch,
)
from backend.corpus.text import clean_text
from backend.corpus.tokenizer import default_tokenizer
from backend.corpus.types import Chunk, Chunking, Corpus, Document, IngestReport, Tokenizer
from backend.errors import InputError
from backend.store import Database, FileStore, now_iso
from backend.store.tables import CorpusRow, CorpusVersionRow, DocumentRow

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class _Version:
    """A version about to be stored."""

    version_id: str
    documents: tuple[Document, ...]
    chunks: Sequence[Chunk]
    chunking: Chunking


class CorpusLibrary(Catalogue):
    """Corpora in the database, texts in the file store. Safe to share between threads.

    A corpus has versions: each is one chunking of one set of documents, never changed once written, so that an index
    or a duel that was made on it stays true.

    Args:
        database: Holds the records.
        files: Holds the documents' texts.
        tokenizer: Measures chunks; by default that of all-MiniLM-L6-v2, loaded when first needed.
        max_file_bytes: Larger files are skipped.
        max_files: Most files in one batch.
    """

    def __init__(
        self,
        database: Database,
        files: FileStore,
        tokenizer: Tokenizer | None = None,
        *,
        max_file_bytes: int = 50_000_000,
        max_files: int = 2000,
    ) -> None:
        super().__init__(database, files)
        self._given_tokenizer = tokenizer
        self._max_file_bytes = max_file_bytes
        self._max_files = max_files

    @property
    def _tokenizer(self) -> Tokenizer:
        return self._given_tokenizer or default_tokenizer()

    def add(
        self,
        name: str,
        sources: Sequence[SourceFile],
        chunking: Chunking | None = None,
        *,
        suggested_queries: Sequence[str] = (),
        is_sample: bool = False,
        progress: ReportProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> IngestReport:
        """Make a corpus of a batch of files.

        Args:
            name: Up to 200 characters, not taken yet.
            sources: The files; those that give no text are reported, and the others go on.
            chunking: How to cut; by default ``Chunking()``.
            suggested_queries: Questions that the duel page offers.
            is_sample: Whether it is the sample that ships with the app.
            progress: Called with stage, done, total.
            cancelled: Asked between files; True ends the work with nothing stored.

        Raises:
            InputError: Name or chunking can't be used, too many files, or no file gave any text.
            CancelledError: ``cancelled`` said so.
        """
        chunking = chunking or Chunking()
        check_chunking(chunking)
        name = self._checked_name(name)
        self._check_batch(sources)
        watch = Watch(progress, cancelled)
        named, skipped, warnings = parse_batch(sources, max_file_bytes=self._max_file_bytes, watch=watch)
        documents, chunks = self._chunked(named, chunking, watch)
        if not chunks:
            raise nothing_found(skipped)
        corpus_id = _new_id()
        version = _Version(_new_id(), tuple(documents), chunks, chunking)
        watch.step("storing", 0, len(chunks))
        try:
            with self._database.session() as session:
                session.add(
                    CorpusRow(
                        corpus_id=corpus_id,
                        name=name,
                        is_sample=is_sample,
                        created_at=now_iso(),
                        current_version_id=version.version_id,
                        suggested_queries=[q.strip() for q in suggested_queries if q.strip()],
                        report=records.report_record(skipped, warnings),
                    )
                )
                session.flush()
                records.insert_documents(session, corpus_id, documents, 0)
                self._store_version(session, corpus_id, version, watch)
                self._put_texts(named)
        except IntegrityError:
            self._checked_name(name)  # somebody else took the name meanwhile: say so
            raise
        return IngestReport(corpus_id, len(documents), len(chunks), tuple(skipped), tuple(warnings))

    def extend(
        self,
        name_or_id: str,
        sources: Sequence[SourceFile],
        *,
        progress: ReportProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> IngestReport:
        """Add files to a corpus: a new version, cut like the current one; older versions stay.

        A file that is there already under the same name with the same text is skipped.

        Returns:
            What became of this batch alone.

        Raises:
            NotFoundError: No such corpus.
            InputError: Too many files, or no file gave anything new.
            CancelledError: ``cancelled`` said so.
        """
        corpus = self.get(name_or_id)
        self._check_batch(sources)
        watch = Watch(progress, cancelled)
        before = self.documents(corpus.corpus_id)
        named, skipped, warnings = parse_batch(
            sources,
            max_file_bytes=self._max_file_bytes,
            taken=[(document.name, document.text_sha256) for document in before],
            watch=watch,
        )
        added, new_chunks = self._chunked(named, corpus.chunking, watch)
        if not new_chunks:
            raise nothing_found(skipped)
        chunks = [*self.chunks(corpus.version_id), *new_chunks]
        version = _Version(_new_id(), (*before, *added), chunks, corpus.chunking)
        watch.step("storing", 0, len(chunks))
        with self._database.session() as session:
            row = session.get_one(CorpusRow, corpus.corpus_id)
            if row.current_version_id != corpus.version_id:
                raise InputError(f"The corpus “{corpus.name}” was changed meanwhile.", hint="Try again.")
            records.insert_documents(session, corpus.corpus_id, added, len(before))
            self._store_version(session, corpus.corpus_id, version, watch)
            row.current_version_id = version.version_id
            row.report = records.report_record([*corpus.skipped, *skipped], [*corpus.warnings, *warnings])
            self._put_texts(named)
        return IngestReport(corpus.corpus_id, len(added), len(new_chunks), tuple(skipped), tuple(warnings))

    def rechunk(
        self,
        name_or_id: str,
        chunking: Chunking,
        *,
        progress: ReportProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> Corpus:
        """Cut the documents of a corpus anew: another version becomes current, the older ones stay.

        A chunking that these documents had before brings that version back, with its indexes.

        Raises:
            NotFoundError: No such corpus.
            InputError: The chunking can't be used.
            CancelledError: ``cancelled`` said so.
        """
        check_chunking(chunking)
        corpus = self.get(name_or_id)
        watch = Watch(progress, cancelled)
        wanted = records.chunking_record(chunking, self._tokenizer.name)
        if self._bring_back(corpus, wanted):
            return self.get(corpus.corpus_id)
        documents = self.documents(corpus.corpus_id)
        chunks: list[Chunk] = []
        for at, document in enumerate(documents):
            watch.step("chunking", at, len(documents))
            text = self._files.get_text(document.text_sha256)
            chunks += chunk_document(
                document.name, document.document_id, text, document.sections, chunking, self._tokenizer
            )
        version = _Version(_new_id(), tuple(documents), chunks, chunking)
        watch.step("storing", 0, len(chunks))
        with self._database.session() as session:
            row = session.get_one(CorpusRow, corpus.corpus_id)
            if row.current_version_id != corpus.version_id:
                raise InputError(f"The corpus “{corpus.name}” was changed meanwhile.", hint="Try again.")
            self._store_version(session, corpus.corpus_id, version, watch)
            row.current_version_id = version.version_id
        return self.get(corpus.corpus_id)

    def _bring_back(self, corpus: Corpus, wanted: dict[str, Any]) -> bool:
        """Make an earlier version of these documents with this chunking current again, if there is one."""
        statement = (
            select(CorpusVersionRow)
            .where(CorpusVersionRow.corpus_id == corpus.corpus_id)
            .where(CorpusVersionRow.n_documents == corpus.n_documents)
        )
        with self._database.session() as session:
            made = next((row for row in session.scalars(statement) if row.chunking == wanted), None)
            if made is None:
                return False
            session.get_one(CorpusRow, corpus.corpus_id).current_version_id = made.version_id
            return True

    def delete(self, name_or_id: str) -> None:
        """Remove a corpus with all its versions, and the texts that no other corpus holds.

        Raises:
            NotFoundError: No such corpus.
        """
        corpus = self.get(name_or_id)
        with self._database.session() as session:
            held = select(DocumentRow.text_sha256).where(DocumentRow.corpus_id == corpus.corpus_id)
            digests = set(session.scalars(held))
            session.execute(delete(CorpusRow).where(CorpusRow.corpus_id == corpus.corpus_id))
            # Inside the transaction: SQLite lets nobody else add the same text until it ends.
            digests -= set(session.scalars(select(DocumentRow.text_sha256).distinct()))
            for digest in digests:
                self._files.path("documents", digest).unlink(missing_ok=True)

    def _checked_name(self, name: str) -> str:
        name = " ".join(name.split())
        if not name:
            raise InputError("The corpus has no name.", hint="Give it one.")
        if len(name) > _LONGEST_NAME:
            raise InputError(f"The name has {len(name)} characters.", hint=f"Use {_LONGEST_NAME} at most.")
        with self._database.session() as session:
            taken = session.scalar(select(func.count()).select_from(CorpusRow).where(CorpusRow.name == name))
        if taken:
            raise InputError(f"There is a corpus “{name}” already.", hint="Choose another name, or delete that one.")
        return name

    def _check_batch(self, sources: Sequence[SourceFile]) -> None:
        if len(sources) > self._max_files:
            raise InputError(
                f"{len(sources)} files are more than the {self._max_files} that one batch may hold.",
                hint="Add them in parts, or raise RAGDUEL_MAX_FILES.",
            )

    def _chunked(
        self, named: Sequence[Named], chunking: Chunking, watch: Watch
    ) -> tuple[Sequence[Document], Sequence[Chunk]]:
        documents: list[Document] = []
        chunks: list[Chunk] = []
        for at, item in enumerate(named):
            watch.step("chunking", at, len(named))
            document = _document(item)
            documents.append(document)
            chunks += chunk_document(
                item.name, document.document_id, item.parsed.text, item.parsed.sections, chunking, self._tokenizer
            )
        return documents, chunks

    def _store_version(self, session: Session, corpus_id: str, version: _Version, watch: Watch) -> None:
        chunks = [replace(chunk, position=at) for at, chunk in enumerate(version.chunks)]
        session.add(
            CorpusVersionRow(
                version_id=version.version_id,
                corpus_id=corpus_id,
                fingerprint=fingerprint(version.documents, chunks),
                chunking=records.chunking_record(version.chunking, self._tokenizer.name),
                n_documents=len(version.documents),
                n_chunks=len(chunks),
                created_at=now_iso(),
            )
        )
        session.flush()
        for _ in records.insert_chunks(session, version.version_id, chunks):
            watch.check()

    def _put_texts(self, named: Sequence[Named]) -> None:
        for item in named:
            self._files.put_text(item.parsed.text)


def _document(item: Named) -> Document:
    return Document(
        document_id=_new_id(),
        name=item.name,
        title=clean_text(item.parsed.title),
        media_type=item.parsed.media_type,
        n_chars=len(item.parsed.text),
        text_sha256=item.text_sha256,
        sections=item.parsed.sections,
        warnings=item.parsed.warnings,
    )


def _new_id() -> str:
    return uuid.uuid4().hex
