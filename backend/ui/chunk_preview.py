"""What a way of cutting makes of a text, at once: chunks in colour, how long they are, and what models would cut."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import streamlit as st

from backend.corpus.chunking import chunk_spans
from backend.corpus.files import Section
from backend.corpus.types import Chunking, ChunkStrategy
from backend.embedding import OFFLINE_DEFAULTS
from backend.errors import InputError
from backend.ui import model_facts
from backend.ui.marked_text import chunk_marks, marked
from backend.ui.text import count, label
from backend.workspace import Workspace

PREVIEW_CHARS = 20_000
_MOST_BINS = 24


@dataclass(frozen=True, slots=True)
class Cut:
    """The chunks of a text's beginning.

    Attributes:
        text: What was cut.
        spans: (start, end, place) of each chunk.
        n_tokens: Of each chunk, in the tokenizer that counts; empty where there is none.
        is_part: Whether the text goes on behind it.
    """

    text: str
    spans: tuple[tuple[int, int, str], ...]
    n_tokens: tuple[int, ...]
    is_part: bool

    @property
    def texts(self) -> list[str]:
        """Of the chunks."""
        return [self.text[start:end] for start, end, _ in self.spans]


def preview(ws: Workspace, text: str, sections: Sequence[Section], chunking: Chunking, key_prefix: str) -> None:
    """Draw the preview.

    Args:
        ws: Knows tokenizers and models.
        text: A document's text, or its beginning; the first ``PREVIEW_CHARS`` characters of it are cut.
        sections: Those that begin there.
        chunking: How to cut; checked before.
        key_prefix: Of the widgets.
    """
    if not text.strip():
        st.caption("There is no text to show.")
        return
    digest = hashlib.sha256(repr((text[: PREVIEW_CHARS + 1], sections)).encode("utf-8", "surrogatepass")).hexdigest()
    try:
        cut = _cut(ws, text, sections, chunking, digest, repr(chunking))
    except InputError as error:
        st.error(label(f"{error.message} {error.hint}"), icon=":material/error:")
        return
    _facts(cut, chunking)
    _limits(ws, cut, digest, repr(chunking), key_prefix)
    if len(set(cut.n_tokens)) > 1:
        _histogram(cut.n_tokens)
    titles = [_title(at, cut) for at in range(len(cut.spans))]
    shown = cut.text[: cut.spans[-1][1]] if cut.spans else cut.text
    marked(shown, chunk_marks([span[:2] for span in cut.spans], titles), name="Chunks in the text")
    st.caption(
        "Each chunk begins with its number. Striped: two chunks share it. Point at a chunk for place and length."
    )


def cut_beginning(text: str, sections: Sequence[Section], chunking: Chunking, ws: Workspace) -> Cut:
    """Cut the beginning of a text; a last chunk that the end of the preview cuts off is left out.

    Raises:
        InputError: The chunking can't be used, or its tokenizer is not here.
    """
    is_part = len(text) > PREVIEW_CHARS
    beginning = text[:PREVIEW_CHARS]
    inside = [
        replace(section, end=min(section.end, len(beginning))) for section in sections if section.start < len(beginning)
    ]
    tokenizer = ws.tokenizers.get(chunking.tokenizer) if chunking.counts_tokens else None
    spans = chunk_spans(beginning, inside, chunking, tokenizer)
    if is_part and len(spans) > 1:
        spans = spans[:-1]
    counter = tokenizer
    if counter is None and (names := ws.tokenizers.names()):
        counter = ws.tokenizers.get(names[0])
    n_tokens = tuple(len(counter.spans(beginning[start:end])) for start, end, _ in spans) if counter else ()
    return Cut(beginning, tuple(spans), n_tokens, is_part)


@st.cache_data(max_entries=64, show_spinner=False)
def _cut(_ws: Workspace, _text: str, _sections: Sequence[Section], _chunking: Chunking, digest: str, way: str) -> Cut:
    """By content: the digest of text and sections, and the chunking in words, are the key."""
    return cut_beginning(_text, _sections, _chunking, _ws)


def _title(at: int, cut: Cut) -> str:
    parts = [f"Chunk {at + 1}", cut.spans[at][2]]
    if cut.n_tokens:
        parts.append(count(cut.n_tokens[at], "token"))
    return " · ".join(part for part in parts if part)


def _facts(cut: Cut, chunking: Chunking) -> None:
    if cut.n_tokens:
        lengths, unit = cut.n_tokens, "tokens"
    else:
        lengths, unit = tuple(end - start for start, end, _ in cut.spans), "characters"
    parts = [count(len(cut.spans), "chunk")]
    if len(lengths) > 1:
        middle = median(lengths)
        parts.append(f"shortest {min(lengths):,}, median {middle:,.0f}, longest {max(lengths):,} {unit}")
    elif lengths:
        parts.append(f"{lengths[0]:,} {unit}")
    st.markdown(f"**{parts[0]}** · " + " · ".join(parts[1:]) if len(parts) > 1 else f"**{parts[0]}**")
    if cut.is_part:
        whole = chunking.strategy is ChunkStrategy.WHOLE and len(cut.spans) == 1
        st.caption(f"Of the first {PREVIEW_CHARS:,} characters." + (" The chunk goes on behind them." if whole else ""))


def _limits(ws: Workspace, cut: Cut, digest: str, way: str, key_prefix: str) -> None:
    """How many of these chunks each chosen model would cut."""
    ready = {key: one.spec for key, one in model_facts.model_states(ws).items() if one.ready}
    if not ready:
        return
    key = f"{key_prefix}_models"
    if key in st.session_state:
        st.session_state[key] = [name for name in st.session_state[key] if name in ready]
    chosen = st.multiselect(
        "Models that read these chunks",
        list(ready),
        default=[name for name in OFFLINE_DEFAULTS if name in ready] or list(ready)[:2],
        key=key,
        persist_state="session",
    )
    counts = _over_limits(ws, cut, tuple(chosen), digest, way, tuple(ready[name].fingerprint for name in chosen))
    n_chunks = len(cut.spans)
    for name, n in counts.items():
        limit = model_facts.facts(ready[name])["Reads at most"]
        if n is None:
            st.caption(f":material/help: **{label(name)}**: only its server knows what it cuts.")
        elif n:
            st.caption(
                f":material/warning: **{label(name)}** reads at most {limit}: it would cut **{n:,} of {n_chunks:,}**."
            )
        else:
            st.caption(f":material/check: **{label(name)}** reads {limit}: it would cut none.")


@st.cache_data(max_entries=64, show_spinner=False)
def _over_limits(
    _ws: Workspace, _cut: Cut, names: tuple[str, ...], digest: str, way: str, fingerprints: tuple[str, ...]
) -> dict[str, int | None]:
    """By content, as ``_cut``, and by the models' fingerprints."""
    return _ws.corpus_work.over_limits(_cut.texts, names)


def _histogram(n_tokens: Sequence[int]) -> None:
    import altair as alt
    import pandas as pd

    bins = token_bins(n_tokens)
    frame = pd.DataFrame(bins, columns=["from", "to", "chunks"])
    chart = (
        alt.Chart(frame, height=140)
        .mark_bar()
        .encode(
            x=alt.X("from:Q", bin="binned", title="Tokens in a chunk", axis=alt.Axis(format="d", tickMinStep=1)),
            x2="to",
            y=alt.Y("chunks:Q", title="Chunks", axis=alt.Axis(format="d", tickMinStep=1)),
            tooltip=[alt.Tooltip("from:Q", title="from"), alt.Tooltip("to:Q", title="below"), "chunks:Q"],
        )
    )
    told = "; ".join(f"{start} to {end - 1}: {n}" for start, end, n in bins if n)
    st.altair_chart(chart, alt=f"Histogram of tokens in a chunk. {told}.")


def token_bins(n_tokens: Sequence[int]) -> list[tuple[int, int, int]]:
    """A histogram of whole numbers: (first, one past the last, how many) of at most 24 bins of the same width."""
    low, high = min(n_tokens), max(n_tokens)
    width = -(-(high - low + 1) // _MOST_BINS)
    counts = [0] * ((high - low) // width + 1)
    for n in n_tokens:
        counts[(n - low) // width] += 1
    return [(low + at * width, low + (at + 1) * width, n) for at, n in enumerate(counts)]
