"""Untrusted text on the page: documents, queries, file names, replies, and other people's error messages.

Long text goes through ``st.text`` or ``st.code(language=None)``, which show every character as it is. Where Streamlit
offers only a markdown label (headings, captions, badges, buttons, alerts), ``label`` keeps short text literal.
"""

from __future__ import annotations

import re

import streamlit as st

_JOINER = "\u2060"  # word joiner: no width, no line break; stops emoji, icon, arrow and link rules
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&=^@'\"])")
# Sequences that are read after escaping: :name: and :red[ ], user@host, and arrows or signs made of two characters.
_PAIRS = re.compile(r"(\\:)(?=\S)|(\\@)|(\\[<>=~\-])(?=\\[<>=\-])")
_BARE_LINK = re.compile(r"\b(www)(?=\\\.)", re.IGNORECASE)
_LONG_CHARS = 1_400


def label(text: str, limit: int | None = None) -> str:
    """Escape a short text for a place that takes only markdown: it shows literally, on one line.

    Args:
        text: Any text.
        limit: Most characters kept; what is longer ends in an ellipsis.

    Returns:
        Markdown that renders as ``text`` with whitespace collapsed.
    """
    flat = " ".join(text.split())
    if limit is not None and len(flat) > limit:
        flat = flat[: limit - 1].rstrip() + "…"
    escaped = _PAIRS.sub(rf"\g<0>{_JOINER}", _MARKUP.sub(r"\\\1", flat))
    return _BARE_LINK.sub(rf"\1{_JOINER}", escaped)


def question(query: str) -> None:
    """A query as the headline of what it brought; a long or many-lined one as plain text."""
    if len(query) <= 200 and "\n" not in query:
        st.header(label(query), anchor=False)
    else:
        passage(query)


def short(text: str, limit: int) -> str:
    """One line of at most ``limit`` characters, for places that take plain text."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def passage(text: str) -> None:
    """A passage for reading, character by character as it is; a long one scrolls in its own box."""
    if len(text) > _LONG_CHARS:
        with st.container(height=340, border=False):
            st.text(text)
    else:
        st.text(text)


def verbatim(text: str, height: int | None = None) -> None:
    """Text whose exact form matters (a raw reply, a whole document), with a copy button."""
    st.code(text, language=None, wrap_lines=True, height=height or "content")


def count(n: int, one: str, many: str | None = None) -> str:
    """A number with its noun: ``1 chunk``, ``1,204 chunks``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def size(n_bytes: int) -> str:
    """Bytes for people."""
    value = float(n_bytes)
    for unit in ("bytes", "KB", "MB"):
        if value < 1000:
            return f"{value:,.0f} {unit}" if unit == "bytes" else f"{value:,.1f} {unit}"
        value /= 1000
    return f"{value:,.2f} GB"


def moment(iso: str) -> str:
    """A stored time, to the minute, in UTC."""
    return f"{iso[:10]} {iso[11:16]} UTC" if len(iso) >= 16 else iso
