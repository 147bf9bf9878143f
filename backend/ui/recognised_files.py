"""The files of a draft in a table: what each was recognised as, and what stands in its way."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from backend.corpus import AS_IT_IS, ReadOptions, SourceFile, UnreadableFile
from backend.errors import NotFoundError
from backend.settings import Settings
from backend.store import sha256_hex
from backend.ui import corpus_words
from backend.ui.text import count, label, short, size
from backend.workspace import Workspace
from backend.workspace.recognise import Recognised, dataset_words, recognise
from backend.workspace.upload_draft import Draft, DraftFile, UploadDraft

_MOST_TOLD = 5
_TABLE_ROWS = 8
_TRY_S = 2.5
_MOST_TRIED = 60
_LARGEST_TRIED_BYTES = 5_000_000
_MOST_OUTCOMES = 2_000


def look(ws: Workspace, draft: UploadDraft, here: Draft) -> dict[str, Recognised]:
    """What each file is, by name; what was looked at before comes from the cache."""
    if not here.files:
        return {}
    files = repr([(one.name, one.sha256, one.options) for one in here.files])
    found = _looked(draft, here, ws.settings.max_upload_mb * 1_000_000, sha256_hex(files))
    return found | _tried(ws, draft, here, found)


def _tried(ws: Workspace, draft: UploadDraft, here: Draft, found: Mapping[str, Recognised]) -> dict[str, Recognised]:
    """Files of a small batch that turn out to give no text when their beginning is read, a few in each run."""
    known = _outcomes()
    until = None
    broken = {}
    for one in here.files[:_MOST_TRIED]:
        if found[one.name].problem or found[one.name].is_archive or one.size_bytes > _LARGEST_TRIED_BYTES:
            continue
        key = (one.name, one.sha256, repr(one.options))
        if key not in known:
            if until is not None and time.monotonic() > until:
                continue
            while len(known) >= _MOST_OUTCOMES:
                known.pop(next(iter(known)), None)
            known[key] = _outcome(ws, draft, one)
            # From the first one's end on: it may have waited for the process that reads to start.
            until = until or time.monotonic() + _TRY_S
        problem, hint = known[key]
        if problem:
            broken[one.name] = replace(found[one.name], problem=problem, hint=hint)
    return broken


def _outcome(ws: Workspace, draft: UploadDraft, one: DraftFile) -> tuple[str, str]:
    try:
        ws.corpus_work.peek(draft.source(one), one.options)
    except (UnreadableFile, NotFoundError) as error:
        return error.message, error.hint
    return "", ""


@st.cache_resource
def _outcomes() -> dict[tuple[str, str, str], tuple[str, str]]:
    """(name, digest, options) -> (problem, hint) of files that were tried; the oldest go first."""
    return {}


@st.cache_data(max_entries=16, show_spinner=False)
def _looked(_draft: UploadDraft, _here: Draft, max_file_bytes: int, files: str) -> dict[str, Recognised]:
    """By content: the digest of names, contents and options is the key."""
    found, sources = {}, []
    for one in _here.files:
        try:
            source = _draft.source(one)
        except NotFoundError as error:
            found[one.name] = Recognised(words="gone", problem="it was uploaded too long ago.", hint=error.hint)
            continue
        sources.append(source)
        found[one.name] = _recognised(source, one.options, one.name, one.sha256, repr(one.options), max_file_bytes)
    return found | {name: replace(found[name], words=words) for name, words in dataset_words(sources).items()}


@st.cache_data(max_entries=5_000, show_spinner=False)
def _recognised(
    _source: SourceFile, _options: ReadOptions, name: str, sha256: str, way: str, max_file_bytes: int
) -> Recognised:
    """By content: name, digest and options are the key."""
    return recognise(_source, _options, max_file_bytes)


def show(draft: UploadDraft, here: Draft, found: Mapping[str, Recognised], form: str) -> None:
    """Draw the table, the files that hold no text, and the way to take files out again."""
    import pandas as pd

    names = [one.name for one in here.files]
    frame = pd.DataFrame(
        {
            "File": names,
            "Recognised as": [found[name].words or corpus_words.kind(found[name].media_type) for name in names],
            "Problem": [_problem(found[name]) for name in names],
            "Encoding": [_encoding(found[name]) for name in names],
            "Size": [size(one.size_bytes) for one in here.files],
            "Decided": ["yes" if one.options != AS_IT_IS else "" for one in here.files],
        }
    )
    if not any(found[name].problem for name in names):
        frame = frame.drop(columns="Problem")
    if not here.options:
        frame = frame.drop(columns="Decided")
    st.dataframe(
        frame,
        hide_index=True,
        height=min(len(names), _TABLE_ROWS) * 35 + 38,
        column_config={
            "File": st.column_config.TextColumn(width="medium"),
            "Recognised as": st.column_config.TextColumn(width="medium"),
            "Problem": st.column_config.TextColumn(width="medium"),
            "Encoding": st.column_config.TextColumn(width="medium"),
            "Size": st.column_config.TextColumn(width="small"),
        },
        key=f"{form}_recognised",
        alt="Uploaded files with kind, encoding, size, and what stands in the way.",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{count(len(names), 'file')}, {size(here.size_bytes)}", width="content")
        _remover(draft, names, form)
    _problems(names, found)


def over_limits(here: Draft, settings: Settings) -> str:
    """What makes the batch too large, with the way out; empty where nothing does."""
    if len(here.files) > settings.max_files:
        return (
            f"{len(here.files):,} files are more than the {settings.max_files:,} that one batch may hold. "
            "Remove some and add them later, or raise RAGDUEL_MAX_FILES."
        )
    if here.size_bytes > settings.max_batch_mb * 1_000_000:
        return (
            f"{size(here.size_bytes)} are more than the {settings.max_batch_mb:,} MB that one batch may hold. "
            "Remove some files and add them later, or raise RAGDUEL_MAX_BATCH_MB."
        )
    return ""


def _problem(one: Recognised) -> str:
    return f"{one.problem} {one.hint}".strip()


def _encoding(one: Recognised) -> str:
    return f"{one.encoding}, guessed" if one.is_guessed else one.encoding


def _problems(names: Sequence[str], found: Mapping[str, Recognised]) -> None:
    wrong = [name for name in names if found[name].problem]
    if not wrong:
        return
    told = [f"**{label(short(name, 80))}**: {label(_problem(found[name]))}" for name in wrong[:_MOST_TOLD]]
    if len(wrong) > _MOST_TOLD:
        told.append(f"and {len(wrong) - _MOST_TOLD:,} more, see the table")
    left = (
        "1 file gives no text as it is; it will be left out"
        if len(wrong) == 1
        else (f"{len(wrong):,} files give no text as they are; they will be left out")
    )
    st.warning("\n\n".join([f"{left}.", *told]), icon=":material/warning:")


def _remover(draft: UploadDraft, names: Sequence[str], form: str) -> None:
    key = f"{form}_remove"
    if key in st.session_state:
        st.session_state[key] = [name for name in st.session_state[key] if name in names]

    def remove(chosen: Sequence[str]) -> None:
        draft.drop(chosen)
        draft.renew()

    with st.popover("Remove files", icon=":material/remove_circle:", key=f"{form}_remover"):
        chosen = st.multiselect(
            "Files to remove", list(names), format_func=lambda name: short(name, 80), key=key, placeholder="Pick files"
        )
        with st.container(horizontal=True):
            st.button("Remove these", disabled=not chosen, on_click=remove, args=(chosen,), key=f"{form}_remove_these")
            st.button("Remove all", on_click=remove, args=(names,), key=f"{form}_remove_all")
