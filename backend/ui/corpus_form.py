"""Adding files, to a new corpus or to one that is there: what came, what each file is, how it is read and cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from backend.corpus import Chunking, Corpus, SourceFile
from backend.errors import InputError
from backend.ui import chunking_form, columns_form, cut_section, recognised_files, upload_box
from backend.ui.text import count, label
from backend.workspace import Workspace, default_chunking
from backend.workspace.corpus_names import free_name, suggested_name
from backend.workspace.recognise import Recognised
from backend.workspace.upload_draft import Draft, UploadDraft

NEW = "corpora"
_LONGEST_NAME = 100


def show(ws: Workspace, into: Corpus | None = None) -> str | None:
    """Draw the form.

    Args:
        ws: The workspace.
        into: The corpus that the files go to; None: a new one.

    Returns:
        Id of the job that reads the files, when Add was pressed just now.

    Raises:
        InputError: Add was pressed, and there is nothing to add, or no name, or one that is taken, or too much.
    """
    form = form_prefix(into)
    draft = upload_box.draft_of(ws, form)
    here, pasted = upload_box.show(ws, draft, form)
    found = recognised_files.look(ws, draft, here)
    if here.files:
        recognised_files.show(draft, here, found, form)
        columns_form.show(draft, here, found, form)
    chunking = _cutting(ws, draft, here, found, pasted, into, form)
    return _adding(ws, draft, here, found, pasted, chunking, into, form)


def form_prefix(into: Corpus | None) -> str:
    """What the keys of the form's widgets begin with."""
    return NEW if into is None else f"{NEW}_{into.corpus_id}"


def _cutting(
    ws: Workspace,
    draft: UploadDraft,
    here: Draft,
    found: Mapping[str, Recognised],
    pasted: SourceFile | None,
    into: Corpus | None,
    form: str,
) -> Chunking | None:
    key = f"{form}_cut"
    before = into.chunking if into is not None else default_chunking(ws.settings)
    title = "How documents are cut" if into is None else "What the chunks will be"
    section = st.expander(title, icon=":material/content_cut:", key=key, on_change="rerun")
    with section:
        if into is not None:
            st.caption(f"Like the rest of this corpus: {label(chunking_form.in_words(before))}.")
            chunking: Chunking | None = before
        else:
            chunking = chunking_form.controls(ws, before, form)
        if section.open and chunking is not None:
            cut_section.preview(ws, draft, here, found, pasted, chunking, form)
    return chunking


def _adding(
    ws: Workspace,
    draft: UploadDraft,
    here: Draft,
    found: Mapping[str, Recognised],
    pasted: SourceFile | None,
    chunking: Chunking | None,
    into: Corpus | None,
    form: str,
) -> str | None:
    n_files = len(here.files) + (pasted is not None)
    name = ""
    if into is None:
        read = [one.name for one in here.files if not found[one.name].problem]
        name = _name(ws, here, read or ([pasted.name] if pasted else []), form)
    words = "Add corpus" if into is None else f"Add {count(n_files, 'file')}" if n_files else "Add files"
    too_much = recognised_files.over_limits(here, ws.settings)
    if too_much:
        st.error(label(too_much), icon=":material/error:")
    if not st.button(words, type="primary", icon=":material/add:", key=f"{form}_add"):
        return None
    if not n_files and (started := here.just_started()):
        return started  # the second of two clicks: the first one's work is what was asked for
    if not n_files:
        raise InputError("There is nothing to add yet.", hint="Choose files or a folder, or paste some text.")
    if too_much or chunking is None:
        raise InputError("This can't be added as it is.", hint="What is wrong stands above, in red.")
    sources = [draft.source(one) for one in here.files] + ([pasted] if pasted is not None else [])
    if into is not None:
        job_id = ws.corpus_work.start_extend(into.corpus_id, sources, here.options)
    else:
        _check_name(ws, name)
        job_id = ws.corpus_work.start_add(name, sources, chunking, here.options)
    draft.finish(job_id)  # at once and with no call of Streamlit's between: a second click finds the job
    return job_id


def _name(ws: Workspace, here: Draft, file_names: Sequence[str], form: str) -> str:
    """The name field; it follows the files until somebody types a name."""
    key, followed = f"{form}_name_{here.n_started}", f"{form}_suggested"
    suggestion = suggested_name(file_names)
    typed = st.session_state.get(key) or ""
    if not typed or typed == st.session_state.get(followed):
        taken = {corpus.name for corpus in ws.corpora.list()} if suggestion else set()
        suggestion = free_name(suggestion, taken)
        if typed != suggestion:
            st.session_state[key] = suggestion
        st.session_state[followed] = suggestion
    return " ".join(
        st.text_input(
            "Name", key=key, max_chars=_LONGEST_NAME, placeholder="Support articles, June", persist_state="session"
        ).split()
    )


def _check_name(ws: Workspace, name: str) -> None:
    """Before the work starts, while the files are still here."""
    if not name:
        raise InputError("The corpus has no name yet.", hint="Give it one that you will recognise.")
    if any(corpus.name == name for corpus in ws.corpora.list()):
        raise InputError(f"There is a corpus “{name}” already.", hint="Choose another name; your files are still here.")
