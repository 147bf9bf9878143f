"""What people do with corpora: add, extend, cut anew, remove, report; the long ones as jobs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from backend.corpus import (
    AS_IT_IS,
    Chunking,
    Corpus,
    Derived,
    IngestReport,
    ParsedDocument,
    Reading,
    ReadOptions,
    SourceFile,
    is_text_like,
)
from backend.corpus.ingest import Watch
from backend.corpus.quality import QualityReport, ReportOptions, build_report
from backend.corpus.reading import limits_of, read_sections
from backend.corpus.reading.wire import options_of
from backend.corpus.records import chunking_of
from backend.errors import RagduelError
from backend.jobs import Handler, JobContext
from backend.settings import Settings
from backend.store.files import open_text
from backend.store.tables import QualityReportRow
from backend.workspace.work import work_key

if TYPE_CHECKING:
    from backend.workspace.workspace import Workspace

Progress = Callable[[str, int, int], None]
Cancelled = Callable[[], bool]
NO_OPTIONS: Mapping[str, ReadOptions] = {}
_PEEK_BYTES = 1_000_000
_PEEK_SECTIONS = 20_000
_BATCH_CHUNKS = 5_000
_SUGGESTED = 30


def default_chunking(settings: Settings) -> Chunking:
    """How documents are cut where nobody chose."""
    return Chunking(settings.chunk_tokens, settings.chunk_overlap_tokens)


class CorpusWork:
    """Work on corpora that touches several rooms.

    Args:
        workspace: The rooms.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._ws = workspace

    # Now, in the caller's thread

    def add(
        self,
        name: str,
        sources: Sequence[SourceFile],
        chunking: Chunking,
        options: Mapping[str, ReadOptions] = NO_OPTIONS,
        *,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> IngestReport:
        """Make a corpus; what a BEIR batch asks becomes a query set and the questions that the duel page offers.

        Raises:
            InputError: As ``CorpusLibrary.add``.
            CancelledError: Stopped; nothing is stored.
        """
        report = self._ws.corpora.add(name, sources, chunking, options=options, progress=progress, cancelled=cancelled)
        self._keep_queries(name, report)
        return report

    def extend(
        self,
        corpus: str,
        sources: Sequence[SourceFile],
        options: Mapping[str, ReadOptions] = NO_OPTIONS,
        *,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> IngestReport:
        """Add files to a corpus; only their chunks are new to any model.

        Raises:
            InputError: As ``CorpusLibrary.extend``.
            CancelledError: Stopped; nothing is stored.
        """
        report = self._ws.corpora.extend(corpus, sources, options=options, progress=progress, cancelled=cancelled)
        self._keep_queries(self._ws.corpora.get(corpus).name, report)
        return report

    def remove_documents(
        self,
        corpus: str,
        document_ids: Sequence[str],
        *,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> Corpus:
        """Remove documents with their chunks, vectors and indexes; finished duels stay readable.

        Raises:
            InputError: As ``CorpusLibrary.remove_documents``.
            CancelledError: Stopped; nothing is removed.
        """
        self._forget(self._ws.corpora.remove_documents(corpus, document_ids, progress=progress, cancelled=cancelled))
        return self._ws.corpora.get(corpus)

    def delete(self, corpus: str) -> None:
        """Delete a corpus with its vectors and indexes; finished duels stay readable.

        Raises:
            NotFoundError: There is none.
        """
        self._forget(self._ws.corpora.delete(corpus))

    # As jobs

    def start_add(
        self,
        name: str,
        sources: Sequence[SourceFile],
        chunking: Chunking,
        options: Mapping[str, ReadOptions] = NO_OPTIONS,
    ) -> str:
        """Read, cut and store files as a job; its result holds ``corpus_id``.

        The files wait on disk until they are read, so that the job can be resumed.
        """
        params = {"name": name, "chunking": asdict(chunking)}
        return self._start_with_files("ingest", params, sources, options)

    def start_extend(
        self, corpus_id: str, sources: Sequence[SourceFile], options: Mapping[str, ReadOptions] = NO_OPTIONS
    ) -> str:
        """Add files as a job; its result holds ``corpus_id``."""
        return self._start_with_files("extend", {"corpus_id": corpus_id}, sources, options)

    def start_rechunk(self, corpus_id: str, chunking: Chunking) -> str:
        """Cut a corpus anew as a job; its result holds ``corpus_id``."""
        params = {"corpus_id": corpus_id, "chunking": asdict(chunking)}
        return self._ws.jobs.submit("rechunk", params, key=work_key("rechunk", params))

    def start_remove(self, corpus_id: str, document_ids: Sequence[str]) -> str:
        """Remove documents as a job; its result holds ``corpus_id``."""
        params = {"corpus_id": corpus_id, "document_ids": sorted(document_ids)}
        return self._ws.jobs.submit("remove", params, key=work_key("remove", params))

    def start_report(self, corpus_id: str) -> str:
        """Make the quality report of a corpus' current version as a job; its result holds ``corpus_id``."""
        corpus = self._ws.corpora.get(corpus_id)
        params = {"corpus_id": corpus.corpus_id}
        return self._ws.jobs.submit("report", params, key=work_key("report", {"version": corpus.version_id}))

    # The quality report

    def report(self, corpus: Corpus) -> QualityReport | None:
        """The quality report of this version, if it was made."""
        with self._ws.database.session() as session:
            row = session.get(QualityReportRow, corpus.version_id)
            return QualityReport.from_data(row.report) if row is not None else None

    def make_report(
        self, corpus: Corpus, *, progress: Progress | None = None, cancelled: Cancelled | None = None
    ) -> QualityReport:
        """Make and keep the quality report of a version; what is kept already comes from there.

        Raises:
            CancelledError: Stopped.
        """
        if known := self.report(corpus):
            return known
        library, chunking = self._ws.corpora, corpus.chunking
        counter = self._ws.tokenizers.get(chunking.tokenizer).count if chunking.counts_tokens else None
        made = build_report(
            library.documents(corpus.corpus_id),
            text_of=lambda document: library.text_blocks(document.document_id),
            sections_of=lambda document: library.sections(document.document_id),
            chunks=library.each_chunk(corpus.version_id),
            skipped=corpus.skipped,
            warnings=corpus.warnings,
            check=Watch(None, cancelled).check,
            step=lambda word, done, total: progress(f"Report, {word}", done, total) if progress else None,
            options=ReportOptions(count_tokens=counter),
        )
        with self._ws.database.session() as session:
            session.merge(QualityReportRow(version_id=corpus.version_id, report=made.to_data()))
        return made

    # Looking before adding

    def peek(self, source: SourceFile, options: ReadOptions = AS_IT_IS) -> ParsedDocument:
        """The beginning of a file as its reader gives it: about the first million bytes of a text or table, else all.

        Raises:
            UnreadableFile: It gives no text.
        """
        is_cut = source.size_bytes > _PEEK_BYTES and is_text_like(source)
        if is_cut:
            head = source.head(_PEEK_BYTES)
            end = head.rfind(b"\n") + 1
            source = SourceFile(source.name, head[: end if end and b"\x00" not in head[:4096] else _PEEK_BYTES])
        reading = Reading(options, limits_of(self._ws.settings))
        with self._ws.files.scratch() as folder:
            read = self._ws.reading.read(source, folder, reading)
            sections = tuple(islice(read_sections(read.sections_path), _PEEK_SECTIONS))
            with open_text(read.text_path) as text:
                # What seems broken where the beginning ends is whole in the file.
                facts = replace(read.facts, warnings=()) if is_cut else read.facts
                return ParsedDocument(text.read(_PEEK_BYTES), facts, sections)

    def over_limits(self, texts: Sequence[str], model_keys: Sequence[str]) -> dict[str, int | None]:
        """How many of some texts each model would cut; None where only its server knows."""
        counts: dict[str, int | None] = {}
        for key in model_keys:
            spec = self._ws.registry.get(key)
            lengths = self._ws.tokenizers.count(spec, texts) if spec.max_tokens else [0] * len(texts)
            counts[key] = None if lengths is None else sum(n > spec.max_tokens for n in lengths) * (spec.max_tokens > 0)
        return counts

    def cut_counts(self, corpus_id: str, model_keys: Sequence[str]) -> dict[str, int | None]:
        """How many chunks of a corpus each model would cut; None where only its server knows."""
        corpus = self._ws.corpora.get(corpus_id)
        chunks = self._ws.corpora.each_chunk(corpus.version_id)
        counts: dict[str, int | None] = dict.fromkeys(model_keys, 0)
        while batch := [chunk.text for chunk in islice(chunks, _BATCH_CHUNKS)]:
            for key, n in self.over_limits(batch, model_keys).items():
                before = counts[key]
                counts[key] = None if n is None or before is None else before + n
        return counts

    # Parts

    def _start_with_files(
        self, kind: str, params: Mapping[str, Any], sources: Sequence[SourceFile], options: Mapping[str, ReadOptions]
    ) -> str:
        chosen = {name: asdict(option) for name, option in options.items()}
        holder = work_key(kind, {**params, "options": chosen, "files": [source.name for source in sources]})
        listed = [{"name": source.name, "sha256": self._hold(source, holder)} for source in sources]
        whole = {**params, "options": chosen, "files": listed, "holder": holder}
        return self._ws.jobs.submit(kind, whole, key=work_key(kind, whole))

    def _hold(self, source: SourceFile, holder: str) -> str:
        with source.open() as stream:
            return self._ws.files.hold(stream, holder)

    def _keep_queries(self, corpus_name: str, report: IngestReport) -> None:
        asked = report.queries
        if asked is not None and asked.queries:
            self._ws.query_sets.add(report.corpus_id, corpus_name, asked.queries, asked.qrels, "beir")
            judged = {query_id for split in asked.qrels.values() for query_id in split}
            first = sorted(asked.queries, key=lambda query: query[0] not in judged)[:_SUGGESTED]
            self._ws.corpora.suggest(report.corpus_id, [text for _, text in first])

    def _forget(self, derived: Derived) -> None:
        self._ws.indexes.forget(derived.fingerprints, self._ws.vectors.spaces())
        self._ws.vectors.forget(derived.text_sha256s)


def corpus_handlers(work: CorpusWork, workspace: Workspace) -> dict[str, Handler]:
    """Who does the jobs on corpora."""

    def ingest(context: JobContext) -> Mapping[str, Any]:
        def add(sources: Sequence[SourceFile], options: Mapping[str, ReadOptions]) -> IngestReport:
            chunking = chunking_of(dict(context.params["chunking"]))
            name = context.params["name"]
            return work.add(name, sources, chunking, options, progress=context.progress, cancelled=context.cancelled)

        return _with_held_files(context, add)

    def extend(context: JobContext) -> Mapping[str, Any]:
        def add(sources: Sequence[SourceFile], options: Mapping[str, ReadOptions]) -> IngestReport:
            corpus_id = context.params["corpus_id"]
            return work.extend(corpus_id, sources, options, progress=context.progress, cancelled=context.cancelled)

        return _with_held_files(context, add)

    def _with_held_files(
        context: JobContext,
        add: Callable[[Sequence[SourceFile], Mapping[str, ReadOptions]], IngestReport],
    ) -> Mapping[str, Any]:
        files, holder = context.params["files"], context.params["holder"]
        added = context.finished_items().get("corpus")
        if added is None:
            sources = [SourceFile(file["name"], workspace.files.held(file["sha256"], holder)) for file in files]
            options = {name: options_of(data) for name, data in context.params.get("options", {}).items()}
            added = {"corpus_id": add(sources, options).corpus_id}
            context.finish_item("corpus", added)
        for file in files:
            workspace.files.let_go(file["sha256"], holder)
        _try_report(context, added["corpus_id"])
        return added

    def rechunk(context: JobContext) -> Mapping[str, Any]:
        chunking = chunking_of(dict(context.params["chunking"]))
        corpus_id = context.params["corpus_id"]
        workspace.corpora.rechunk(corpus_id, chunking, progress=context.progress, cancelled=context.cancelled)
        _try_report(context, corpus_id)
        return {"corpus_id": corpus_id}

    def remove(context: JobContext) -> Mapping[str, Any]:
        corpus_id, document_ids = context.params["corpus_id"], context.params["document_ids"]
        there = {document.document_id for document in workspace.corpora.documents(corpus_id)}
        document_ids = [one for one in document_ids if one in there]  # a job that goes on has removed some
        work.remove_documents(corpus_id, document_ids, progress=context.progress, cancelled=context.cancelled)
        _try_report(context, corpus_id)
        return {"corpus_id": corpus_id}

    def report(context: JobContext) -> Mapping[str, Any]:
        corpus = workspace.corpora.get(context.params["corpus_id"])
        work.make_report(corpus, progress=context.progress, cancelled=context.cancelled)
        return {"corpus_id": corpus.corpus_id}

    def _try_report(context: JobContext, corpus_id: str) -> None:
        # The corpus is there and usable, whoever stops the report, deletes the corpus or its tokenizer meanwhile.
        with contextlib.suppress(RagduelError):
            corpus = workspace.corpora.get(corpus_id)
            work.make_report(corpus, progress=context.progress, cancelled=context.cancelled)

    return {"ingest": ingest, "extend": extend, "rechunk": rechunk, "remove": remove, "report": report}
