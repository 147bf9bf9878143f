"""The sidebar on a phone: it lies over the page, so a button opens it, and it gives way when the page has news.

Streamlit offers no call for either after the first visit. The scripts here are ours alone and hold nobody's text.
"""

from __future__ import annotations

import time

import streamlit as st

from backend.ui import state

_PHONE_PX = 768
_OPEN = """document.querySelector('[data-testid="stExpandSidebarButton"]')?.click()"""
_CLOSE = (
    f"if (window.innerWidth <= {_PHONE_PX}) "
    """document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click()"""
)
_SCRIPTS = {"open": _OPEN, "close": _CLOSE}


def obey() -> None:
    """Open or close the sidebar as the run before asked."""
    script = _SCRIPTS.get(str(st.session_state.pop(state.SIDEBAR, "")))
    if script:
        # The time makes it another script each time: the browser runs the same one once only.
        st.html(f"<script>{script} /* {time.time_ns()} */</script>", unsafe_allow_javascript=True)


def close_on_phone() -> None:
    """Let the next run close the sidebar where it lies over the page."""
    st.session_state[state.SIDEBAR] = "close"


def opener(words: str, key: str) -> None:
    """A button that opens the sidebar, on screens so narrow that it is closed at first."""
    st.html(hidden_when_wide(key))
    if st.button(words, icon=":material/edit_note:", key=key):
        st.session_state[state.SIDEBAR] = "open"
        st.rerun()


def hidden_when_wide(key: str) -> str:
    """The style that takes an element off wide screens."""
    return f"<style>@media (min-width: {_PHONE_PX + 1}px) {{ .st-key-{key} {{ display: none; }} }}</style>"
