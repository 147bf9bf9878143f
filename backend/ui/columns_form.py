"""What a person may decide about a file before it is read: which columns hold the text, the delimiter, the encoding.

Everything has a guess that is shown and used unless somebody changes it. What is changed is kept in the draft.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from backend.corpus import AS_IT_IS, ReadOptions, SourceFile, UnreadableFile
from backend.corpus.encodings import ENCODINGS, spoken_name
from backend.corpus.readers.preview import RecordsPreview, decode_preview, preview_records
from backend.errors import NotFoundError
from backend.store import sha256_hex
from backend.ui.text import count, label, short, verbatim
from backend.workspace.recognise import Recognised
from backend.workspace.upload_draft import Draft, DraftFile, UploadDraft

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_ROWS = 5
_TEXT_CHARS = 1_500
_DELIMITERS = {"": "As recognised", ",": "Comma ,", ";": "Semicolon ;", "\t": "Tab", "|": "Bar |"}
_NONE = "(none)"
_DELIMITED = ("text/csv", "text/tab-separated-values")
_MOST_SPREAD = 200
_ROLE_ORDER = {"id": 0, "title": 1, "text": 2, "metadata": 3}
_ROLE_WORDS = {"id": "id", "title": "title", "text": "text", "metadata": "kept"}
_NO_COLUMNS: dict[str, Any] = {"text_columns": (), "title_column": None, "id_column": None, "metadata_columns": ()}


def show(draft: UploadDraft, here: Draft, found: Mapping[str, Recognised], form: str) -> None:
    """Draw the choices for one of the files that leave something to decide."""
    files = {one.name: one for one in here.files if found[one.name].is_text or found[one.name].is_table}
    if not files:
        return
    names = sorted(files, key=lambda name: not _is_doubtful(found[name]))
    # Its label never changes: the browser would take it for another one, and close it.
    section = st.expander(
        "Columns and encoding", icon=":material/table_view:", key=f"{form}_reading", on_change="rerun"
    )
    if not section.open:
        return
    with section:
        key = f"{form}_reading_file"
        if key in st.session_state and st.session_state[key] not in files:
            del st.session_state[key]
        chosen = names[0]
        if len(names) > 1:
            chosen = st.selectbox(
                "File", names, format_func=lambda name: short(name, 90), key=key, persist_state="session"
            )
        one = files[chosen]
        try:
            source = draft.source(one)
        except NotFoundError as error:
            st.error(label(f"{error.message} {error.hint}"), icon=":material/error:")
            return
        prefix = f"{form}_{sha256_hex(f'{one.sha256} {one.name}')[:16]}"
        _encoding(draft, one, found[chosen], prefix)
        if found[chosen].is_table:
            _table(draft, one, source, prefix)
            _spread(draft, files, found, one, form)
        else:
            _text(one, source)
        if one.options != AS_IT_IS:
            st.button(
                "Back to what was recognised",
                icon=":material/undo:",
                on_click=_forget,
                args=(draft, one.name, prefix),
                key=f"{prefix}_back",
            )


def _is_doubtful(one: Recognised) -> bool:
    """Whether somebody should look: its encoding was guessed, or could not be told."""
    return one.is_guessed or bool(one.problem)


def _encoding(draft: UploadDraft, one: DraftFile, found: Recognised, prefix: str) -> None:
    told = (found.encoding + (", guessed" if found.is_guessed else "")) if not one.options.encoding else ""
    codecs = ["", *(codec for codec, _ in ENCODINGS)]
    if one.options.encoding not in codecs:
        codecs.append(one.options.encoding)
    key = f"{prefix}_encoding"
    st.selectbox(
        "Encoding",
        codecs,
        index=codecs.index(one.options.encoding),
        format_func=lambda codec: spoken_name(codec) if codec else f"As recognised{': ' if told else ''}{told}",
        key=key,
        on_change=lambda: _decide(draft, one.name, encoding=st.session_state[key], **_NO_COLUMNS),
        help="If letters look wrong in the preview, choose the encoding that makes them right.",
    )


def _text(one: DraftFile, source: SourceFile) -> None:
    try:
        text = _decoded(source, one.options.encoding, one.sha256)
    except UnreadableFile as error:
        st.error(label(f"{error.message} {error.hint}"), icon=":material/error:")
        return
    verbatim(text[:_TEXT_CHARS], height=240 if len(text) > 300 else None)
    if len(text) > _TEXT_CHARS:
        st.caption(f"The first {_TEXT_CHARS:,} characters.")


def _table(draft: UploadDraft, one: DraftFile, source: SourceFile, prefix: str) -> None:
    delimiter_at = st.container()
    try:
        seen = _records(source, one.options, one.name, one.sha256, repr(one.options))
    except UnreadableFile as error:
        _delimiter(draft, one, delimiter_at, "", prefix)
        st.error(label(f"{error.message} {error.hint}"), icon=":material/error:")
        return
    if seen is None:
        _text(one, source)
        return
    if seen.media_type in _DELIMITED:
        _delimiter(draft, one, delimiter_at, seen.delimiter, prefix)
    _columns(draft, one, seen, prefix)
    _rows(seen)


def _delimiter(draft: UploadDraft, one: DraftFile, where: DeltaGenerator, told: str, prefix: str) -> None:
    key = f"{prefix}_delimiter"
    known = list(_DELIMITERS)
    if one.options.delimiter not in known:
        known.append(one.options.delimiter)

    def words(mark: str) -> str:
        shown = told if not mark and not one.options.delimiter else ""
        return _DELIMITERS.get(mark, mark) + (f": {_DELIMITERS.get(shown, shown).lower()}" if shown else "")

    where.selectbox(
        "Columns are divided by",
        known,
        index=known.index(one.options.delimiter),
        format_func=words,
        key=key,
        on_change=lambda: _decide(draft, one.name, delimiter=st.session_state[key], **_NO_COLUMNS),
    )


def _columns(draft: UploadDraft, one: DraftFile, seen: RecordsPreview, prefix: str) -> None:
    names = [column.name for column in seen.columns]
    prefix = f"{prefix}_{sha256_hex(repr((names, one.options.encoding, one.options.delimiter)))[:8]}"
    now = seen.options
    text_key, kept_key = f"{prefix}_text", f"{prefix}_kept"
    left, right = st.columns(2)
    left.multiselect(
        "Text columns",
        names,
        default=[name for name in now.text_columns if name in names],
        key=text_key,
        on_change=lambda: _decide(draft, one.name, text_columns=tuple(st.session_state[text_key])),
        placeholder="As recognised",
        help="What is searched. Several are joined in this order. None: as recognised.",
    )
    right.multiselect(
        "Columns to keep beside it",
        names,
        default=[name for name in now.metadata_columns if name in names],
        key=kept_key,
        on_change=lambda: _decide(draft, one.name, metadata_columns=tuple(st.session_state[kept_key])),
        placeholder="None",
        help="Shown with a result, never searched.",
    )
    _one_column(
        draft,
        one,
        left,
        names,
        now.title_column or "",
        f"{prefix}_title",
        "Title column",
        "title_column",
        "Put before the text of each row.",
    )
    _one_column(
        draft,
        one,
        right,
        names,
        now.id_column or "",
        f"{prefix}_id",
        "Id column",
        "id_column",
        "Names each row, as relevance judgements do.",
    )


def _one_column(
    draft: UploadDraft, one: DraftFile, where: DeltaGenerator, names: list[str], now: str, key: str, title: str,
    option: str, told: str,
) -> None:  # fmt: skip
    where.selectbox(
        title,
        ["", *names],
        index=names.index(now) + 1 if now in names else 0,
        format_func=lambda value: value or _NONE,
        key=key,
        on_change=lambda: _decide(draft, one.name, **{option: st.session_state[key]}),
        help=told,
    )


def _rows(seen: RecordsPreview) -> None:
    import pandas as pd

    order = sorted(range(len(seen.columns)), key=lambda at: _ROLE_ORDER.get(seen.columns[at].role, 9))
    heads = [
        f"{column.name} ({_ROLE_WORDS[column.role]})" if column.role in _ROLE_WORDS else column.name
        for column in (seen.columns[at] for at in order)
    ]
    frame = pd.DataFrame([[row[at] for at in order] for row in seen.rows], columns=heads)
    st.dataframe(frame, hide_index=True, alt="First rows of the file as they are read now.")
    if not seen.has_header:
        st.caption("No header was recognised: the first line is read as a row.")


def _spread(
    draft: UploadDraft, files: Mapping[str, DraftFile], found: Mapping[str, Recognised], one: DraftFile, form: str
) -> None:
    """Use one file's choices for the other tables that have the same columns."""
    others = [name for name in files if name != one.name and found[name].is_table]
    if not others or one.options == AS_IT_IS:
        return

    def spread() -> None:
        seen = _records(draft.source(one), one.options, one.name, one.sha256, repr(one.options))
        n_alike = 0
        for name in others[:_MOST_SPREAD]:
            file, options = files[name], replace(one.options, encoding=files[name].options.encoding)
            try:
                there = _records(draft.source(file), options, name, file.sha256, repr(options))
            except (UnreadableFile, NotFoundError):
                continue
            if _names(there) == _names(seen):
                draft.decide(name, options)
                n_alike += 1
        st.toast(f"Used for {count(n_alike, 'other file')} with these columns.", icon=":material/check:")

    st.button(
        "Use for all tables with these columns", icon=":material/copy_all:", on_click=spread, key=f"{form}_spread"
    )


def _names(seen: RecordsPreview | None) -> list[str] | None:
    return None if seen is None else [column.name for column in seen.columns]


def _decide(draft: UploadDraft, name: str, **chosen: Any) -> None:
    before = next((one.options for one in draft.read().files if one.name == name), None)
    if before is not None:
        draft.decide(name, replace(before, **chosen))


def _forget(draft: UploadDraft, name: str, prefix: str) -> None:
    draft.decide(name, AS_IT_IS)
    for key in [key for key in st.session_state if str(key).startswith(prefix)]:
        del st.session_state[key]


@st.cache_data(max_entries=64, show_spinner=False)
def _records(_source: SourceFile, _options: ReadOptions, name: str, sha256: str, way: str) -> RecordsPreview | None:
    """By content: name, digest and options are the key."""
    return preview_records(_source, _options, _ROWS)


@st.cache_data(max_entries=64, show_spinner=False)
def _decoded(_source: SourceFile, encoding: str, sha256: str) -> str:
    """By content: digest and encoding are the key."""
    return decode_preview(_source, encoding)[0]
