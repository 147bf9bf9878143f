"""How documents are cut: the choices, checked at once, and the preview of what comes of them."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from backend.corpus.chunking import check_chunking
from backend.corpus.types import Chunking, ChunkStrategy, SizeUnit
from backend.errors import InputError
from backend.ui.chunk_preview import preview
from backend.ui.text import label
from backend.workspace import Workspace

__all__ = ["controls", "in_words", "preview"]

STRATEGY_WORDS = {
    ChunkStrategy.TOKENS: (
        "Even sizes",
        "As full as they fit, ending at a paragraph, sentence or word. Suits most texts.",
    ),
    ChunkStrategy.SENTENCES: (
        "Whole sentences",
        "As many whole sentences as fit. A sentence is cut only if it alone is too long.",
    ),
    ChunkStrategy.RECURSIVE: (
        "By structure",
        "Paragraphs stay together where they fit, then lines, sentences, words.",
    ),
    ChunkStrategy.HEADINGS: (
        "By headings",
        "Each part under a heading, page or sheet on its own. Long parts are cut further.",
    ),
    ChunkStrategy.WHOLE: (
        "Whole documents",
        "Each document, or row of a table, is one chunk. Models cut what they can't read.",
    ),
}
_UNIT_WORDS = {SizeUnit.TOKENS: "tokens", SizeUnit.CHARACTERS: "characters"}
_CHARS_PER_TOKEN = 5  # roughly, to carry a size over to the other unit
_LARGEST = 100_000
_NUMBERS = (("size", "Size at most"), ("overlap", "Overlap"), ("least", "Size at least"))


def in_words(chunking: Chunking) -> str:
    """A chunking in one line, as plain text."""
    if chunking.strategy is ChunkStrategy.WHOLE:
        return "whole documents"
    unit = "tokens" if chunking.counts_tokens else "characters"
    words = f"{STRATEGY_WORDS[chunking.strategy][0].lower()}, at most {chunking.size:,} {unit}"
    shared = f", {chunking.overlap:,} shared" if chunking.overlap else ""
    least = f", at least {chunking.min_size:,}" if chunking.min_size else ""
    return words + shared + least


def controls(ws: Workspace, before: Chunking, key_prefix: str) -> Chunking | None:
    """Draw the choices.

    Args:
        ws: Knows the tokenizers that are here.
        before: What is chosen at first.
        key_prefix: Of the widgets: what is chosen under another prefix is another choice.

    Returns:
        What is chosen; None where it can't be used, which is told then.
    """
    picked = st.radio(
        "Way of cutting",
        list(ChunkStrategy),
        index=list(ChunkStrategy).index(before.strategy),
        format_func=lambda one: STRATEGY_WORDS[one][0],
        captions=[STRATEGY_WORDS[one][1] for one in ChunkStrategy],
        key=f"{key_prefix}_strategy",
        persist_state="session",
    )
    strategy = picked if picked is not None else before.strategy
    if strategy is ChunkStrategy.WHOLE:
        return Chunking(strategy=strategy)
    unit = SizeUnit.TOKENS if strategy is ChunkStrategy.TOKENS else _unit(before, f"{key_prefix}_unit")
    size, overlap, least = _numbers(before, unit, key_prefix)
    chunking = Chunking(size, overlap, strategy, least, unit, before.tokenizer)
    if chunking.counts_tokens:
        tokenizer = _tokenizer(ws, before, f"{key_prefix}_tokenizer")
        if tokenizer is None:
            return None
        chunking = replace(chunking, tokenizer=tokenizer)
    try:
        check_chunking(chunking)
    except InputError as error:
        st.error(label(f"{error.message} {error.hint}"), icon=":material/error:")
        return None
    return chunking


_HELP = {
    "size": "No chunk is larger. A model with a short reading length cuts what is longer; the preview counts it.",
    "overlap": "What neighbouring chunks share, so that a thought at the border is whole in one of them.",
    "least": "A shorter chunk joins its neighbour where both fit into one. 0: no minimum.",
}


def _numbers(before: Chunking, unit: SizeUnit, key_prefix: str) -> tuple[int, int, int]:
    """Size, overlap and minimum; each unit keeps its own, so that 1,000 characters never become 1,000 tokens."""
    before_unit = SizeUnit.TOKENS if before.counts_tokens else before.unit
    scale = 1.0 if unit is before_unit else float(_CHARS_PER_TOKEN)
    if unit is SizeUnit.TOKENS:
        scale = 1 / scale
    chosen = []
    values = (before.size, before.overlap, before.min_size)
    for column, (name, title), value in zip(st.columns(3), _NUMBERS, values, strict=True):
        smallest = 1 if name == "size" else 0
        chosen.append(
            column.number_input(
                f"{title} ({_UNIT_WORDS[unit]})",
                min_value=smallest,
                max_value=_LARGEST,
                value=min(max(round(value * scale), smallest), _LARGEST),
                step=10 if unit is SizeUnit.TOKENS else 50,
                key=f"{key_prefix}_{name}_{unit}",
                help=_HELP[name],
                persist_state="session",
            )
        )
    size, overlap, least = map(int, chosen)
    return size, overlap, least


def _unit(before: Chunking, key: str) -> SizeUnit:
    return st.segmented_control(
        "Counted in",
        list(SizeUnit),
        default=before.unit,
        required=True,
        format_func=lambda one: _UNIT_WORDS[one],
        key=key,
        persist_state="session",
    )


def _tokenizer(ws: Workspace, before: Chunking, key: str) -> str | None:
    names = ws.tokenizers.names()
    if not names:
        st.error("No tokenizer is on this machine. Count characters instead, or run make install.")
        return None
    if key in st.session_state and st.session_state[key] not in names:
        del st.session_state[key]
    return st.selectbox(
        "Tokens of",
        names,
        index=names.index(before.tokenizer) if before.tokenizer in names else 0,
        key=key,
        help="Each model counts its own tokens. Choose the tokenizer of the model that reads least.",
        persist_state="session",
    )
