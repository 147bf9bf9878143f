"""Where files come in: chosen or dragged files, a folder, pasted text. What comes in goes to the draft on disk."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import streamlit as st

from backend.corpus import SourceFile
from backend.corpus import pasted as pasted_source
from backend.settings import Settings
from backend.ui import state
from backend.workspace import Workspace
from backend.workspace.upload_draft import Draft, UploadDraft

if TYPE_CHECKING:
    from streamlit.typing import UploadedFile

PASTED = "pasted-text.md"
_READ = (
    "PDF, Word, PowerPoint, Excel, OpenDocument, RTF, EPUB, HTML, Markdown, text, CSV, JSON, JSONL, e-mail, notebooks, "
    "subtitles, ZIP archives of these, and BEIR datasets. Anything else is named with the reason."
)


def draft_of(ws: Workspace, form: str) -> UploadDraft:
    """This session's draft of a form; the session holds only an id."""
    session_id = st.session_state.get(state.CORPUS_DRAFT)
    if session_id is None:
        session_id = st.session_state[state.CORPUS_DRAFT] = secrets.token_hex(12)
    return UploadDraft(ws.files, f"{session_id} {form}")


def show(ws: Workspace, draft: UploadDraft, form: str) -> tuple[Draft, SourceFile | None]:
    """Draw the three ways in.

    Args:
        ws: Its settings tell the limits.
        draft: Takes the files.
        form: Begins the keys of the widgets.

    Returns:
        What is in the draft now, and the pasted text.
    """
    here = draft.read()
    keys = _keys(form, here.generation)
    if any(key not in st.session_state and _is_from(here, key) for key in keys):
        # The page was left and the browser's list is empty: what it held stays in the draft under fresh widgets.
        here = draft.renew()
        keys = _keys(form, here.generation)
    in_files, in_folder, in_text = st.tabs(["Files", "A folder", "Text"])
    with in_files:
        files = st.file_uploader(
            "Files",
            accept_multiple_files=True,
            key=keys[0],
            max_upload_size=ws.settings.max_upload_mb,
            help=_READ,
        )
    with in_folder:
        folder = st.file_uploader(
            "A folder with all that is in it",
            accept_multiple_files="directory",
            key=keys[1],
            max_upload_size=ws.settings.max_upload_mb,
            help="Files keep their place in the folder as their name.",
        )
    with in_text:
        text = st.text_area("Text", key=f"{form}_paste_{here.n_started}", height=150, persist_state="session")
    st.caption(limits_in_words(ws.settings))
    here = _take(draft, here, {keys[0]: files or [], keys[1]: folder or []})
    pasted = pasted_source(text, PASTED) if (text or "").strip() else None
    return here, pasted


def limits_in_words(settings: Settings) -> str:
    """What one batch may hold."""
    return (
        f"Up to {settings.max_upload_mb:,} MB a file, {settings.max_batch_mb:,} MB and {settings.max_files:,} files at "
        "a time. Files stay on this machine."
    )


def _keys(form: str, generation: int) -> tuple[str, str]:
    return f"{form}_files_{generation}", f"{form}_folder_{generation}"


def _is_from(here: Draft, key: str) -> bool:
    return any(upload_id.startswith(f"{key} ") for upload_id in here.upload_ids)


def _take(draft: UploadDraft, here: Draft, shown: dict[str, list[UploadedFile]]) -> Draft:
    """Put new uploads into the draft; take out those that the browser's list no longer has."""
    uploads = {f"{key} {upload.file_id}": upload for key, listed in shown.items() for upload in listed}
    listed = (one for one in here.files if one.upload_id.rpartition(" ")[0] in shown)
    if gone := [one.name for one in listed if one.upload_id not in uploads]:
        here = draft.drop(gone)
    fresh = [(upload_id, upload) for upload_id, upload in uploads.items() if upload_id not in here.upload_ids]
    if not fresh:
        return here
    with st.spinner("Keeping the files…"):
        return draft.add((upload_id, upload.name, upload) for upload_id, upload in fresh)
