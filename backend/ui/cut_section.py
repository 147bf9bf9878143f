"""How the files of a draft will be cut: the choices, and the chunks of one of the files as it is now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from backend.corpus import AS_IT_IS, Chunking, ReadOptions, Section, SourceFile, UnreadableFile
from backend.errors import NotFoundError
from backend.store import sha256_hex
from backend.ui import chunking_form
from backend.ui.chunk_preview import PREVIEW_CHARS
from backend.ui.text import label, short
from backend.workspace import Workspace
from backend.workspace.archive_peek import first_in_archive
from backend.workspace.recognise import Recognised
from backend.workspace.upload_draft import Draft, UploadDraft


@dataclass(frozen=True, slots=True)
class Beginning:
    """The beginning of a file as its reader gives it, or why there is none."""

    text: str = ""
    sections: tuple[Section, ...] = ()
    name: str = ""
    problem: str = ""


def preview(
    ws: Workspace,
    draft: UploadDraft,
    here: Draft,
    found: Mapping[str, Recognised],
    pasted: SourceFile | None,
    chunking: Chunking,
    form: str,
) -> None:
    """Pick one of the files and see its chunks."""
    files = {one.name: one for one in here.files if not found[one.name].problem}
    names = [*files, *([pasted.name] if pasted else [])]
    if not names:
        st.caption("Add a file that gives text, or paste some, to see its chunks here.")
        return
    key = f"{form}_previewed"
    if key in st.session_state and st.session_state[key] not in names:
        del st.session_state[key]
    chosen = names[0]
    if len(names) > 1:
        chosen = st.selectbox(
            "Preview of", names, format_func=lambda name: short(name, 90), key=key, persist_state="session"
        )
    if chosen in files:
        one = files[chosen]
        try:
            source = draft.source(one)
        except NotFoundError as error:
            st.error(label(f"{error.message} {error.hint}"), icon=":material/error:")
            return
        options, digest = one.options, one.sha256
    elif pasted is not None:
        source, options, digest = pasted, AS_IT_IS, sha256_hex(pasted.data)
    else:
        return
    is_archive = chosen in files and found[chosen].is_archive
    with st.spinner("Reading the beginning…"):
        beginning = _beginning(ws, source, options, is_archive, chosen, digest, repr(options))
    if beginning.name != chosen:
        st.caption(f"From the archive: {label(short(beginning.name, 90))}")
    if beginning.problem:
        st.error(label(f"{short(beginning.name, 90)}: {beginning.problem}"), icon=":material/error:")
        return
    chunking_form.preview(ws, beginning.text, beginning.sections, chunking, form)


@st.cache_data(max_entries=64, show_spinner=False)
def _beginning(
    _ws: Workspace, _source: SourceFile, _options: ReadOptions, _is_archive: bool, name: str, sha256: str, way: str
) -> Beginning:
    """By content: name, digest and options are the key."""
    source = _source
    if _is_archive:
        inside = first_in_archive(_source)
        if inside is None:
            return Beginning(name=name, problem="nothing in it can be shown before it is added.")
        source = inside
    try:
        read = _ws.corpus_work.peek(source, _options)
    except UnreadableFile as error:
        return Beginning(name=source.name, problem=f"{error.message} {error.hint}".strip())
    text = read.text[: PREVIEW_CHARS + 1]
    sections = tuple(one for one in read.sections if one.start < len(text))
    return Beginning(text, sections, source.name)
