"""What a data folder without a corpus shows: what Ragduel does, and one button that makes it do it."""

from __future__ import annotations

import streamlit as st

from backend.ui import state
from backend.workspace import Workspace

_STEPS = (
    (":material/upload_file:", "Your documents", "Upload files or paste text. They stay on this machine."),
    (
        ":material/compare:",
        "Two models, one question",
        "Both retrieve from the same chunks. You see them side by side.",
    ),
    (":material/gavel:", "A blind verdict", "You vote, then a judge that can't know which model is which."),
)


def show(ws: Workspace) -> None:
    """Draw the invitation."""
    with st.container(border=True, key="first_visit"):
        st.header("Which embedding model finds the better answer in your documents?", anchor=False)
        for column, (icon, title, words) in zip(st.columns(3), _STEPS, strict=True):
            with column:
                st.markdown(f"{icon} **{title}**")
                st.caption(words)
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button("Try it on the sample", type="primary", icon=":material/play_arrow:", key="sample_prepare"):
                state.go(**{state.URL_JOB: ws.start_sample()})
            st.page_link("pages/corpora.py", label="Add your own documents", icon=":material/library_books:")
        st.caption("The sample holds a few dozen short documents of our own. It needs no key and no network.")
