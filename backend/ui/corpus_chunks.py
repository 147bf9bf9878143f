"""The chunks of a corpus, a page at a time: filtered by document, searched by words; each opens in its context."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from backend.corpus.chunk_places import ChunkPlaces
from backend.corpus.types import Chunk, Corpus, Document
from backend.ui import context_link, state
from backend.ui.text import count, label, short
from backend.workspace import Workspace

PAGE_CHUNKS = 200
SEARCHED_CHUNKS = 100_000
"""Chunks that one search looks through; it can be carried on from there."""
_COUNTED_CHARS = 400_000
OPEN = ":material/menu_book: Open"


@dataclass(frozen=True, slots=True)
class Page:
    """A page of chunks.

    Attributes:
        chunks: On it.
        following: The position where the next page begins; None: this is the last.
    """

    chunks: list[Chunk]
    following: int | None


def page_of(ws: Workspace, corpus: Corpus, among: range, first: int, words: str) -> Page:
    """The page of chunks that begins at a position.

    Args:
        ws: Reads them.
        corpus: At its version.
        among: The positions to choose from: all, or those of one document.
        first: The position where the page begins.
        words: What their text must hold; "": anything.
    """
    first = max(first, among.start)
    if not words:
        last = min(first + PAGE_CHUNKS, among.stop)
        found = ws.corpora.chunks_from(corpus.version_id, first, max(0, last - first))
        return Page(found, last if last < among.stop else None)
    last = min(first + SEARCHED_CHUNKS, among.stop)
    found = ws.corpora.find_chunks(corpus.version_id, words, first, last, PAGE_CHUNKS + 1)
    if len(found) > PAGE_CHUNKS:
        return Page(found[:PAGE_CHUNKS], found[PAGE_CHUNKS].position)
    return Page(found, last if last < among.stop else None)


def show(ws: Workspace, corpus: Corpus) -> None:
    """Draw filters, table and pager."""
    documents = ws.corpora.documents(corpus.corpus_id)
    chosen, words = _filters(documents)
    places = ChunkPlaces(ws.corpora, corpus, documents)
    among = places.positions(chosen) if chosen else range(corpus.n_chunks)
    turning = _Turning(f"{corpus.version_id} {chosen} {words}", among)
    page = page_of(ws, corpus, among, turning.first, words)
    if page.chunks:
        _table(ws, corpus, page.chunks)
    else:
        _nothing(page, among, turning, words)
    _pager(page, turning, words)


def _filters(documents: list[Document]) -> tuple[str, str]:
    names = {document.document_id: document.name for document in documents}
    state.keep_choice(state.CHUNKS_DOCUMENT, [None, *names])
    with st.container(horizontal=True, vertical_alignment="bottom", key="chunks_filters"):
        chosen = st.selectbox(
            "Document",
            list(names),
            index=None,
            format_func=lambda key: short(names[key], 120),
            key=state.CHUNKS_DOCUMENT,
            placeholder="All documents",
            width=320,
        )
        words = st.text_input("Text holds", key=state.CHUNKS_WORDS, icon=":material/search:", max_chars=200, width=320)
    return chosen or "", (words or "").strip()


@dataclass(frozen=True, slots=True)
class _Turning:
    """Where the page begins, as the session keeps it; other filters begin at the beginning."""

    filters: str
    among: range

    @property
    def first(self) -> int:
        asked = st.session_state.get(state.CHUNKS_FIRST, {})
        first = int(asked["first"]) if asked.get("filters") == self.filters else self.among.start
        return min(max(first, self.among.start), max(self.among.start, self.among.stop - 1))

    def to(self, first: int) -> None:
        st.session_state[state.CHUNKS_FIRST] = {"filters": self.filters, "first": first}


def _table(ws: Workspace, corpus: Corpus, chunks: list[Chunk]) -> None:
    import pandas as pd

    click_key = f"corpora_chunk_{corpus.version_id}"

    def open_row() -> None:
        click = st.session_state.get(click_key)
        if click:
            chunk = chunks[int(click["row"])]
            st.query_params.from_dict(
                context_link.to_place(corpus.corpus_id, chunk.document_id, chunk.start, chunk.end)
            )

    columns: dict[str, list[object]] = {
        "Open": [OPEN] * len(chunks),
        "Number": [chunk.position + 1 for chunk in chunks],
    }
    tokens = _tokens(ws, corpus, chunks)
    if tokens:
        columns["Tokens"] = list(tokens)
    columns["Text"] = [chunk.text for chunk in chunks]
    columns["Place"] = [chunk.place for chunk in chunks]
    if any(chunk.record_id for chunk in chunks):
        columns["Record"] = [chunk.record_id for chunk in chunks]
    columns["Characters"] = [chunk.end - chunk.start for chunk in chunks]
    columns["Document"] = [chunk.document_name for chunk in chunks]
    st.dataframe(
        pd.DataFrame(columns),
        hide_index=True,
        height=520,
        key="chunks_table",
        column_config={
            "Open": st.column_config.ButtonColumn(
                "", type="tertiary", on_click=open_row, key=click_key, pinned=True, width=80
            ),
            "Number": st.column_config.NumberColumn(format="localized"),
            "Text": st.column_config.TextColumn(width="large"),
            "Place": st.column_config.TextColumn(width="medium"),
            "Characters": st.column_config.NumberColumn(format="localized"),
        },
        alt="Chunks of this corpus with their number, text, place and length.",
    )


def _tokens(ws: Workspace, corpus: Corpus, chunks: list[Chunk]) -> list[int]:
    """Tokens of each chunk as the corpus' chunking counts them; empty where it counts none, or where that is much."""
    cut = corpus.chunking
    if not cut.counts_tokens or sum(len(chunk.text) for chunk in chunks) > _COUNTED_CHARS:
        return []
    if cut.tokenizer not in ws.tokenizers.names():
        return []
    tokenizer = ws.tokenizers.get(cut.tokenizer)
    return [len(tokenizer.spans(chunk.text)) for chunk in chunks]


def _nothing(page: Page, among: range, turning: _Turning, words: str) -> None:
    if not len(among):
        st.info("This document has no chunk.", icon=":material/info:")
    elif page.following is not None:
        st.info(f"Nothing among {count(SEARCHED_CHUNKS, 'chunk')} from here on. Go on.", icon=":material/search:")
    else:
        more = " from here on" if turning.first > among.start else ""
        st.info(f"No chunk{more} holds “{label(words)}”.", icon=":material/search_off:")


def _pager(page: Page, turning: _Turning, words: str) -> None:
    first, among = turning.first, turning.among
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="chunks_pager"):
        if page.chunks and not words:
            st.caption(
                f"{page.chunks[0].position - among.start + 1:,} to {page.chunks[-1].position - among.start + 1:,} of "
                f"{count(len(among), 'chunk')}. Press Open to read one in its document.",
                width="content",
            )
        elif page.chunks:
            st.caption(
                f"{count(len(page.chunks), 'chunk')} found between number {first + 1:,} and "
                f"{page.following or among.stop:,}.",
                width="content",
            )
        if first > among.start:
            st.button(
                "From the beginning",
                icon=":material/first_page:",
                key="chunks_beginning",
                on_click=turning.to,
                args=(among.start,),
            )
            if not words:
                st.button(
                    "Previous",
                    icon=":material/chevron_left:",
                    key="chunks_previous",
                    on_click=turning.to,
                    args=(first - PAGE_CHUNKS,),
                )
        if page.following is not None:
            st.button(
                "Search further" if words else "Next",
                icon=":material/chevron_right:",
                key="chunks_next",
                on_click=turning.to,
                args=(page.following,),
            )
