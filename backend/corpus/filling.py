"""Filling a version from a batch of files: read, store texts and places, cut, one document after the other."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from backend.corpus import records
from backend.corpus.files import FileReading, ReadLimits, ReadOptions, Section, SourceFile
from backend.corpus.ingest import (
    BatchReading,
    Outcome,
    ReadFile,
    Watch,
    cut_document,
    nothing_found,
    open_archives,
    read_batch,
)
from backend.corpus.readers.beir_files import split_beir
from backend.corpus.reading import read_sections
from backend.corpus.removal import forget_documents
from backend.corpus.types import Chunking, Document, IngestReport, Tokenizer
from backend.corpus.versions import VersionWriter
from backend.errors import InputError
from backend.store import Database, FileStore

_TOLD_EVERY_S = 0.2


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """What one batch may hold.

    Attributes:
        max_files: Files, those in archives included.
        max_bytes: All files together, as they came.
        of_file: What one file or archive may take.
    """

    max_files: int
    max_bytes: int
    of_file: ReadLimits

    def check(self, sources: Sequence[SourceFile]) -> None:
        """Refuse a batch that is too large.

        Raises:
            InputError: The message names the limit, the hint the setting.
        """
        if len(sources) > self.max_files:
            raise InputError(
                f"{len(sources)} files are more than the {self.max_files} that one batch may hold.",
                hint="Add them in parts, or raise RAGDUEL_MAX_FILES.",
            )
        n_bytes = sum(_size_bytes(source) for source in sources)
        if n_bytes > self.max_bytes:
            raise InputError(
                f"{n_bytes / 1e6:,.0f} MB are more than the {self.max_bytes / 1e6:,.0f} MB that one batch may hold.",
                hint="Add them in parts, or raise RAGDUEL_MAX_BATCH_MB.",
            )


def _size_bytes(source: SourceFile) -> int:
    try:
        return source.size_bytes
    except OSError:  # named when it is read
        return 0


@dataclass(frozen=True, slots=True)
class Filler:
    """Reads batches into versions.

    Attributes:
        database: Takes places.
        files: Takes texts.
        reading: Reads files.
        limits: What a batch may hold.
    """

    database: Database
    files: FileStore
    reading: FileReading
    limits: BatchLimits

    def fill(
        self,
        writer: VersionWriter,
        corpus_id: str,
        sources: Sequence[SourceFile],
        chunking: Chunking,
        tokenizer: Tokenizer | None,
        options: Mapping[str, ReadOptions],
        watch: Watch,
        taken: Sequence[Document] = (),
    ) -> tuple[list[Document], IngestReport]:
        """Read a batch and write its texts, places and chunks; what is written is removed when it fails.

        Args:
            writer: The version, open.
            corpus_id: For the report.
            sources: The files.
            chunking: How to cut.
            tokenizer: Counts, where the chunking counts tokens.
            options: What was decided about files, by name; under "" what holds for all others.
            watch: Progress and cancellation.
            taken: Documents that the corpus has already: the same again is skipped.

        Returns:
            The documents, not stored yet, and what became of the batch.

        Raises:
            InputError: Too much, or no file gave any chunk.
            CancelledError: Somebody stopped the work.
        """
        outcome = Outcome([], [])
        documents: list[Document] = []
        n_before = writer.n_chunks
        try:
            with self.files.scratch() as folder:
                reading = BatchReading(self.reading, folder, self.limits.of_file, options)
                opened = open_archives(sources, reading, watch, outcome, self.limits.check)
                if beir := split_beir(opened):
                    opened = [beir.corpus, *beir.rest]
                self.limits.check(opened)
                already = [(document.name, document.text_sha256) for document in taken]
                for read in read_batch(opened, reading, watch, outcome, already):
                    document = _document(read)
                    documents.append(document)
                    self._store(writer, document, read, chunking, tokenizer, watch)
                queries = beir.read_queries() if beir else None
                watch.check()
            if writer.n_chunks == n_before:
                raise nothing_found(outcome.skipped)
        except BaseException:
            writer.abandon()
            forget_documents(self.database, self.files, documents)
            raise
        if queries:
            outcome.warnings.extend(queries.warnings)
        n_chunks = writer.n_chunks - n_before
        skipped, warnings = tuple(outcome.skipped), tuple(outcome.warnings)
        return documents, IngestReport(corpus_id, len(documents), n_chunks, skipped, warnings, queries)

    def _store(
        self,
        writer: VersionWriter,
        document: Document,
        read: ReadFile,
        chunking: Chunking,
        tokenizer: Tokenizer | None,
        watch: Watch,
    ) -> None:
        places = read.text.sections_path
        for n_in in records.insert_sections(self.database, document.document_id, read_sections(places)):
            watch.step(f"Storing places of {read.name}", n_in, document.n_sections)
        self.files.adopt_text(read.text.text_path, document.text_sha256)
        path = self.files.text_path(document.text_sha256)

        def sections() -> Iterator[Section]:
            return read_sections(places)

        told = time.monotonic()
        for reached in writer.add(document, cut_document(path, sections, chunking, tokenizer)):
            if time.monotonic() - told > _TOLD_EVERY_S:
                told = time.monotonic()
                watch.step(f"Cutting {read.name}", reached, document.n_chars)
        places.unlink(missing_ok=True)


def _document(read: ReadFile) -> Document:
    return Document(
        document_id=uuid.uuid4().hex,
        name=read.name,
        n_chars=read.text.n_chars,
        n_sections=read.text.n_sections,
        n_unreadable=read.text.n_unreadable,
        text_sha256=read.text.text_sha256,
        facts=read.text.facts,
        source_sha256=read.source_sha256,
        source_bytes=read.source_bytes,
    )
