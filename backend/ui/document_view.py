"""A document for reading: a window of its text with its chunks in colour, and the chunk in the link marked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import streamlit as st

from backend.corpus.chunk_places import ChunkPlaces
from backend.corpus.files import Section
from backend.corpus.types import Chunk, Corpus, Document
from backend.errors import NotFoundError
from backend.ui import corpus_words, document_jump, record_facts, state
from backend.ui.marked_text import HIT, TURNS, Mark, marked
from backend.ui.reading_window import Window, to_line_end, to_line_start, window_of
from backend.ui.text import count, label, size
from backend.workspace import Workspace

_MOST_CHUNKS = 3_000
_MOST_SECTIONS = 200


def show(ws: Workspace, corpus_id: str, document_id: str) -> None:
    """Draw the document in the link; where it is gone, say so and show the way back."""
    try:
        corpus = ws.corpora.get(corpus_id)
        documents = ws.corpora.documents(corpus.corpus_id)
        document = next((one for one in documents if one.document_id == document_id), None)
    except NotFoundError:
        _gone("This corpus was deleted, and its documents with it.", "")
        return
    if document is None:
        _gone(f"This document was removed from the corpus “{label(corpus.name)}”.", corpus.corpus_id)
        return
    _way_back(corpus)
    _head(corpus, document)
    if not document.n_chars:
        st.info("This document holds no text.", icon=":material/info:")
        return
    window = window_of(state.linked(state.URL_FROM), state.linked(state.URL_TO), document.n_chars)
    window, text = to_line_start(window, ws.corpora.document_text(document_id, window.start, window.end))
    window, text = to_line_end(window, text)
    chunks = ChunkPlaces(ws.corpora, corpus, documents).between(document_id, window.start, window.end, _MOST_CHUNKS)
    sections = list(islice(ws.corpora.sections(document_id, window.start, window.end), _MOST_SECTIONS))
    _place(window, chunks, sections)
    if window.mark is None:  # else what was opened comes first, and the ways through the document below it
        document_jump.show(ws, corpus, document)
        document_jump.pager(corpus, document, window, "above")
    marked(text, marks_of(window, chunks), name=f"Text of {document.name[:100]}", height_rem=34)
    _legend(window, chunks)
    document_jump.pager(corpus, document, window, "below")
    if window.mark is not None:
        document_jump.show(ws, corpus, document)


def marks_of(window: Window, chunks: Sequence[Chunk]) -> list[Mark]:
    """Marks of the chunks in a window, from its first character; what the link points at is marked before all else."""
    marks = []
    for chunk in chunks:
        title = " · ".join(part for part in (f"Chunk {chunk.position + 1:,}", chunk.place) if part)
        for number, (start, end) in enumerate(_outside((chunk.start, chunk.end), window.mark)):
            marks.append(
                Mark(
                    start - window.start,
                    end - window.start,
                    TURNS[chunk.position % len(TURNS)],
                    title,
                    "" if number else str(chunk.position + 1),
                )
            )
    if window.mark:
        marks.append(Mark(window.mark[0] - window.start, window.mark[1] - window.start, HIT, "The chunk you opened"))
    return marks


def _outside(span: tuple[int, int], hole: tuple[int, int] | None) -> list[tuple[int, int]]:
    """What is left of a span beside a hole."""
    if hole is None:
        return [span]
    parts = [(span[0], min(span[1], hole[0])), (max(span[0], hole[1]), span[1])]
    return [(start, end) for start, end in parts if start < end]


def _way_back(corpus: Corpus) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        duel_id = state.linked(state.URL_DUEL)
        if duel_id:
            st.page_link(
                "pages/duel.py",
                label="Back to the duel",
                icon=":material/arrow_back:",
                query_params={state.URL_DUEL: duel_id},
            )
        st.page_link(
            "pages/corpora.py",
            label=f"Corpus “{label(corpus.name, 60)}”",
            icon=":material/library_books:" if duel_id else ":material/arrow_back:",
            query_params={state.URL_CORPUS: corpus.corpus_id},
        )


def _head(corpus: Corpus, document: Document) -> None:
    st.header(label(document.title or document.name, 200), anchor=False)
    parts = [label(document.name, 200)] if document.title else []
    parts += [
        corpus_words.kind(document.media_type),
        corpus_words.extent(document),
        size(document.source_bytes) if document.source_bytes else "",
        count(document.n_chars, "character"),
        label(corpus_words.encoding(document)),
    ]
    st.caption(" · ".join(part for part in parts if part))
    if document.warnings:
        with st.expander(count(len(document.warnings), "warning"), icon=":material/warning:"):
            for warning in document.warnings:
                st.text(warning)


def _place(window: Window, chunks: Sequence[Chunk], sections: Sequence[Section]) -> None:
    """Where the marked chunk stands, and the record it belongs to."""
    if window.mark is None:
        return
    start, end = window.mark
    here = [section for section in sections if section.end > start and section.start < end]
    same = next((chunk for chunk in chunks if (chunk.start, chunk.end) == window.mark), None)
    place = (same.place if same else "") or (here[0].place if here else "")
    parts = [f"**{label(place, 200)}**"] if place else []
    parts.append(f"characters {start + 1:,} to {end:,}")
    parts.append(f"chunk {same.position + 1:,}" if same else "a chunk of an earlier cutting of this corpus")
    st.markdown(":material/location_on: " + " · ".join(parts))
    record = next((section for section in here if section.is_row), None)
    if record is not None:
        record_facts.show(record)


def _legend(window: Window, chunks: Sequence[Chunk]) -> None:
    words = []
    if window.mark:
        words.append("Yellow: the chunk you opened.")
        if window.mark_goes_on:
            words.append("It goes on in the next part.")
    if chunks:
        words.append("Other colours: the corpus' chunks, each with its number. Striped: two chunks share it.")
    if len(chunks) == _MOST_CHUNKS:
        words.append(f"The first {_MOST_CHUNKS:,} chunks here are coloured.")
    if words:
        st.caption(" ".join(words))


def _gone(words: str, corpus_id: str) -> None:
    st.warning(
        f"{words} A duel that found something in it still shows the text that was found.", icon=":material/delete:"
    )
    duel_id = state.linked(state.URL_DUEL)
    if duel_id:
        st.page_link(
            "pages/duel.py",
            label="Back to the duel",
            icon=":material/arrow_back:",
            query_params={state.URL_DUEL: duel_id},
        )
    if corpus_id:
        st.page_link(
            "pages/corpora.py",
            label="Open the corpus",
            icon=":material/library_books:",
            query_params={state.URL_CORPUS: corpus_id},
        )
    else:
        st.page_link("pages/corpora.py", label="All corpora", icon=":material/library_books:")
