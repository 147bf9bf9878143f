"""The commands and what an error becomes."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from backend.cli import corpus, duel, models, service
from backend.cli.output import EXIT_INPUT, EXIT_PROVIDER, note, print_json
from backend.errors import ProviderError, RagduelError

# Typer names only some of what it raises for wrong words; they all derive from this.
_WrongWords: Any = typer.BadParameter.__bases__[0]

app = typer.Typer(
    name="ragduel",
    help="Pick an embedding model for retrieval on your own documents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(corpus.app, name="corpus", help="Add, extend, cut anew, list, show and delete corpora.")
app.command("models")(models.models)
app.command("duel")(duel.duel)
app.command("score")(models.score)
app.command("serve")(service.serve)
app.command("prepare")(service.prepare)
app.command("doctor")(service.doctor)
app.command("llm")(service.llm)


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    if version:
        from backend import __version__

        typer.echo(__version__)
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run a command; errors for people end it with their exit code, in JSON too where ``--json`` was asked."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        code = app(args=words, standalone_mode=False)
    except typer.Abort:
        note("Stopped.")
        raise SystemExit(1) from None
    except _WrongWords as error:
        if "--json" in words:
            print_json({"error": error.format_message(), "hint": "Add --help to the command."})
        error.show()
        raise SystemExit(EXIT_INPUT) from None
    except RagduelError as error:
        if "--json" in words:
            document: dict[str, Any] = {"error": error.message, "hint": error.hint}
            print_json(document)
        note(f"Error: {error}")
        raise SystemExit(EXIT_PROVIDER if isinstance(error, ProviderError) else EXIT_INPUT) from None
    if isinstance(code, int) and code:  # a command ended early, having said why
        raise SystemExit(code)
