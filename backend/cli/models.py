"""``ragduel models`` and ``ragduel score``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from backend.cli.output import ProgressLine, note, print_json, say, table
from backend.cli.workspace import open_workspace
from backend.embedding import availability
from backend.errors import InputError

Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


def models(
    download: Annotated[str, typer.Option("--download", metavar="KEY", help="Fetch a hub model first.")] = "",
    as_json: Json = False,
) -> None:
    """The embedding models of the registry, and whether each can be used now."""
    with open_workspace() as workspace:
        if download:
            note(f"Downloading {download} …")
            workspace.download(download)
        rows = [(spec, availability(spec, workspace.settings)) for spec in workspace.registry.list()]
    if as_json:
        print_json(
            [{**spec.as_json(), "state": str(found.state), "how_to_get": found.how_to_get} for spec, found in rows]
        )  # fmt: skip
        return
    table(
        ("KEY", "MODEL", "DIM", "MAX TOKENS", "LICENCE", "STATE"),
        [
            (s.key, s.name, str(s.dimension or "?"), str(s.max_tokens or "no limit"), s.licence, str(found.state))
            for s, found in rows
        ],
    )
    for spec, found in rows:
        if found.how_to_get:
            note(f"{spec.key}: {found.how_to_get}")
        if spec.caution:
            note(f"{spec.key}: {spec.caution}")


def score(
    folder: Annotated[Path, typer.Argument(help="A BEIR folder: corpus.jsonl, queries.jsonl, qrels/<split>.tsv.")],
    model: Annotated[str, typer.Option("--model", help="Registry keys, separated by commas.")],
    split: Annotated[str, typer.Option(help="Which qrels.")] = "test",
    k: Annotated[int, typer.Option("-k", help="Cutoff of nDCG and reciprocal rank.", min=1)] = 10,
    as_json: Json = False,
) -> None:
    """Score embedding models with relevance judgements, through the app's own encoders and index."""
    keys = [key.strip() for key in model.split(",") if key.strip()]
    if not keys:
        raise InputError("--model names no model.", hint="ragduel models lists them.")
    with open_workspace() as workspace:
        scores = workspace.score(folder, keys, split=split, k=k, progress=ProgressLine())
    if as_json:
        print_json({key: found.means for key, found in scores.items()})
    else:
        names = list(next(iter(scores.values())).means)
        table(
            ("MODEL", *names),
            [(key, *(f"{found.means[name]:.4f}" for name in names)) for key, found in scores.items()],
        )
        say(f"{next(iter(scores.values())).n_queries} queries")
    for key, found in scores.items():
        if found.n_unembedded or found.n_failed_queries:
            note(f"{key}: {found.n_unembedded} documents and {found.n_failed_queries} queries have no vector.")
        if found.n_cut:
            note(f"{key}: {found.n_cut} documents are longer than the model reads and were cut.")
