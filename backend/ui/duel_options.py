"""Options of a duel behind one button: cutoff, dimensions, HyDE; in words beside it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from backend.embedding.types import ModelSpec
from backend.retrieval.types import HydeSettings
from backend.ui import chat_facts, state
from backend.workspace import Workspace

WITH_QUERY = "Average with the question"
ALONE = "Passages alone"
MAX_K = 100
MAX_PASSAGES = 8


@dataclass(frozen=True, slots=True)
class Options:
    """What was chosen.

    Attributes:
        k: Results a model.
        model_a: Registry key of model A, with its cut (``KEY@128``) where one was chosen.
        model_b: Likewise.
        hyde: Query expansion, or None.
    """

    k: int
    model_a: str
    model_b: str
    hyde: HydeSettings | None

    @property
    def words(self) -> str:
        """The options in one line."""
        parts = [f"top {self.k} of each model"]
        parts += [
            f"{side} cut to {key.partition('@')[2]}" for side, key in zip("AB", self._models, strict=True) if "@" in key
        ]
        if self.hyde is None:
            parts.append("HyDE off")
        else:
            n = self.hyde.n_passages
            way = "averaged with the question" if self.hyde.with_query else "instead of the question"
            parts.append(f"HyDE with {n} passage{'s' if n > 1 else ''}, {way}")
        return " · ".join(parts)

    @property
    def _models(self) -> tuple[str, str]:
        return self.model_a, self.model_b


def show(ws: Workspace, a: ModelSpec, b: ModelSpec) -> Options:
    """Draw the button with the options behind it."""
    st.session_state.setdefault(state.DUEL_K, 5)
    with st.popover("Options", icon=":material/tune:"):
        k = st.number_input(
            "Results a model (k)", min_value=1, max_value=MAX_K, key=state.DUEL_K, persist_state="session"
        )
        model_a = _cut("A", a, state.DUEL_CUT_A)
        model_b = _cut("B", b, state.DUEL_CUT_B)
        hyde = _hyde(ws)
    return Options(min(max(int(k), 1), MAX_K), model_a, model_b, hyde)


def _cut(side: str, spec: ModelSpec, key: str) -> str:
    """The model's key, with the cut that was chosen where its authors mean it to be cut (Matryoshka)."""
    if len(spec.dimensions) < 2:
        return spec.key
    choices = sorted(spec.dimensions, reverse=True)
    state.keep_choice(key, choices)
    chosen = st.selectbox(
        f"Dimensions of model {side}",
        choices,
        format_func=lambda n: f"{n} (full)" if n == spec.dimension else str(n),
        key=key,
        persist_state="session",
    )
    return spec.key if chosen in (spec.dimension, None) else f"{spec.key}@{chosen}"


def _hyde(ws: Workspace) -> HydeSettings | None:
    on = st.toggle("HyDE: write hypothetical passages first", key=state.DUEL_HYDE, persist_state="session")
    st.caption(
        "A chat model writes a passage that could answer the question; both models then search with that passage. "
        "It helps when questions and documents use different words. Off by default."
    )
    if not on:
        return None
    st.session_state.setdefault(state.DUEL_HYDE_PASSAGES, 1)
    st.session_state.setdefault(state.DUEL_HYDE_MODE, WITH_QUERY)
    passages = st.number_input(
        "Passages", min_value=1, max_value=MAX_PASSAGES, key=state.DUEL_HYDE_PASSAGES, persist_state="session"
    )
    mode = st.radio(
        "Search vector",
        [WITH_QUERY, ALONE],
        key=state.DUEL_HYDE_MODE,
        persist_state="session",
        help="The average keeps the question's own words in play (equation 8 of the HyDE paper).",
    )
    st.caption(f"Written by {chat_facts.writer(ws)}.")
    return HydeSettings(n_passages=min(max(int(passages), 1), MAX_PASSAGES), with_query=mode == WITH_QUERY)
