"""``ragduel duel``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from backend.cli.output import EXIT_PROVIDER, ProgressLine, note, print_json, say
from backend.cli.workspace import keys_for, open_workspace
from backend.judging import JudgeKind, Outcome, StoredVerdict
from backend.reporting import duel_document
from backend.retrieval import Duel, HydeSettings, RankedList
from backend.workspace import DuelRequest, JudgeChoice


class JudgeOption(StrEnum):
    """Who judges."""

    LIKELIHOOD = "likelihood"
    LLM = "llm"
    NONE = "none"


def duel(
    corpus: Annotated[str, typer.Argument(help="Name or id of a corpus.")],
    query: Annotated[str, typer.Argument(help="The query.")],
    a: Annotated[str, typer.Option("--a", help="Model A: a key of the registry.")],
    b: Annotated[str, typer.Option("--b", help="Model B.")],
    k: Annotated[int, typer.Option("-k", help="Hits a side.")] = 5,
    hyde: Annotated[bool, typer.Option("--hyde", help="Expand the query with hypothetical passages.")] = False,
    passages: Annotated[int, typer.Option(help="Passages to write, with --hyde.", min=1, max=16)] = 1,
    passage_alone: Annotated[bool, typer.Option("--passage-alone", help="With --hyde: leave the query out.")] = False,
    judge: Annotated[
        JudgeOption | None,
        typer.Option(help="Default: llm where --judge-url or --judge-model is given, else likelihood."),
    ] = None,
    judge_url: Annotated[str, typer.Option(help="Base URL of an OpenAI-compatible chat endpoint.")] = "",
    judge_model: Annotated[str, typer.Option(help="Chat model there.")] = "",
    one_order: Annotated[bool, typer.Option("--one-order", help="Ask one order only (position bias stays).")] = False,
    rank: Annotated[int, typer.Option(help="Rank that is judged.", min=1)] = 1,
    lists: Annotated[bool, typer.Option("--lists", help="Judge the two top-k lists instead of one rank.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Ask anew where a stored reply could not be used; it is paid again.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Retrieve with two models side by side, and have a blind judge say which serves the query better."""
    settings = HydeSettings(passages, not passage_alone) if hyde else None
    request = DuelRequest(corpus, query, a, b, k, settings)
    chosen = judge or (JudgeOption.LLM if judge_url or judge_model else JudgeOption.LIKELIHOOD)
    with open_workspace() as workspace:
        fought = workspace.duel(request, progress=ProgressLine())
        stored = None
        if chosen is not JudgeOption.NONE:
            choice = JudgeChoice(
                JudgeKind(chosen.value),
                judge_url,
                judge_model,
                both_orders=not one_order,
                rank=None if lists else rank,
                again=again,
            )
            ProgressLine()("Asking the judge", 0, 1)
            stored = workspace.judge(fought.duel_id, choice, keys_for(judge_url))
    if as_json:
        print_json(duel_document(fought, stored))
    else:
        _print(fought, stored)
    if stored and stored.verdict.outcome is Outcome.UNSCORED and stored.verdict.provider_failed:
        raise typer.Exit(EXIT_PROVIDER)


def _print(fought: Duel, stored: StoredVerdict | None) -> None:
    if fought.expansion and fought.expansion.failure:
        note(f"HyDE failed, so the plain query was used: {fought.expansion.failure}")
    for side, found in (("A", fought.a), ("B", fought.b)):
        say(f"\n{side}: {found.model}   (encode {found.encode_ms:.0f} ms, search {found.search_ms:.1f} ms)")
        _print_hits(found, fought.shared_chunks())
    if stored:
        verdict = stored.verdict
        winner = {Outcome.A: fought.a.model, Outcome.B: fought.b.model}.get(verdict.outcome)
        say(f"\nVerdict: {f'{winner} wins' if winner else verdict.outcome.value}. {verdict.reason}")
    say(f"Duel {fought.duel_id}")


def _print_hits(found: RankedList, shared: frozenset[str]) -> None:
    for hit in found.hits:
        mark = " (both)" if hit.chunk_id in shared else ""
        place = f", {hit.place}" if hit.place else ""
        say(f"  {hit.rank}. {hit.score:.3f}  {hit.document}{place}{mark}")
        say("     " + " ".join(hit.text.split())[:160])
