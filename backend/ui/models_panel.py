"""Embedding models: their state, the way to get them, adding one, removing one."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from backend.embedding.types import AvailabilityState, ModelSpec, Source
from backend.errors import InputError
from backend.jobs import JobStatus
from backend.ui import job_progress, model_facts, state
from backend.ui.model_facts import STATE_WORDS, ModelState
from backend.ui.shell import errors
from backend.ui.text import label
from backend.workspace import Workspace

_LOCAL, _ENDPOINT = "Hub or folder", "Endpoint"


def show(ws: Workspace) -> None:
    """Draw the panel."""
    st.header("Embedding models", anchor="models")
    models = model_facts.model_states(ws)
    _table(ws, models)
    with errors():
        _downloads(ws, models)
    with st.expander("Add a model", icon=":material/add:"), errors():
        _add(ws)
    with errors():
        _key_of_endpoint(models)
    with errors():
        _remove(ws, models)


def _table(ws: Workspace, models: dict[str, ModelState]) -> None:
    import pandas as pd

    loaded = set(ws.encoders.loaded())
    told = [model_facts.facts(model.spec) for model in models.values()]
    st.dataframe(
        pd.DataFrame(
            {
                "Model": list(models),
                "State": [
                    "in memory" if key in loaded else STATE_WORDS[model.availability.state]
                    for key, model in models.items()
                ],
                "How to get it": [model.availability.how_to_get for model in models.values()],
                "Name": [facts["Name"] for facts in told],
                "Dimensions": [facts["Dimensions"] for facts in told],
                "Reads at most": [facts["Reads at most"] for facts in told],
                "Licence": [facts["Licence"] for facts in told],
                "Caution": [model.spec.caution for model in models.values()],
            }
        ),
        hide_index=True,
        column_config={"How to get it": st.column_config.TextColumn(width="large")},
        alt="Embedding models with their state and the way to get each.",
    )
    cautions = [model.spec for model in models.values() if model.spec.caution]
    if cautions:
        st.caption("\n".join(f"- **{label(spec.key)}**: {label(spec.caution)}" for spec in cautions))


def _downloads(ws: Workspace, models: dict[str, ModelState]) -> None:
    job_id = state.linked(state.URL_JOB)
    if job_id:

        def arrive(_: JobStatus) -> None:
            st.success("The model is here.", icon=":material/check:")

        job_progress.follow(ws, job_id, "Downloading", arrive)
    missing = [key for key, model in models.items() if model.availability.state is AvailabilityState.DOWNLOADABLE]
    if not missing:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox("Not downloaded yet", missing, key="settings_download_model", width=320)
        if st.button("Download", icon=":material/download:", key="settings_download"):
            state.go(**{state.URL_JOB: ws.start_download(chosen)})


def _add(ws: Workspace) -> None:
    kind = st.segmented_control("Kind", [_LOCAL, _ENDPOINT], default=_LOCAL, required=True, key="settings_add_kind")
    endpoint = kind == _ENDPOINT
    with st.form("settings_add_form"):
        key = st.text_input("Name in Ragduel", key="settings_add_key", max_chars=100, placeholder="my-model")
        base_url = ""
        if endpoint:
            base_url = st.text_input("Base URL", key="settings_add_url", placeholder="http://localhost:11434/v1") or ""
        typed_key = ""
        if endpoint:
            typed_key = (
                st.text_input(
                    "Key",
                    type="password",
                    key="settings_add_secret",
                    autocomplete="off",
                    help="For this address, in this session only. A local server mostly wants none. For good: set "
                    "RAGDUEL_EMBEDDING_BASE_URL and RAGDUEL_EMBEDDING_API_KEY before the start.",
                )
                or ""
            )
        name = st.text_input(
            "Model name at the endpoint" if endpoint else "Hub id or folder",
            key="settings_add_name",
            placeholder="nomic-embed-text" if endpoint else "BAAI/bge-base-en-v1.5",
        )
        left, right = st.columns(2)
        query_prompt = left.text_input(
            "Query prompt", key="settings_add_query_prompt", help="Put before each question."
        )
        document_prompt = right.text_input(
            "Document prompt", key="settings_add_document_prompt", help="Put before each chunk."
        )
        st.caption(
            "Use the prompts that the model’s authors name; spaces at the end count. The model is tried before it is "
            "saved, and code from a hub is never run."
        )
        pressed = st.form_submit_button("Try and add", type="primary", icon=":material/add:", key="settings_add")
    if not pressed:
        return
    if not (key or "").strip() or not (name or "").strip():
        raise InputError("A model needs a name in Ragduel and a name where it comes from.")
    draft = ModelSpec(
        key=(key or "").strip(),
        source=_source(endpoint, (name or "").strip()),
        name=(name or "").strip(),
        base_url=base_url.strip(),
        query_prompt=query_prompt or "",
        document_prompt=document_prompt or "",
        pooling="endpoint" if endpoint else "mean",
    )
    with st.spinner("Trying it with two short texts…"):
        if endpoint:
            state.keep_embedding_key(draft.base_url, typed_key)
        spec = ws.probe_model(draft, ws.endpoints.embedding_key_for(draft.base_url, state.session_keys()))
    ws.registry.add(spec)
    st.toast("Model added.", icon=":material/check:")
    st.rerun()


def _key_of_endpoint(models: dict[str, ModelState]) -> None:
    """A key for an endpoint that was added in another session: keys are not kept with the model."""
    urls = sorted({model.spec.base_url for model in models.values() if model.spec.base_url})
    if not urls:
        return
    with st.expander("Key for an endpoint", icon=":material/key:"), st.form("settings_key_form", clear_on_submit=True):
        url = st.selectbox("Address", urls, key="settings_key_url")
        typed = st.text_input("Key", type="password", key="settings_key_typed", autocomplete="off")
        if st.form_submit_button("Use in this session", icon=":material/key:", key="settings_key_use"):
            state.keep_embedding_key(url, typed or "")
            st.toast("Key set for this session.", icon=":material/check:")


def _source(endpoint: bool, name: str) -> Source:
    if endpoint:
        return Source.ENDPOINT
    return Source.FOLDER if name.startswith((".", "/", "~")) or Path(name).expanduser().is_dir() else Source.HUB


def _remove(ws: Workspace, models: dict[str, ModelState]) -> None:
    added = [key for key in models if not ws.registry.is_builtin(key)]
    if not added:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox("Added by you", added, key="settings_remove_model", width=320)
        if st.button("Remove", icon=":material/delete:", key="settings_remove"):
            ws.registry.remove(chosen)
            st.rerun()
    st.caption("Removing a model keeps its duels and verdicts.")
