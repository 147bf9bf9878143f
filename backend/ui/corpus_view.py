"""One corpus: what came of its files, its documents and chunks, what each model would cut, and how to delete it."""

from __future__ import annotations

import streamlit as st

from backend.corpus.types import Corpus
from backend.ui import corpus_list, model_facts, state
from backend.ui.text import count, label, moment, short, verbatim
from backend.workspace import Workspace


def show(ws: Workspace, corpus: Corpus) -> None:
    """Draw the corpus."""
    st.header(label(corpus.name), anchor=False)
    facts = (
        count(corpus.n_documents, "document"),
        count(corpus.n_chunks, "chunk"),
        corpus_list.chunking(corpus),
        f"version {corpus.version_fingerprint[:8]}",
        moment(corpus.created_at),
    )
    st.caption(" · ".join(facts))
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Duel on this corpus", type="primary", icon=":material/compare:", key="corpora_duel"):
            st.session_state[state.DUEL_CORPUS] = corpus.corpus_id
            st.session_state[state.DUEL_QUERY] = next(iter(corpus.suggested_queries), "")
            newest = next(iter(ws.duels.recent(1, corpus.corpus_id)), None)
            st.session_state[state.DUEL_FOLLOWED] = newest.duel_id if newest else None
            st.switch_page("pages/duel.py", query_params={state.URL_DUEL: newest.duel_id} if newest else None)
        _delete(ws, corpus)
    _outcome(corpus)
    documents, chunks, cuts = st.tabs(["Documents", "Chunks", "What models would cut"])
    with documents:
        _documents(ws, corpus)
    with chunks:
        _chunks(ws, corpus)
    with cuts:
        _cuts(ws, corpus)


def _delete(ws: Workspace, corpus: Corpus) -> None:
    with st.popover("Delete", icon=":material/delete:", key="corpora_delete"):
        st.markdown(f"**{label(corpus.name)}** with {count(corpus.n_documents, 'document')} will be gone for good.")
        st.caption("Duels and verdicts on it stay readable.")
        if st.button("Delete for good", type="primary", icon=":material/delete_forever:", key="corpora_delete_sure"):
            ws.corpora.delete(corpus.corpus_id)
            st.toast("Corpus deleted.", icon=":material/check:")
            state.go()


def _outcome(corpus: Corpus) -> None:
    import pandas as pd

    if corpus.skipped:
        st.warning(
            f"{count(len(corpus.skipped), 'file or row', 'files or rows')} gave no text.", icon=":material/warning:"
        )
        st.dataframe(
            pd.DataFrame({"File": [s.file for s in corpus.skipped], "Why": [s.reason for s in corpus.skipped]}),
            hide_index=True,
            column_config={"Why": st.column_config.TextColumn(width="large")},
            alt="Files that gave no text, and why.",
        )
    if corpus.warnings:
        with st.expander(count(len(corpus.warnings), "warning"), icon=":material/info:"):
            for warning in corpus.warnings:
                st.text(warning)


def _documents(ws: Workspace, corpus: Corpus) -> None:
    import pandas as pd

    documents = {document.document_id: document for document in ws.corpora.documents(corpus.corpus_id)}
    st.dataframe(
        pd.DataFrame(
            {
                "Document": [document.name for document in documents.values()],
                "Title": [document.title for document in documents.values()],
                "Type": [document.media_type for document in documents.values()],
                "Characters": [document.n_chars for document in documents.values()],
                "Warnings": ["; ".join(document.warnings) for document in documents.values()],
            }
        ),
        hide_index=True,
        alt="Documents of this corpus.",
    )
    state.keep_choice(state.CORPUS_DOCUMENT, list(documents))
    chosen = st.selectbox(
        "Read a document",
        list(documents),
        index=None,
        format_func=lambda key: short(documents[key].name, 120),
        key=state.CORPUS_DOCUMENT,
        placeholder="Pick one to see the text that was read from it",
    )
    if chosen is not None:
        verbatim(ws.corpora.document_text(chosen), height=420)


def _chunks(ws: Workspace, corpus: Corpus) -> None:
    import pandas as pd

    chunks = ws.corpora.chunks(corpus.version_id)
    st.dataframe(
        pd.DataFrame(
            {
                "Document": [chunk.document_name for chunk in chunks],
                "Place": [chunk.place for chunk in chunks],
                "Characters": [f"{chunk.start:,}–{chunk.end:,}" for chunk in chunks],
                "Text": [chunk.text for chunk in chunks],
            }
        ),
        column_config={"Text": st.column_config.TextColumn(width="large")},
        height=420,
        alt="Chunks of this corpus with their place and text.",
    )


def _cuts(ws: Workspace, corpus: Corpus) -> None:
    st.caption(
        "A model reads only so many tokens of a chunk; the rest is cut. Static tables and short chunks lose nothing."
    )
    if st.session_state.get(state.CORPUS_CUTS) != corpus.corpus_id:
        if st.button("Count for every ready model", icon=":material/content_cut:", key="corpora_cuts_ask"):
            st.session_state[state.CORPUS_CUTS] = corpus.corpus_id
            st.rerun()
        return
    import pandas as pd

    ready = {key: model.spec for key, model in model_facts.model_states(ws).items() if model.ready}
    with st.spinner("Counting tokens…"):
        counts = _counted(
            ws, corpus.corpus_id, corpus.version_id, tuple(spec.fingerprint for spec in ready.values()), tuple(ready)
        )
    st.dataframe(
        pd.DataFrame(
            {
                "Model": list(counts),
                "Reads at most": [model_facts.facts(ready[key])["Reads at most"] for key in counts],
                "Chunks cut": [
                    "only its server knows" if n is None else f"{n:,} of {corpus.n_chunks:,}" for n in counts.values()
                ],
            }
        ),
        hide_index=True,
        alt="Chunks that each model would cut.",
    )


@st.cache_data(max_entries=32, show_spinner=False)
def _counted(
    _ws: Workspace, corpus_id: str, version_id: str, fingerprints: tuple[str, ...], keys: tuple[str, ...]
) -> dict[str, int | None]:
    """Counts by content: the version and the models' fingerprints are the key."""
    return _ws.cut_counts(corpus_id, keys)
