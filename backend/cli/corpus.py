"""``ragduel corpus …``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from backend.cli.output import ProgressLine, note, print_json, say, table
from backend.cli.workspace import open_workspace
from backend.corpus import (
    Chunking,
    ChunkStrategy,
    Corpus,
    IngestReport,
    ReadOptions,
    SizeUnit,
    SkippedFile,
    SourceFile,
    read_paths,
)
from backend.errors import InputError, NotFoundError
from backend.reporting import report_csv, report_html, report_json
from backend.workspace import Workspace, default_chunking

app = typer.Typer(no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
Name = Annotated[str, typer.Argument(help="Name or id of the corpus.")]
Paths = Annotated[list[Path], typer.Argument(help="Files, folders, ZIP archives, or a BEIR folder.")]

Chunker = Annotated[ChunkStrategy | None, typer.Option("--chunker", help="How documents are cut.")]
Size = Annotated[int | None, typer.Option("--size", "--chunk-tokens", help="Most tokens (or characters) in a chunk.")]
Overlap = Annotated[int | None, typer.Option("--overlap", "--overlap-tokens", help="What neighbours share.")]
MinSize = Annotated[int | None, typer.Option("--min-size", help="Shorter chunks join a neighbour.")]
Unit = Annotated[SizeUnit | None, typer.Option("--unit", help="What sizes are counted in.")]
TokenizerName = Annotated[str | None, typer.Option("--tokenizer", help="Local model whose tokenizer counts.")]
Whole = Annotated[bool, typer.Option("--whole", help="Keep each document or record as one chunk.")]

TextColumns = Annotated[list[str] | None, typer.Option("--text-column", help="CSV column or JSON field; repeatable.")]
TitleColumn = Annotated[str | None, typer.Option("--title-column", help="Put before the text; empty: none.")]
IdColumn = Annotated[str | None, typer.Option("--id-column", help="Names each record; empty: none.")]
MetadataColumns = Annotated[list[str] | None, typer.Option("--metadata-column", help="Kept beside; repeatable.")]
Delimiter = Annotated[str, typer.Option(help="Of CSV files; by default told from the content. \\t is a tab.")]
Encoding = Annotated[str, typer.Option(help="Of text files, as windows-1252; by default told from the content.")]


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Name of the new corpus.")],
    paths: Paths,
    chunker: Chunker = None,
    size: Size = None,
    overlap: Overlap = None,
    min_size: MinSize = None,
    unit: Unit = None,
    tokenizer: TokenizerName = None,
    whole: Whole = False,
    text_column: TextColumns = None,
    title_column: TitleColumn = None,
    id_column: IdColumn = None,
    metadata_column: MetadataColumns = None,
    delimiter: Delimiter = "",
    encoding: Encoding = "",
    as_json: Json = False,
) -> None:
    """Read files into a new corpus; what can't be read is named, and the rest goes on."""
    chosen = ReadOptions(
        encoding, _tab(delimiter), tuple(text_column or ()), title_column, id_column, tuple(metadata_column or ())
    )
    strategy = ChunkStrategy.WHOLE if whole else chunker
    with open_workspace() as workspace:
        sources, skipped = _find(workspace, paths)
        chunking = _chunking(default_chunking(workspace.settings), strategy, size, overlap, min_size, unit, tokenizer)
        report = workspace.corpus_work.add(name, sources, chunking, {"": chosen}, progress=ProgressLine())
        _tell(name, report, skipped, as_json)


@app.command("extend")
def extend(
    corpus: Name,
    paths: Paths,
    text_column: TextColumns = None,
    title_column: TitleColumn = None,
    id_column: IdColumn = None,
    metadata_column: MetadataColumns = None,
    delimiter: Delimiter = "",
    encoding: Encoding = "",
    as_json: Json = False,
) -> None:
    """Add files to a corpus, cut like the others; only what is new is embedded later."""
    chosen = ReadOptions(
        encoding, _tab(delimiter), tuple(text_column or ()), title_column, id_column, tuple(metadata_column or ())
    )
    with open_workspace() as workspace:
        found = workspace.corpora.get(corpus)
        sources, skipped = _find(workspace, paths)
        report = workspace.corpus_work.extend(found.corpus_id, sources, {"": chosen}, progress=ProgressLine())
        _tell(found.name, report, skipped, as_json)


@app.command("rechunk")
def rechunk(
    corpus: Name,
    chunker: Chunker = None,
    size: Size = None,
    overlap: Overlap = None,
    min_size: MinSize = None,
    unit: Unit = None,
    tokenizer: TokenizerName = None,
    as_json: Json = False,
) -> None:
    """Cut a corpus anew: a new version; finished duels stay as they were."""
    with open_workspace() as workspace:
        found = workspace.corpora.get(corpus)
        chunking = _chunking(found.chunking, chunker, size, overlap, min_size, unit, tokenizer)
        after = workspace.corpora.rechunk(found.corpus_id, chunking, progress=ProgressLine())
    if as_json:
        print_json(_document(after))
    else:
        say(f"{after.name}: {after.n_chunks} chunks, before {found.n_chunks} (version {after.version_id[:8]})")


@app.command("remove")
def remove(
    corpus: Name,
    documents: Annotated[list[str], typer.Argument(help="Names or ids of documents.")],
    as_json: Json = False,
) -> None:
    """Remove documents from a corpus, with all that derives from them."""
    with open_workspace() as workspace:
        found = workspace.corpora.get(corpus)
        known = {key: d for d in workspace.corpora.documents(found.corpus_id) for key in (d.name, d.document_id)}
        if missing := [name for name in documents if name not in known]:
            raise NotFoundError(
                f"The corpus “{found.name}” has no document “{missing[0][:200]}”.",
                hint=f"ragduel corpus show {found.corpus_id} lists them.",
            )
        ids = [known[name].document_id for name in documents]
        after = workspace.corpus_work.remove_documents(found.corpus_id, ids, progress=ProgressLine())
    if as_json:
        print_json(_document(after))
    else:
        say(f"{after.name}: {after.n_documents} documents, {after.n_chunks} chunks are left")


@app.command("rename")
def rename(corpus: Name, new_name: Annotated[str, typer.Argument(help="The new name.")], as_json: Json = False) -> None:
    """Give a corpus another name."""
    with open_workspace() as workspace:
        after = workspace.corpora.rename(corpus, new_name)
    if as_json:
        print_json(_document(after))
    else:
        say(f"{after.corpus_id} is now named {after.name}")


@app.command("report")
def report_on(
    corpus: Name,
    output: Annotated[Path | None, typer.Option(help="Write to this .html, .csv or .json file.")] = None,
    as_json: Json = False,
) -> None:
    """The quality report: what was read and skipped, duplicates, languages, lengths."""
    if output is not None and output.suffix.lower() not in (".html", ".csv", ".json"):
        raise InputError(f"A report is not written as {output.name}.", hint="End the name in .html, .csv or .json.")
    with open_workspace() as workspace:
        found = workspace.corpora.get(corpus)
        report = workspace.corpus_work.make_report(found, progress=ProgressLine())
    if output is not None:
        kinds = {".html": lambda: report_html(report, found.name), ".csv": lambda: report_csv(report)}
        output.write_bytes(kinds.get(output.suffix.lower(), lambda: report_json(report))())
        note(f"Written: {output}")
    if as_json:
        print_json(report.to_data())
    elif output is None:
        for finding in report.findings:
            say(f"{finding.severity}: {finding.text}")


@app.command("list")
def list_all(as_json: Json = False) -> None:
    """All corpora."""
    with open_workspace() as workspace:
        corpora = workspace.corpora.list()
    if as_json:
        print_json([_document(corpus) for corpus in corpora])
    elif not corpora:
        say("There is no corpus yet. Add one: ragduel corpus add NAME PATH…, or the sample: ragduel prepare")
    else:
        table(
            ("ID", "NAME", "DOCUMENTS", "CHUNKS", "LEFT OUT"),
            [
                (c.corpus_id, c.name, str(c.n_documents), str(c.n_chunks), str(len(c.skipped)))
                for c in corpora
            ],
        )  # fmt: skip


@app.command("show")
def show(corpus: Name, as_json: Json = False) -> None:
    """One corpus with its documents."""
    with open_workspace() as workspace:
        found = workspace.corpora.get(corpus)
        documents = workspace.corpora.documents(found.corpus_id)
    if as_json:
        listed = [
            {"document_id": d.document_id, "name": d.name, "media_type": d.media_type, "n_chars": d.n_chars,
             "encoding": d.facts.encoding, "n_pages": d.facts.n_pages, "n_records": d.facts.n_records,
             "warnings": list(d.warnings)}
            for d in documents
        ]  # fmt: skip
        print_json({**_document(found), "document_list": listed})
        return
    say(f"{found.name} ({found.corpus_id}): {found.n_documents} documents, {found.n_chunks} chunks")
    table(("DOCUMENT", "TYPE", "CHARACTERS"), [(d.name, d.media_type, str(d.n_chars)) for d in documents])
    for one in found.skipped:
        say(f"Left out {one.file}: {one.reason}")


@app.command("delete")
def delete(corpus: Name, as_json: Json = False) -> None:
    """Delete a corpus with its vectors and indexes; duels and verdicts on it stay readable."""
    with open_workspace() as workspace:
        found = workspace.corpora.get(corpus)
        workspace.corpus_work.delete(found.corpus_id)
    if as_json:
        print_json({"deleted": found.corpus_id, "name": found.name})
    else:
        say(f"Deleted {found.name} ({found.corpus_id}).")


def _find(workspace: Workspace, paths: Sequence[Path]) -> tuple[list[SourceFile], list[SkippedFile]]:
    settings = workspace.settings
    return read_paths(paths, max_files=settings.max_files, max_file_bytes=settings.max_upload_mb * 1_000_000)


def _chunking(
    before: Chunking,
    strategy: ChunkStrategy | None,
    size: int | None,
    overlap: int | None,
    min_size: int | None,
    unit: SizeUnit | None,
    tokenizer: str | None,
) -> Chunking:
    """What was said over what holds otherwise; an overlap that nobody gave shrinks with the size."""
    chosen_size = before.size if size is None else size
    chosen_overlap = min(before.overlap, max(0, chosen_size // 5)) if overlap is None and size is not None else overlap
    cutting = strategy or before.strategy
    if cutting is ChunkStrategy.TOKENS and unit is SizeUnit.CHARACTERS:
        raise InputError(
            "The chunker “tokens” counts tokens, not characters.",
            hint="Leave --unit out, or choose --chunker recursive, sentences or headings.",
        )
    return Chunking(
        size=chosen_size,
        overlap=before.overlap if chosen_overlap is None else chosen_overlap,
        strategy=cutting,
        min_size=before.min_size if min_size is None else min_size,
        unit=SizeUnit.TOKENS if cutting is ChunkStrategy.TOKENS else unit or before.unit,
        tokenizer=tokenizer or before.tokenizer,
    )


def _tab(delimiter: str) -> str:
    return {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)


def _tell(name: str, report: IngestReport, skipped: Sequence[SkippedFile], as_json: bool) -> None:
    left_out = [*skipped, *report.skipped]
    if as_json:
        print_json(
            {
                "corpus_id": report.corpus_id,
                "documents": report.documents,
                "chunks": report.chunks,
                "skipped": [asdict(one) for one in left_out],
                "warnings": list(report.warnings),
            }
        )
        return
    say(f"{name}: {report.documents} documents, {report.chunks} chunks ({report.corpus_id})")
    for one in left_out:
        note(f"Left out {one.file}: {one.reason}")
    for warning in report.warnings:
        note(f"Warning: {warning}")


def _document(corpus: Corpus) -> dict[str, Any]:
    return {
        "corpus_id": corpus.corpus_id,
        "name": corpus.name,
        "version_id": corpus.version_id,
        "documents": corpus.n_documents,
        "chunks": corpus.n_chunks,
        "chunking": asdict(corpus.chunking),
        "is_sample": corpus.is_sample,
        "created_at": corpus.created_at,
        "suggested_queries": list(corpus.suggested_queries),
        "skipped": [asdict(one) for one in corpus.skipped],
        "warnings": list(corpus.warnings),
    }
