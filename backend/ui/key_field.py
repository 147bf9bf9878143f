"""A key that a person types: kept in this session's memory, never shown back, never in the URL or the database."""

from __future__ import annotations

import streamlit as st


def show(state_key: str, url_key: str, base_url: str, title: str, note: str) -> None:
    """Draw the field, or that a key is set and a way to forget it.

    Args:
        state_key: Where the session keeps the key.
        url_key: Where it keeps the address that the key is for.
        base_url: That address; a key typed for another one counts as none.
        title: What the key is for.
        note: Where it may come from otherwise.
    """
    if st.session_state.get(state_key) and st.session_state.get(url_key) == base_url:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(f"{title} set for this session", icon=":material/key:", color="green")
            if st.button("Forget it", type="tertiary", key=f"{state_key}_forget"):
                del st.session_state[state_key]
                st.rerun()
        return
    # A form that empties itself: the typed key does not stay in the browser's field.
    with (
        st.form(f"{state_key}_form", clear_on_submit=True, border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        typed = st.text_input(title, type="password", key=f"{state_key}_typed", autocomplete="off")
        kept = st.form_submit_button("Use in this session", icon=":material/key:", key=f"{state_key}_use")
    st.caption(note)
    if kept and (typed or "").strip():
        st.session_state[state_key] = (typed or "").strip()
        st.session_state[url_key] = base_url
        st.rerun()
