"""What stands round every page: the guard, the page's title, and the box that errors end in."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from backend.errors import RagduelError
from backend.ui import brand, state
from backend.ui.text import label

log = logging.getLogger(__name__)


def route() -> None:
    """Called by app.py: marks the session as routed, and sends a stray page's visitor back to where they wanted."""
    st.session_state[state.ROUTED] = True
    st.logo(brand.LOGO, size="large")
    pending = st.session_state.pop(state.PENDING, None)
    if pending is not None:
        st.switch_page(pending["page"], query_params=pending["params"])


@contextmanager
def begin(page_file: str, title: str, intro: str = "") -> Iterator[None]:
    """Guard, title and error box of a page: ``with shell.begin(__file__, "Duel"):``.

    The first visitor after a server start who opens a deep link gets the page file run by itself, without app.py
    (Streamlit reads ``pages/`` until somebody's session has called ``st.navigation``). Such a stray is sent through
    app.py and back, with the ids in its link.
    """
    if not st.session_state.get(state.ROUTED):
        page = f"pages/{Path(page_file).name}"
        st.session_state[state.PENDING] = {"page": page, "params": st.query_params.to_dict()}
        st.switch_page("app.py")
    st.set_page_config(page_title=f"{title} · Ragduel", page_icon=brand.ICON, layout="wide")
    st.title(title, anchor=False)
    if intro:
        st.caption(intro)
    with errors():
        yield


@contextmanager
def errors() -> Iterator[None]:
    """Show what goes wrong inside the block: an error for people as it is, anything else by an id in the log."""
    try:
        yield
    except RagduelError as error:
        show_error(error.message, error.hint)
    except Exception:
        incident = secrets.token_hex(4)
        log.exception("Incident %s", incident)
        show_error(
            f"Something went wrong that Ragduel did not foresee (incident {incident}).",
            "Nothing was lost. The details are in the server's log under that number; trying again may help.",
        )


def show_error(message: str, hint: str = "") -> None:
    """A message that may quote files or servers, and what to do about it."""
    st.error(label(message) + (f"\n\n{label(hint)}" if hint else ""), icon=":material/error:")
