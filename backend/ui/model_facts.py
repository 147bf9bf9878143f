"""Embedding models for people: who is ready, how to get the others, and what a model is."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from backend.embedding import availability
from backend.embedding.types import Availability, AvailabilityState, ModelSpec, Source
from backend.ui.text import count, label
from backend.workspace import Workspace

STATE_WORDS = {
    AvailabilityState.READY: "ready",
    AvailabilityState.DOWNLOADABLE: "not downloaded",
    AvailabilityState.UNAVAILABLE: "unavailable",
}
_SOURCE_WORDS = {
    Source.HUB: "model hub",
    Source.FOLDER: "folder on this machine",
    Source.PACKAGE: "inside an installed package",
    Source.ENDPOINT: "OpenAI-compatible endpoint",
}


@dataclass(frozen=True, slots=True)
class ModelState:
    """A registry entry and whether it can be used now."""

    spec: ModelSpec
    availability: Availability

    @property
    def ready(self) -> bool:
        """Whether it can be used now."""
        return self.availability.state is AvailabilityState.READY

    @property
    def title(self) -> str:
        """Key, with its state where it is not ready. Plain text."""
        return self.spec.key if self.ready else f"{self.spec.key} ({STATE_WORDS[self.availability.state]})"


def model_states(ws: Workspace) -> dict[str, ModelState]:
    """Every model by key: the ready ones first, else in the registry's order."""
    states = [ModelState(spec, availability(spec, ws.settings)) for spec in ws.registry.list()]
    return {state.spec.key: state for state in sorted(states, key=lambda state: not state.ready)}


def notes(state: ModelState) -> None:
    """What a person must know before picking this model: how to get it, and the sentence of caution."""
    if not state.ready:
        st.caption(f":material/download: {label(state.availability.how_to_get or 'Not available here.')}")
    if state.spec.caution:
        st.caption(f":material/info: {label(state.spec.caution)}")


def facts(spec: ModelSpec) -> dict[str, str]:
    """What the model is and how it is used, as words."""
    cut = f", cut to {spec.truncate_dimension}" if spec.truncate_dimension else ""
    matryoshka = f" (can be cut to {', '.join(map(str, spec.dimensions))})" if len(spec.dimensions) > 1 else ""
    return {
        "Name": spec.name,
        "Source": _SOURCE_WORDS[spec.source] + (f" {spec.base_url}" if spec.base_url else ""),
        "Revision": spec.revision[:12] or "not pinned",
        "Query prompt": repr(spec.query_prompt) if spec.query_prompt else "none",
        "Document prompt": repr(spec.document_prompt) if spec.document_prompt else "none",
        "Pooling": "by the server" if spec.pooling == "endpoint" else spec.pooling,
        "Dimensions": f"{spec.dimension}{cut}{matryoshka}" if spec.dimension else "told by the first probe",
        "Reads at most": _max_tokens(spec),
        "Parameters": spec.parameters or "not stated",
        "Licence": spec.licence or "not stated",
        "Facts from": spec.facts_from or "its own files",
    }


def _max_tokens(spec: ModelSpec) -> str:
    if spec.max_tokens:
        return count(spec.max_tokens, "token")
    return "whatever its server takes" if spec.source is Source.ENDPOINT else "any length"


def facts_table(specs: list[ModelSpec]) -> None:
    """Facts of some models beside each other. Cells are plain text."""
    import pandas as pd

    columns = {spec.key: facts(spec) for spec in specs}
    st.dataframe(
        pd.DataFrame(columns),
        row_height=34,
        alt="Facts about the chosen models: prompts, pooling, dimensions, length, licence.",
    )
