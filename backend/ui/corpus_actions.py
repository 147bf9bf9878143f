"""What can be done with a corpus: duel on it, add files, cut it anew, rename it, delete it."""

from __future__ import annotations

import streamlit as st

from backend.corpus.types import Corpus
from backend.ui import corpora_jobs, corpus_form, corpus_recut, state
from backend.ui.shell import errors
from backend.ui.text import count, label
from backend.workspace import Workspace

_ADD = "add"
_CUT = "cut"


def show(ws: Workspace, corpus: Corpus) -> None:
    """Draw the buttons, and below them the form of the one that was pressed."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="corpora_actions"):
        if st.button("Duel on this corpus", type="primary", icon=":material/compare:", key="corpora_duel"):
            _duel(ws, corpus)
        _opener(corpus, _ADD, "Add files", ":material/note_add:")
        _opener(corpus, _CUT, "Cut anew", ":material/content_cut:")
        _rename(ws, corpus)
        _delete(ws, corpus)
    opened = st.session_state.get(state.CORPUS_OPEN)
    if opened == _mark(corpus, _ADD):
        with st.container(border=True, key="corpora_add_files"), errors():
            st.subheader("Add files to this corpus", anchor=False)
            st.caption("They are cut like the others. Models embed only what is new.")
            job_id = corpus_form.show(ws, into=corpus)
            if job_id:
                st.session_state[state.CORPUS_OPEN] = ""
                corpora_jobs.start(ws, job_id)
    elif opened == _mark(corpus, _CUT):
        with st.container(border=True, key="corpora_recut"), errors():
            job_id = corpus_recut.show(ws, corpus)
            if job_id:
                st.session_state[state.CORPUS_OPEN] = ""
                corpora_jobs.start(ws, job_id)


def _mark(corpus: Corpus, form: str) -> str:
    return f"{form} {corpus.corpus_id}"


def _opener(corpus: Corpus, form: str, words: str, icon: str) -> None:
    mark = _mark(corpus, form)
    is_open = st.session_state.get(state.CORPUS_OPEN) == mark
    if st.button(f"Close “{words}”" if is_open else words, icon=icon, key=f"corpora_open_{form}"):
        st.session_state[state.CORPUS_OPEN] = "" if is_open else mark
        st.rerun()


def _duel(ws: Workspace, corpus: Corpus) -> None:
    st.session_state[state.DUEL_CORPUS] = corpus.corpus_id
    st.session_state[state.DUEL_QUERY] = next(iter(corpus.suggested_queries), "")
    newest = next(iter(ws.duels.recent(1, corpus.corpus_id)), None)
    st.session_state[state.DUEL_FOLLOWED] = newest.duel_id if newest else None
    st.switch_page("pages/duel.py", query_params={state.URL_DUEL: newest.duel_id} if newest else None)


def _rename(ws: Workspace, corpus: Corpus) -> None:
    with st.popover("Rename", icon=":material/edit:", key="corpora_rename"), errors():
        name = st.text_input("Name", value=corpus.name, max_chars=200, key=f"corpora_rename_{corpus.corpus_id}")
        st.caption("Duels that were run before keep the name they were run under.")
        if st.button("Rename", type="primary", icon=":material/check:", key="corpora_rename_sure"):
            ws.corpora.rename(corpus.corpus_id, name or "")
            st.toast("Corpus renamed.", icon=":material/check:")
            st.rerun()


def _delete(ws: Workspace, corpus: Corpus) -> None:
    with st.popover("Delete", icon=":material/delete:", key="corpora_delete"), errors():
        st.markdown(f"**{label(corpus.name)}** will be gone for good:")
        st.caption(
            f"{count(corpus.n_documents, 'document')}, {count(corpus.n_chunks, 'chunk')} with those of earlier "
            "versions, the vectors that models made of them, their indexes, query sets and the report. "
            "What another corpus holds too stays there."
        )
        st.caption("Duels, votes and verdicts on it stay readable.")
        if st.button("Delete for good", type="primary", icon=":material/delete_forever:", key="corpora_delete_sure"):
            ws.corpus_work.delete(corpus.corpus_id)
            st.toast("Corpus deleted.", icon=":material/check:")
            state.go()
