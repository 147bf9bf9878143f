"""Storage used, and the doctor in the browser."""

from __future__ import annotations

import streamlit as st

from backend.ui import state
from backend.ui.shell import errors
from backend.ui.text import count, size
from backend.workspace import Workspace

_MARKS = {"ok": "✓ ok", "warning": "! warning", "failed": "✗ failed"}


def storage(ws: Workspace) -> None:
    """Bytes by kind."""
    st.header("Storage", anchor="storage")
    used = ws.storage()
    st.caption(f"{size(sum(used.values()))} in the data folder.")
    st.dataframe(
        {"What": list(used), "Size": [size(n) for n in used.values()]},
        hide_index=True,
        width=420,
        alt="Storage used by kind.",
    )


def doctor(ws: Workspace) -> None:
    """A button that checks everything."""
    st.header("Check everything", anchor="doctor")
    # A fragment: the result stays while the reader works elsewhere on the page, and no other click repeats the checks.
    st.fragment(_doctor)(ws)


def _doctor(ws: Workspace) -> None:
    if not st.button("Run the checks", icon=":material/stethoscope:", key="settings_doctor"):
        st.caption("Packages, models, judge, endpoint, storage: what a duel and a verdict need. Takes seconds.")
        return
    with errors():
        with st.spinner("Checking…"):
            checks = ws.doctor(state.session_keys())
        failed = sum(check.state == "failed" for check in checks)
        if failed:
            st.warning(f"{failed} of {len(checks)} checks failed.", icon=":material/warning:")
        else:
            warned = count(sum(check.state == "warning" for check in checks), "warning")
            st.success(f"Nothing failed, {warned}.", icon=":material/check:")
        st.dataframe(
            {
                "Check": [check.name for check in checks],
                "State": [_MARKS[check.state] for check in checks],
                "Found": [check.detail for check in checks],
                "What to do": [check.hint for check in checks],
            },
            hide_index=True,
            height="content",
            column_config={
                "State": st.column_config.TextColumn(width="small"),
                "Found": st.column_config.TextColumn(width="medium"),
                "What to do": st.column_config.TextColumn(width="medium"),
            },
            alt="Checks with their state and what to do.",
        )
