"""The library: named corpora, their documents and versions. What indexes, duels and pages read from."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.corpus import records
from backend.corpus.catalogue import Catalogue
from backend.corpus.chunking import check_chunking
from backend.corpus.files import DEFAULT_LIMITS, FileReading, ReadLimits, ReadOptions, Section, SourceFile
from backend.corpus.filling import BatchLimits, Filler
from backend.corpus.ingest import IsCancelled, ReportProgress, Watch, cut_document
from backend.corpus.reading import InProcessReading
from backend.corpus.removal import forget_documents, remove_versions
from backend.corpus.tokenizer import default_tokenizer
from backend.corpus.types import DEFAULT_TOKENIZER, Chunking, Corpus, Derived, Document, IngestReport, Tokenizer
from backend.corpus.versions import VersionWriter
from backend.errors import InputError, NotFoundError
from backend.store import Database, FileStore, now_iso
from backend.store.tables import ChunkRow, CorpusRow, CorpusVersionRow, DocumentRow

_LONGEST_NAME = 200
NO_OPTIONS: Mapping[str, ReadOptions] = {}


def only_default_tokenizer(name: str) -> Tokenizer:
    """The tokenizer of all-MiniLM-L6-v2, and no other.

    Raises:
        InputError: Another is asked for.
    """
    if name != DEFAULT_TOKENIZER:
        raise InputError(f"There is no tokenizer “{name[:100]}” here.", hint=f"Use {DEFAULT_TOKENIZER}.")
    return default_tokenizer()


class CorpusLibrary(Catalogue):
    """Corpora in the database, texts in the file store. Safe to share between threads.

    A corpus has versions: each is one chunking of one set of documents, never changed once written, so that an index
    or a duel that was made on it stays true. What is written in many short transactions is invisible until it is
    whole; what fails or is stopped is removed.

    Args:
        database: Holds the records.
        files: Holds the documents' texts.
        tokenizers: The tokenizer of a name; by default only that of all-MiniLM-L6-v2, loaded when first needed.
        reading: Reads files; by default in the caller's thread.
        limits: What one file or archive may take.
        max_files: Most files in one batch.
        max_batch_bytes: Most bytes in one batch.
    """

    def __init__(
        self,
        database: Database,
        files: FileStore,
        tokenizers: Callable[[str], Tokenizer] = only_default_tokenizer,
        *,
        reading: FileReading | None = None,
        limits: ReadLimits = DEFAULT_LIMITS,
        max_files: int = 2000,
        max_batch_bytes: int = 2_000_000_000,
    ) -> None:
        super().__init__(database, files)
        self._tokenizers = tokenizers
        self._limits = BatchLimits(max_files, max_batch_bytes, limits)
        self._filler = Filler(database, files, reading or InProcessReading(), self._limits)

    def add(
        self,
        name: str,
        sources: Sequence[SourceFile],
        chunking: Chunking | None = None,
        *,
        options: Mapping[str, ReadOptions] = NO_OPTIONS,
        suggested_queries: Sequence[str] = (),
        is_sample: bool = False,
        progress: ReportProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> IngestReport:
        """Make a corpus of a batch of files; archives are opened, a BEIR folder's queries and qrels are told apart.

        Args:
            name: Up to 200 characters, not taken yet.
            sources: The files; those that give no text are reported, and the others go on.
            chunking: How to cut; by default ``Chunking()``.
            options: What was decided about files, by name; under "" what holds for all others.
            suggested_queries: Questions that the duel page offers.
            is_sample: Whether it is the sample that ships with the app.
            progress: Called with stage, done, total.
            cancelled: Asked between parts; True ends the work with nothing stored.

        Raises:
            InputError: Name or chunking can't be used, too many files, or no file gave any text.
            CancelledError: ``cancelled`` said so.
        """
        chunking = chunking or Chunking()
        tokenizer = self._tokenizer_for(chunking)
        name = self._checked_name(name)
        self._limits.check(sources)
        watch = Watch(progress, cancelled)
        corpus_id = _new_id()
        with self._database.session() as session:
            # Under a name that nobody can give until it is whole: a crash on the way takes no name away.
            row = CorpusRow(
                corpus_id=corpus_id,
                name=records.UNNAMED + corpus_id,
                is_sample=is_sample,
                created_at=now_iso(),
                current_version_id="",
                suggested_queries=[q.strip() for q in suggested_queries if q.strip()],
                report={},
            )
            session.add(row)
        try:
            with self._writing(corpus_id, _record(chunking, tokenizer), watch) as writer:
                documents, report = self._filler.fill(writer, corpus_id, sources, chunking, tokenizer, options, watch)
                try:
                    with self._database.session() as session:
                        row = session.get_one(CorpusRow, corpus_id)
                        row.name, row.current_version_id = name, writer.version_id
                        row.report = records.report_record(report.skipped, report.warnings)
                        records.insert_documents(session, corpus_id, documents, 0)
                        writer.finish(session)
                except IntegrityError:
                    self._checked_name(name)  # somebody else took the name meanwhile: say so
                    raise
        except BaseException:
            with self._database.session() as session:
                session.execute(delete(CorpusRow).where(CorpusRow.corpus_id == corpus_id))
            raise
        return report

    def extend(
        self,
        name_or_id: str,
        sources: Sequence[SourceFile],
        *,
        options: Mapping[str, ReadOptions] = NO_OPTIONS,
        progress: ReportProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> IngestReport:
        """Add files to a corpus: a new version, cut like the current one; older versions stay.

        A file that is there already under the same name with the same text is skipped.

        Returns:
            What became of this batch alone.

        Raises:
            NotFoundError: No such corpus.
            InputError: Too many files, no file gave anything new, or somebody changed the corpus meanwhile.
            CancelledError: ``cancelled`` said so.
        """
        corpus = self.get(name_or_id)
        tokenizer = self._tokenizer_for(corpus.chunking)
        self._limits.check(sources)
        watch = Watch(progress, cancelled)
        before = self.documents(corpus.corpus_id)
        with self._writing(corpus.corpus_id, _record(corpus.chunking, tokenizer), watch) as writer:
            for n_in in writer.copy(corpus.version_id, before):
                watch.step("Copying chunks", n_in, corpus.n_chunks)
            added, report = self._filler.fill(
                writer, corpus.corpus_id, sources, corpus.chunking, tokenizer, options, watch, taken=before
            )
            with self._database.session() as session:
                row = self._make_current(session, corpus, writer.version_id)
                last = session.scalar(
                    select(func.max(DocumentRow.position)).where(DocumentRow.corpus_id == corpus.corpus_id)
                )
                records.insert_documents(session, corpus.corpus_id, added, 0 if last is None else last + 1)
                row.report = records.report_record(
                    [*corpus.skipped, *report.skipped], [*corpus.warnings, *report.warnings]
                )
                writer.finish(session)
        return report

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
            InputError: The chunking can't be used, or somebody changed the corpus meanwhile.
            CancelledError: ``cancelled`` said so.
        """
        tokenizer = self._tokenizer_for(chunking)
        corpus = self.get(name_or_id)
        watch = Watch(progress, cancelled)
        if self._bring_back(corpus, chunking, tokenizer):
            return self.get(corpus.corpus_id)
        documents = self.documents(corpus.corpus_id)
        with self._writing(corpus.corpus_id, _record(chunking, tokenizer), watch) as writer:
            for at, document in enumerate(documents):
                watch.step(f"Cutting {document.name}", at, len(documents))
                path = self._files.text_path(document.text_sha256)
                for _ in writer.add(document, cut_document(path, self._sections_of(document), chunking, tokenizer)):
                    watch.step(f"Cutting {document.name}", at, len(documents))
            if not writer.n_chunks:
                raise InputError("This chunking leaves no chunk.", hint="Choose another.")
            with self._database.session() as session:
                self._make_current(session, corpus, writer.version_id)
                writer.finish(session)
        return self.get(corpus.corpus_id)

    def rename(self, name_or_id: str, name: str) -> Corpus:
        """Give a corpus another name.

        Raises:
            NotFoundError: No such corpus.
            InputError: The name is blank, too long or taken.
        """
        corpus = self.get(name_or_id)
        if " ".join(name.split()) == corpus.name:
            return corpus
        name = self._checked_name(name)
        try:
            with self._database.session() as session:
                session.get_one(CorpusRow, corpus.corpus_id).name = name
        except IntegrityError:
            self._checked_name(name)
            raise
        return self.get(corpus.corpus_id)

    def suggest(self, name_or_id: str, queries: Sequence[str]) -> None:
        """Set the questions that the duel page offers.

        Raises:
            NotFoundError: No such corpus.
        """
        corpus = self.get(name_or_id)
        with self._database.session() as session:
            row = session.get_one(CorpusRow, corpus.corpus_id)
            row.suggested_queries = [query.strip() for query in queries if query.strip()]

    def remove_documents(
        self,
        name_or_id: str,
        document_ids: Iterable[str],
        *,
        progress: ReportProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> Derived:
        """Remove documents with all that derives from them here: texts, sections, and every version that holds them.

        The other documents' chunks make a new version under the same chunking.

        Returns:
            What other rooms keep of what is gone.

        Raises:
            NotFoundError: No such corpus, or no such document in it.
            InputError: No document would be left, or somebody changed the corpus meanwhile.
            CancelledError: ``cancelled`` said so; nothing was removed.
        """
        corpus = self.get(name_or_id)
        documents = self.documents(corpus.corpus_id)
        removed = set(document_ids)
        if unknown := removed - {document.document_id for document in documents}:
            raise NotFoundError(f"The corpus “{corpus.name}” has no document {min(unknown)[:40]}.")
        kept = [document for document in documents if document.document_id not in removed]
        if not kept:
            raise InputError("No document would be left.", hint="Delete the corpus instead.")
        if not removed:
            return Derived()
        watch = Watch(progress, cancelled)
        # The chunks are copied, so the tokenizer that made them need not be here any more.
        with self._database.session() as session:
            record = session.get_one(CorpusVersionRow, corpus.version_id).chunking
        with self._writing(corpus.corpus_id, record, watch) as writer:
            for n_in in writer.copy(corpus.version_id, kept):
                watch.step("Copying chunks", n_in, corpus.n_chunks)
            if not writer.n_chunks:
                raise InputError("No chunk would be left.", hint="Delete the corpus instead.")
            with self._database.session() as session:
                row = self._make_current(session, corpus, writer.version_id)
                names = {document.name for document in documents} - {document.name for document in kept}
                row.report = records.report_record(
                    [item for item in corpus.skipped if item.file not in names],
                    [note for note in corpus.warnings if not any(note.startswith(f"{name}: ") for name in names)],
                )
                writer.finish(session)
        # An older version that held the removed documents would keep their text.
        versions: set[str] = set()
        whole = select(CorpusVersionRow.version_id).where(
            CorpusVersionRow.corpus_id == corpus.corpus_id, CorpusVersionRow.fingerprint != ""
        )
        with self._database.session() as session:
            for version_id in session.scalars(whole).all():
                for document_id in removed if version_id != writer.version_id else ():
                    held = select(ChunkRow.position).where(
                        ChunkRow.version_id == version_id, ChunkRow.document_id == document_id
                    )
                    if session.scalar(held.limit(1)) is not None:
                        versions.add(version_id)
                        break
        derived = remove_versions(self._database, sorted(versions))
        gone = [document for document in documents if document.document_id in removed]
        forget_documents(self._database, self._files, gone)
        return derived

    def delete(self, name_or_id: str) -> Derived:
        """Remove a corpus with all its versions, and the texts that no other corpus holds.

        Returns:
            What other rooms keep of what is gone.

        Raises:
            NotFoundError: No such corpus.
        """
        corpus = self.get(name_or_id)
        documents = self.documents(corpus.corpus_id)
        with self._database.session() as session:
            of_corpus = select(CorpusVersionRow.version_id).where(CorpusVersionRow.corpus_id == corpus.corpus_id)
            versions = list(session.scalars(of_corpus))
            row = session.get_one(CorpusRow, corpus.corpus_id)
            # Nobody begins anything on it now, its name is free, and after a crash sweep() ends what was begun.
            row.current_version_id, row.name = "", records.UNNAMED + corpus.corpus_id
        derived = remove_versions(self._database, versions)
        with self._database.session() as session:
            session.execute(delete(CorpusRow).where(CorpusRow.corpus_id == corpus.corpus_id))
        forget_documents(self._database, self._files, documents)
        return derived

    # Parts

    @contextmanager
    def _writing(self, corpus_id: str, record: dict[str, Any], watch: Watch) -> Iterator[VersionWriter]:
        writer = VersionWriter(self._database, corpus_id, record, watch.check)
        try:
            yield writer
        except BaseException:
            writer.abandon()
            raise

    def _sections_of(self, document: Document) -> Callable[[], Iterator[Section]]:
        return lambda: self.sections(document.document_id)

    def _make_current(self, session: Session, corpus: Corpus, version_id: str) -> CorpusRow:
        """Put a version in the place of the one that the work began with, as the transaction's first statement.

        Look and change are one statement: two who work on the same corpus at once can't both succeed.
        """
        changed = session.execute(
            update(CorpusRow)
            .where(CorpusRow.corpus_id == corpus.corpus_id, CorpusRow.current_version_id == corpus.version_id)
            .values(current_version_id=version_id)
            .returning(CorpusRow.corpus_id)
        ).all()
        if len(changed) != 1:
            raise InputError(f"The corpus “{corpus.name}” was changed meanwhile.", hint="Try again.")
        return session.get_one(CorpusRow, corpus.corpus_id)

    def _bring_back(self, corpus: Corpus, chunking: Chunking, tokenizer: Tokenizer | None) -> bool:
        """Make an earlier version of these documents with this chunking current again, if there is one."""
        statement = (
            select(CorpusVersionRow)
            .where(CorpusVersionRow.corpus_id == corpus.corpus_id, CorpusVersionRow.fingerprint != "")
            .where(CorpusVersionRow.n_documents == corpus.n_documents)
        )
        identity = tokenizer.name if tokenizer else ""
        documents = records.documents_digest(self.documents(corpus.corpus_id))

        def same(row: CorpusVersionRow) -> bool:
            return (
                records.chunking_of(row.chunking) == chunking
                and records.tokenizer_identity_of(row.chunking) == identity
                and row.chunking.get("documents", documents) == documents
            )

        with self._database.session() as session:
            made = next((row.version_id for row in session.scalars(statement) if same(row)), None)
        if made is None:
            return False
        with self._database.session() as session:
            self._make_current(session, corpus, made)
        return True

    def _tokenizer_for(self, chunking: Chunking) -> Tokenizer | None:
        check_chunking(chunking)
        return self._tokenizers(chunking.tokenizer) if chunking.counts_tokens else None

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


def _record(chunking: Chunking, tokenizer: Tokenizer | None) -> dict[str, Any]:
    return records.chunking_record(chunking, tokenizer.name if tokenizer else "")


def _new_id() -> str:
    return uuid.uuid4().hex
