"""Two ranked lists side by side, rank beside rank; on a phone one under the other."""

from __future__ import annotations

import streamlit as st

from backend.judging.types import Side
from backend.retrieval.types import Duel, Hit, RankedList
from backend.ui import context_link
from backend.ui.sides import Sides
from backend.ui.text import count, label, passage


def show(sides: Sides, *, in_context: bool = True) -> None:
    """Draw both lists: names, timings and scores only once revealed, since they tell which model it is.

    Args:
        sides: The duel and how it is shown.
        in_context: Whether the documents are still there, to be opened at a hit.
    """
    if sides.revealed:
        for column, side in zip(st.columns(2), sides.order, strict=True):
            with column:
                _head(sides, side)
    shared = sides.duel.shared_chunks()
    depth = max(len(sides.duel.a.hits), len(sides.duel.b.hits))
    for index in range(depth):
        for column, side in zip(st.columns(2), sides.order, strict=True):
            hits = sides.results(side).hits
            with column:
                if index < len(hits):
                    _card(sides, side, hits[index], hits[index].chunk_id in shared, in_context)
                else:
                    st.caption(f"{sides.place(side)}: nothing at rank {index + 1}.")
    if depth == 0:
        st.info("Neither model found anything: this corpus has no chunk with a vector.", icon=":material/search_off:")
    elif depth < sides.duel.k:
        st.caption(f"Fewer than {sides.duel.k} results: the corpus holds no more chunks.")


def hyde(duel: Duel) -> None:
    """What HyDE wrote, or why it could not."""
    expansion = duel.expansion
    if expansion is None:
        return
    if expansion.failure:
        st.warning(
            f"HyDE brought nothing, so both models searched with the plain question. {label(expansion.failure)}",
            icon=":material/warning:",
        )
    if expansion.passages:
        way = "averaged with the question" if expansion.with_query else "used instead of the question"
        written = count(len(expansion.passages), "hypothetical passage")
        with st.expander(f"HyDE: {written}, {way}", icon=":material/edit_note:"):
            st.caption(
                f"Written by {label(expansion.writer)} in {expansion.latency_ms:,.0f} ms (prompt "
                f"{label(expansion.prompt_version)}); the same for both models. It may be wrong: it is never shown to "
                "a judge and is no source."
            )
            for text in expansion.passages:
                with st.container(border=True):
                    passage(text)


def _head(sides: Sides, side: Side) -> None:
    results = sides.results(side)
    st.header(f"{sides.place(side)}: {label(results.model)}", anchor=False)
    st.caption(" · ".join((f"encode {_ms(results.encode_ms)}", f"search {_ms(results.search_ms)}", _coverage(results))))


def _coverage(results: RankedList) -> str:
    if results.n_cut is None:
        cut = "only its server knows what it cuts"
    elif results.n_cut:
        cut = f"{count(results.n_cut, 'chunk')} longer than it reads, cut"
    else:
        cut = "no chunk cut"
    parts = [cut]
    if results.n_unembedded:
        parts.append(f"{count(results.n_unembedded, 'chunk')} without a vector")
    if results.query_was_cut:
        parts.append("the question was longer than it reads, cut")
    return ", ".join(parts)


def _ms(value: float) -> str:
    return f"{value:,.1f} ms" if value < 10 else f"{value:,.0f} ms"


def _card(sides: Sides, side: Side, hit: Hit, shared: bool, in_context: bool) -> None:
    place = sides.place(side)
    with st.container(border=True, height="stretch", gap="xsmall", key=f"hit_{place.lower()}_{hit.rank}"):
        st.subheader(f"{place} {hit.rank}", anchor=f"{place.lower()}-{hit.rank}")
        where = label(hit.document, 80)
        st.caption(f"{where} · {label(hit.place, 60)}" if hit.place else where)
        passage(hit.text)
        st.space("stretch")
        marks = []
        if sides.revealed:
            marks.append(f"cosine {hit.score:.3f}")
        if shared:
            marks.append(_other_rank(sides, side, hit))
        if marks:
            st.markdown(" · ".join(marks))
        if in_context:
            context_link.show(sides.duel, hit)


def _other_rank(sides: Sides, side: Side, hit: Hit) -> str:
    other: Side = "b" if side == "a" else "a"
    rank = next(h.rank for h in sides.results(other).hits if h.chunk_id == hit.chunk_id)
    place = sides.place(other)
    return f":green-badge[:material/link: found by both] [{place} {rank}](#{place.lower()}-{rank})"
