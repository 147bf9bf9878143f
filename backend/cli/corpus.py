"""``ragduel corpus …``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from backend.cli.output import ProgressLine, note, print_json, say, table
from backend.cli.workspace import open_workspace
from backend.corpus import Chunking, Corpus, read_paths

app = typer.Typer(no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Name of the new corpus.")],
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.")],
    chunk_tokens: Annotated[int | None, typer.Option(help="Chunk size in tokens.")] = None,
    overlap_tokens: Annotated[int | None, typer.Option(help="Tokens that neighbours share.")] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Keep each document as one chunk.")] = False,
    as_json: Json = False,
) -> None:
    """Read files into a new corpus; what can't be read is named, and the rest goes on."""
    with open_workspace() as workspace:
        settings = workspace.settings
        sources, skipped = read_paths(
            paths, max_files=settings.max_files, max_file_bytes=settings.max_upload_mb * 1_000_000
        )  # fmt: skip
        chunking = Chunking(
            settings.chunk_tokens if chunk_tokens is None else chunk_tokens,
            settings.chunk_overlap_tokens if overlap_tokens is None else overlap_tokens,
            whole,
        )
        report = workspace.corpora.add(name, sources, chunking, progress=ProgressLine())
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
def show(corpus: Annotated[str, typer.Argument(help="Name or id.")], as_json: Json = False) -> None:
    """One corpus with its documents."""
    with open_workspace() as workspace:
        found = workspace.corpora.get(corpus)
        documents = workspace.corpora.documents(found.corpus_id)
    if as_json:
        listed = [
            {"document_id": d.document_id, "name": d.name, "media_type": d.media_type, "n_chars": d.n_chars,
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
def delete(corpus: Annotated[str, typer.Argument(help="Name or id.")], as_json: Json = False) -> None:
    """Delete a corpus; duels and verdicts on it stay readable."""
    with open_workspace() as workspace:
        found = workspace.corpora.get(corpus)
        workspace.corpora.delete(found.corpus_id)
    if as_json:
        print_json({"deleted": found.corpus_id, "name": found.name})
    else:
        say(f"Deleted {found.name} ({found.corpus_id}).")


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
