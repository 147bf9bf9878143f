"""Cut a corpus anew: the choices, what they make of one of its documents, and what it costs."""

from __future__ import annotations

from itertools import islice

import streamlit as st

from backend.corpus.types import Corpus
from backend.ui import chunking_form
from backend.ui.text import short
from backend.workspace import Workspace

_SHOWN_CHARS = 20_001  # one more than the preview cuts, so that it knows that the text goes on
_MOST_SECTIONS = 5_000


def show(ws: Workspace, corpus: Corpus) -> str | None:
    """Draw the form.

    Returns:
        Id of the job that cuts, when it was started just now.
    """
    st.subheader("Cut this corpus anew", anchor=False)
    st.caption(
        "Finished duels, votes and verdicts stay as they were, with the chunks they were run on. Each model embeds the "
        "new chunks once, at its next duel here. A way of cutting that these documents had before comes back at once."
    )
    prefix = f"recut_{corpus.version_id}"
    chunking = chunking_form.controls(ws, corpus.chunking, prefix)
    job_id = None
    if chunking == corpus.chunking:
        st.caption("This is how the corpus is cut now.")
    pressed = st.button(
        "Cut anew",
        type="primary",
        icon=":material/content_cut:",
        key="corpora_recut_start",
        disabled=chunking is None or chunking == corpus.chunking,
    )
    if pressed and chunking is not None:
        job_id = ws.corpus_work.start_rechunk(corpus.corpus_id, chunking)
    elif chunking is not None:
        names = {document.document_id: document.name for document in ws.corpora.documents(corpus.corpus_id)}
        chosen = st.selectbox(
            "Preview on", list(names), format_func=lambda key: short(names[key], 120), key=f"{prefix}_document"
        )
        text = ws.corpora.document_text(chosen, 0, _SHOWN_CHARS)
        sections = list(islice(ws.corpora.sections(chosen, 0, _SHOWN_CHARS), _MOST_SECTIONS))
        chunking_form.preview(ws, text, sections, chunking, prefix)
    return job_id
