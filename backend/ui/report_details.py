"""What stands behind a quality report: chunk lengths, languages, duplicates, repeated lines, what was skipped."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from backend.corpus.files import SkippedFile
from backend.corpus.quality import ChunkLengths, Duplicates, LanguageShare, NearDuplicates, QualityReport, RepeatedLine
from backend.corpus.types import Corpus
from backend.ui import state
from backend.ui.text import count, label, short
from backend.workspace import Workspace

_MOST_LANGUAGES = 12


def show(ws: Workspace, corpus: Corpus, report: QualityReport) -> None:
    """Draw them; what there is none of is left out."""
    skipped(report.skipped)
    left, right = st.columns(2)
    with left:
        lengths(report.lengths)
    with right:
        _languages(report.languages)
    ids = {document.name: document.document_id for document in reversed(ws.corpora.documents(corpus.corpus_id))}
    for title, same in (
        ("Documents with the same text", report.duplicate_documents),
        ("Records with the same text", report.duplicate_records),
        ("Chunks with the same text", report.duplicate_chunks),
    ):
        _duplicates(corpus, ids, title, same)
    for title, near in (
        ("Documents that are nearly the same", report.near_documents),
        ("Records that are nearly the same", report.near_records),
    ):
        _near(corpus, ids, title, near)
    _repeated(report.repeated_lines)
    warnings(report.warnings)


def skipped(files: Sequence[SkippedFile]) -> None:
    """Files and records that gave no text, and why."""
    import pandas as pd

    if not files:
        return
    st.subheader("Skipped", anchor=False)
    st.caption(f"{count(len(files), 'file or row', 'files or rows')} gave no text:")
    st.dataframe(
        pd.DataFrame({"File": [one.file for one in files], "Why": [one.reason for one in files]}),
        hide_index=True,
        column_config={"Why": st.column_config.TextColumn(width="large")},
        alt="Files that gave no text, why, and what to do.",
    )


def warnings(sentences: Sequence[str]) -> None:
    """What was odd about files that were read."""
    import pandas as pd

    if sentences:
        with st.expander(count(len(sentences), "warning"), icon=":material/info:"):
            st.dataframe(
                pd.DataFrame({"Warning": list(sentences)}),
                hide_index=True,
                column_config={"Warning": st.column_config.TextColumn(width="large")},
                alt="Warnings of the files that were read.",
            )


def lengths(facts: ChunkLengths) -> None:
    """How long the chunks are."""
    import altair as alt
    import pandas as pd

    st.subheader("Chunk lengths", anchor=False)
    if not facts.n_chunks or not facts.histogram:
        st.caption("There is no chunk to measure.")
        return
    frame = pd.DataFrame(
        {
            "from": [one.start for one in facts.histogram],
            "to": [one.end for one in facts.histogram],
            "chunks": [one.n_chunks for one in facts.histogram],
        }
    )
    chart = (
        alt.Chart(frame, height=220)
        .mark_bar()
        .encode(
            x=alt.X("from:Q", bin="binned", title=f"{facts.unit.capitalize()} in a chunk"),
            x2="to",
            y=alt.Y("chunks:Q", title="Chunks", axis=alt.Axis(tickMinStep=1)),
            tooltip=[alt.Tooltip("from:Q", title="from"), alt.Tooltip("to:Q", title="below"), "chunks:Q"],
        )
    )
    told = "; ".join(f"{one.start} to {one.end - 1}: {one.n_chunks}" for one in facts.histogram if one.n_chunks)
    st.altair_chart(chart, alt=f"Histogram of {facts.unit} in a chunk. {told}.")
    words = [
        f"Half of the chunks hold {facts.quartile_1:,.0f} to {facts.quartile_3:,.0f} {facts.unit}; "
        f"shortest {facts.shortest:,}, longest {facts.longest:,}."
    ]
    if facts.n_counted < facts.n_chunks:
        words.append(f"Counted on {facts.n_counted:,} of {facts.n_chunks:,}, evenly chosen.")
    st.caption(" ".join(words))


def _languages(languages: Sequence[LanguageShare]) -> None:
    import pandas as pd

    st.subheader("Languages", anchor=False)
    if not languages:
        st.caption("There is too little text to tell.")
        return
    shown = languages[:_MOST_LANGUAGES]
    st.dataframe(
        pd.DataFrame(
            {
                "Language": [one.name for one in shown],
                "Share": [one.share for one in shown],
                "Documents mainly in it": [one.n_documents for one in shown],
            }
        ),
        hide_index=True,
        column_config={
            "Share": st.column_config.ProgressColumn(format="percent", min_value=0.0, max_value=1.0),
        },
        alt="Languages: " + ", ".join(f"{one.name} {one.share:.0%}" for one in shown) + ".",
    )
    rest = f" {len(languages) - len(shown):,} more are left out here." if len(languages) > len(shown) else ""
    st.caption(f"Share of the characters, told from samples.{rest}")


def _duplicates(corpus: Corpus, ids: dict[str, str], title: str, same: Duplicates) -> None:
    if not same.n_copies:
        return
    with st.expander(f"{title}: {same.n_copies:,} of {same.n_units:,}", icon=":material/content_copy:"):
        st.caption(f"{count(same.n_groups, 'text')} stand more than once. The largest groups:")
        for group in same.examples:
            with st.container(border=True, gap="xsmall"):
                st.text(f"{group.n_units:,} × {short(group.excerpt, 160)}")
                for at in group.places:
                    _link(corpus, ids, at.document, at.place)


def _near(corpus: Corpus, ids: dict[str, str], title: str, near: NearDuplicates) -> None:
    if not near.n_in_groups:
        return
    with st.expander(f"{title}: {near.n_in_groups:,} of {near.n_units:,}", icon=":material/difference:"):
        sampled = f" {near.n_compared:,} were compared, evenly chosen." if near.is_sample else ""
        st.caption(
            f"From an estimated similarity of {near.min_jaccard:.0%} on (shared stretches of characters).{sampled}"
        )
        for group in near.examples:
            with st.container(border=True, gap="xsmall"):
                alike = f"{group.lowest_jaccard:.0%}"
                if round(group.highest_jaccard, 2) > round(group.lowest_jaccard, 2):
                    alike = f"{alike} to {group.highest_jaccard:.0%}"
                st.text(f"{group.n_units:,} texts, {alike} alike")
                for at in group.places:
                    _link(corpus, ids, at.document, at.place)


def _link(corpus: Corpus, ids: dict[str, str], document: str, place: str) -> None:
    words = label(f"{document} · {place}" if place else document, 120)
    if document in ids:
        query = {state.URL_CORPUS: corpus.corpus_id, state.URL_DOCUMENT: ids[document]}
        st.page_link("pages/corpora.py", label=words, icon=":material/menu_book:", query_params=query)
    else:
        st.caption(words)


def _repeated(lines: Sequence[RepeatedLine]) -> None:
    import pandas as pd

    if not lines:
        return
    with st.expander(f"Lines that stand again and again: {len(lines):,}", icon=":material/repeat:"):
        st.caption("Headers, footers, licences: they take room in every chunk. A number stands as #.")
        where = [
            f"{one.n_times:,} times in {one.document}" if one.n_times else f"in {one.n_documents:,} documents"
            for one in lines
        ]
        st.dataframe(
            pd.DataFrame({"Line": [one.text for one in lines], "Where": where}),
            hide_index=True,
            column_config={"Line": st.column_config.TextColumn(width="large")},
            alt="Lines that repeat, and where.",
        )
