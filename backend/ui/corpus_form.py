"""Add a corpus: upload files or paste text, name it, choose how it is cut."""

from __future__ import annotations

import streamlit as st

from backend.corpus import pasted as pasted_source
from backend.corpus.files import SourceFile
from backend.corpus.types import Chunking
from backend.errors import InputError
from backend.ui import state
from backend.workspace import Workspace

_TYPES = ("txt", "md", "markdown", "pdf", "docx", "html", "htm", "csv", "tsv", "jsonl")
_PASTED = "pasted-text.md"


def show(ws: Workspace) -> str | None:
    """Draw the form.

    Returns:
        Id of the job that reads the files, when Add was pressed just now.

    Raises:
        InputError: There is nothing to add, or no name, or a file is too large.
    """
    settings = ws.settings
    with st.form("corpus_form", enter_to_submit=False):
        name = st.text_input("Name", key=state.CORPUS_NAME, max_chars=100, placeholder="Support articles, June")
        uploads = st.file_uploader(
            "Files",
            type=list(_TYPES),
            accept_multiple_files=True,
            key=state.CORPUS_FILES,
            max_upload_size=settings.max_upload_mb,
            help=f"Text, Markdown, PDF, DOCX, HTML, CSV, JSONL; up to {settings.max_upload_mb} MB a file.",
        )
        pasted = st.text_area("Or paste text", key=state.CORPUS_PASTE, height=110)
        with st.expander("How documents are cut", icon=":material/content_cut:"):
            size, overlap = st.columns(2)
            size_tokens = size.number_input(
                "Chunk size (tokens)", min_value=8, max_value=8192, value=settings.chunk_tokens, key="corpora_size"
            )
            overlap_tokens = overlap.number_input(
                "Overlap (tokens)",
                min_value=0,
                max_value=4096,
                value=settings.chunk_overlap_tokens,
                key="corpora_overlap",
            )
            whole = st.toggle("Keep each document, or row, whole", key="corpora_whole")
            st.caption("Models with a short reading length cut what is longer; the corpus page counts that per model.")
        pressed = st.form_submit_button("Add corpus", type="primary", icon=":material/add:", key="corpora_add")
    if not pressed:
        return None
    if not (name or "").strip():
        raise InputError("The corpus has no name yet.", hint="Give it one that you will recognise.")
    limit = settings.max_upload_mb * 1_000_000
    for upload in uploads or []:  # before any bytes are copied; the browser's own limit is only a hint
        if upload.size > limit:
            raise InputError(
                f"{upload.name} is larger than {settings.max_upload_mb} MB.",
                hint="Split it, or raise RAGDUEL_MAX_UPLOAD_MB.",
            )
    sources = [SourceFile(upload.name, upload.getvalue()) for upload in uploads or []]
    if (pasted or "").strip():
        sources.append(pasted_source(pasted or "", _PASTED))
    if not sources:
        raise InputError("There is nothing to add yet.", hint="Upload a file, or paste some text.")
    chunking = Chunking(int(size_tokens), int(overlap_tokens), bool(whole))
    return ws.start_ingest((name or "").strip(), sources, chunking)
