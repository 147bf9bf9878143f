"""The duel page's inputs, in its sidebar: question, corpus, two models, options. Gives back a request on Run."""

from __future__ import annotations

import streamlit as st

from backend.corpus.types import Corpus
from backend.errors import InputError, UnavailableError
from backend.retrieval.types import Duel
from backend.ui import duel_options, model_facts, state
from backend.ui.duel_options import ALONE, WITH_QUERY, Options
from backend.ui.model_facts import ModelState
from backend.ui.text import label, short
from backend.workspace import DuelRequest, Workspace


def fill_from(duel: Duel | None) -> None:
    """Let the form follow the duel in the link, once a duel, so that it can be changed from there."""
    if duel is None or st.session_state.get(state.DUEL_FOLLOWED) == duel.duel_id:
        return
    drafts: dict[str, object] = {
        state.DUEL_FOLLOWED: duel.duel_id,
        state.DUEL_CORPUS: duel.corpus_id,
        state.DUEL_QUERY: duel.query,
        state.DUEL_K: duel.k,
        state.DUEL_HYDE: duel.hyde is not None,
    }
    for results, model_key, cut_key in (
        (duel.a, state.DUEL_MODEL_A, state.DUEL_CUT_A),
        (duel.b, state.DUEL_MODEL_B, state.DUEL_CUT_B),
    ):
        key, _, cut = results.model.partition("@")
        drafts[model_key] = key
        if cut.isdecimal():
            drafts[cut_key] = int(cut)
        else:
            st.session_state.pop(cut_key, None)
    if duel.hyde is not None:
        drafts[state.DUEL_HYDE_PASSAGES] = duel.hyde.n_passages
        drafts[state.DUEL_HYDE_MODE] = WITH_QUERY if duel.hyde.with_query else ALONE
    for key, value in drafts.items():
        st.session_state[key] = value


def show(ws: Workspace) -> DuelRequest | None:
    """Draw the form.

    Returns:
        What to run, when Run was pressed just now.

    Raises:
        InputError: Run was pressed and the question is blank, or both models are the same.
        UnavailableError: A chosen model is not here.
    """
    corpora = {corpus.corpus_id: corpus for corpus in ws.corpora.list()}
    with st.container(key="duel_form"):
        query = st.text_area(
            "Question",
            key=state.DUEL_QUERY,
            height=100,
            placeholder="Ask what a reader of these documents would ask.",
            persist_state="session",
        )
        suggestions = st.container()  # stands under the question; filled once the corpus is known
        corpus, a, b, gone = _choices(corpora, model_facts.model_states(ws))
        with suggestions:
            _suggestions(corpus)
        with st.container(horizontal=True, vertical_alignment="center"):
            pressed = st.button("Run duel", type="primary", icon=":material/play_arrow:", key="duel_run")
            options = duel_options.show(ws, a.spec, b.spec)
        st.caption(options.words)
        _history(ws)
    if not pressed:
        return None
    if gone:
        raise InputError(
            "What was chosen is gone, so nothing was run.", hint="Look at corpus and models, and run again."
        )
    _check(query or "", options, (a, b))
    return DuelRequest(
        corpus=corpus.corpus_id,
        query=(query or "").strip(),
        model_a=options.model_a,
        model_b=options.model_b,
        k=options.k,
        hyde=options.hyde,
    )


def _choices(corpora: dict[str, Corpus], models: dict[str, ModelState]) -> tuple[Corpus, ModelState, ModelState, bool]:
    offered = {
        "corpus": (state.DUEL_CORPUS, list(corpora)),
        "model A": (state.DUEL_MODEL_A, list(models)),
        "model B": (state.DUEL_MODEL_B, list(models)),
    }
    gone = [word for word, (key, options) in offered.items() if state.keep_choice(key, options)]
    if gone:  # another choice takes its place in the form; a Run pressed on the old one must not use it
        st.warning(f"The {' and the '.join(gone)} chosen before is gone.", icon=":material/warning:")
    if state.DUEL_MODEL_B not in st.session_state and len(models) > 1:
        taken = st.session_state.get(state.DUEL_MODEL_A, next(iter(models)))
        st.session_state[state.DUEL_MODEL_B] = next(key for key in models if key != taken)
    corpus_id = st.selectbox(
        "Corpus",
        list(corpora),
        format_func=lambda key: corpora[key].name,
        key=state.DUEL_CORPUS,
        persist_state="session",
    )
    chosen = []
    for title, key in (("Model A", state.DUEL_MODEL_A), ("Model B", state.DUEL_MODEL_B)):
        model = st.selectbox(
            title, list(models), format_func=lambda name: models[name].title, key=key, persist_state="session"
        )
        model_facts.notes(models[model])
        chosen.append(models[model])
    return corpora[corpus_id], chosen[0], chosen[1], bool(gone)


def _suggestions(corpus: Corpus) -> None:
    def use() -> None:
        picked = st.session_state.get(state.DUEL_SUGGESTION)
        if picked:
            st.session_state[state.DUEL_QUERY] = picked
        st.session_state[state.DUEL_SUGGESTION] = None

    if corpus.suggested_queries:
        st.selectbox(
            "Suggested questions",
            list(corpus.suggested_queries),
            index=None,
            placeholder="Pick a suggestion",
            label_visibility="collapsed",
            key=state.DUEL_SUGGESTION,
            on_change=use,
        )


def _history(ws: Workspace) -> None:
    recent = ws.duels.recent(8)
    if not recent:
        return
    with st.popover("Recent duels", icon=":material/history:", key="duel_history"):
        for duel in recent:
            st.page_link(
                "pages/duel.py",
                label=label(f"{short(duel.query, 70)} · {duel.corpus_name}"),
                query_params={state.URL_DUEL: duel.duel_id},
                width="stretch",
            )


def _check(query: str, options: Options, models: tuple[ModelState, ModelState]) -> None:
    if not query.strip():
        raise InputError("There is no question yet.", hint="Type one, or pick a suggestion.")
    if options.model_a == options.model_b:
        raise InputError("Both sides have the same model.", hint="Pick two different models.")
    for model in models:
        if not model.ready:
            raise UnavailableError(
                f"The model {model.spec.key} is not on this machine.", hint=model.availability.how_to_get
            )
