"""The one Workspace of this process, shared by every session."""

from __future__ import annotations

import streamlit as st

from backend.settings import current_settings
from backend.workspace import Workspace


@st.cache_resource(show_spinner="Opening the data folder…")
def workspace() -> Workspace:
    """The rooms joined, built once. Reading ``st.secrets`` puts its entries into the environment, as settings."""
    st.secrets.load_if_toml_exists()
    return Workspace(current_settings())
