"""How many chunks of a corpus each model would cut."""

from __future__ import annotations

import streamlit as st

from backend.corpus.types import Corpus
from backend.embedding import ModelSpec, Source
from backend.ui import model_facts, state
from backend.ui.text import count
from backend.workspace import Workspace

_AT_ONCE_CHUNKS = 20_000


def show(ws: Workspace, corpus: Corpus) -> None:
    """Draw the counts; those of a large corpus are made when asked for. No model is loaded: tokenizers suffice."""
    st.caption(
        "A model reads only so many tokens of a chunk; the rest is cut. Static tables and short chunks lose nothing."
    )
    asked = st.session_state.get(state.CORPUS_CUTS) == corpus.version_id
    if corpus.n_chunks >= _AT_ONCE_CHUNKS and not asked:
        if st.button("Count for every ready model", icon=":material/content_cut:", key="corpora_cuts_ask"):
            st.session_state[state.CORPUS_CUTS] = corpus.version_id
            st.rerun()
        st.caption(
            f"The tokens of {count(corpus.n_chunks, 'chunk')} are counted once for each model; it takes a while."
        )
        return
    ready = {key: model.spec for key, model in model_facts.model_states(ws).items() if model.ready}
    if not ready:
        st.info("No model is ready yet. The settings page says how to get one.", icon=":material/info:")
        return
    import pandas as pd

    with st.spinner("Counting tokens…"):
        counts = _counted(
            ws, corpus.corpus_id, corpus.version_id, tuple(spec.fingerprint for spec in ready.values()), tuple(ready)
        )
    st.dataframe(
        pd.DataFrame(
            {
                "Model": list(counts),
                "Reads at most": [model_facts.facts(ready[key])["Reads at most"] for key in counts],
                "Chunks cut": [_told(ready[key], n, corpus) for key, n in counts.items()],
            }
        ),
        hide_index=True,
        alt="Chunks that each model would cut.",
    )


def _told(spec: ModelSpec, n_cut: int | None, corpus: Corpus) -> str:
    if n_cut is not None:
        return f"{n_cut:,} of {corpus.n_chunks:,}"
    return "only its server knows" if spec.source is Source.ENDPOINT else "not known: its tokenizer is not here"


@st.cache_data(max_entries=32, show_spinner=False)
def _counted(
    _ws: Workspace, corpus_id: str, version_id: str, fingerprints: tuple[str, ...], keys: tuple[str, ...]
) -> dict[str, int | None]:
    """Counts by content: the version and the models' fingerprints are the key."""
    return _ws.corpus_work.cut_counts(corpus_id, keys)
