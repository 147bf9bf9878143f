"""Ways through a long document: part after part, or to a page, row or heading."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import streamlit as st

from backend.corpus.files import Section
from backend.corpus.types import Corpus, Document
from backend.ui import state
from backend.ui.reading_window import Window
from backend.ui.text import short
from backend.workspace import Workspace

_LISTED_SECTIONS = 1_000
_FOUND_SECTIONS = 50


def show(ws: Workspace, corpus: Corpus, document: Document) -> None:
    """Draw the jump; nothing where a document has no two places."""
    if document.n_sections <= _LISTED_SECTIONS:
        places = places_of(islice(ws.corpora.sections(document.document_id), _LISTED_SECTIONS))
        if len(places) > 1:
            _jump(corpus, document, places)
    else:
        _jump(corpus, document, _found(ws, document))


def places_of(sections: Iterable[Section]) -> list[tuple[int, str]]:
    """(first character, place) of each named place, once where neighbours share it."""
    places: list[tuple[int, str]] = []
    for section in sections:
        if section.place and (not places or places[-1][1] != section.place):
            places.append((section.start, section.place))
    return places


def pager(corpus: Corpus, document: Document, window: Window, where: str) -> None:
    """Draw previous and next part; nothing where the whole document is shown."""
    if window.is_whole:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"document_pager_{where}"):
        for words, icon, first in (
            ("Previous part", ":material/chevron_left:", window.previous),
            ("Next part", ":material/chevron_right:", window.next),
        ):
            st.button(
                words,
                icon=icon,
                key=f"document_{words[:4].lower()}_{where}",
                disabled=first is None,
                on_click=_go_to,
                args=(corpus, document, first or 0),
            )
        st.caption(window.words.capitalize(), width="content")


def _found(ws: Workspace, document: Document) -> list[tuple[int, str]]:
    words = st.text_input(
        "Find a page, row or heading",
        key=f"document_find_{document.document_id}",
        placeholder="row 1200",
        icon=":material/search:",
        max_chars=100,
    )
    if not (words or "").strip():
        return []
    found = places_of(ws.corpora.find_places(document.document_id, (words or "").strip(), _FOUND_SECTIONS))
    if not found:
        st.caption("No place in this document is called so.")
    return found


def _jump(corpus: Corpus, document: Document, places: list[tuple[int, str]]) -> None:
    if not places:
        return
    key = f"document_jump_{document.document_id}"

    def jump() -> None:
        chosen = st.session_state.get(key)
        if chosen is not None:
            _go_to(corpus, document, int(chosen))
            st.session_state[key] = None  # the same place can be chosen again

    names = dict(places)
    st.selectbox(
        "Go to",
        list(names),
        index=None,
        format_func=lambda first: short(names[first], 120),
        key=key,
        on_change=jump,
        placeholder=f"One of {len(names):,} places",
    )


def _go_to(corpus: Corpus, document: Document, first: int) -> None:
    ids = {
        state.URL_CORPUS: corpus.corpus_id,
        state.URL_DOCUMENT: document.document_id,
        state.URL_FROM: str(first),
        state.URL_DUEL: state.linked(state.URL_DUEL),
    }
    st.query_params.from_dict({name: value for name, value in ids.items() if value})
