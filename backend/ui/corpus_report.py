"""The quality report of a corpus: findings first, then the numbers behind them, then what was skipped."""

from __future__ import annotations

import streamlit as st

from backend.corpus.quality import QualityReport, Severity
from backend.corpus.types import Corpus
from backend.ui import corpora_jobs, report_details
from backend.ui.text import count, label
from backend.workspace import Workspace

_SEVERITIES = {
    Severity.PROBLEM: (":material/error:", "red", "Problem"),
    Severity.HINT: (":material/lightbulb:", "orange", "Worth a look"),
    Severity.FINE: (":material/check_circle:", "green", "Fine"),
}


def show(ws: Workspace, corpus: Corpus) -> None:
    """Draw the report; where there is none yet, the button that makes it and what is known without it."""
    report = ws.corpus_work.report(corpus)
    if report is None:
        _ask(ws, corpus)
        report_details.skipped(corpus.skipped)
        report_details.warnings(corpus.warnings)
        return
    _findings(report)
    _numbers(report)
    report_details.show(ws, corpus, report)
    _downloads(corpus, report)


def _ask(ws: Workspace, corpus: Corpus) -> None:
    with st.container(border=True, key="corpora_no_report"):
        st.markdown("**There is no report on this version yet.**")
        st.caption(
            "It tells empty and pictured pages, duplicates, languages, unreadable characters and how long the chunks "
            "are. No model is needed."
        )
        if st.button("Make the report", type="primary", icon=":material/fact_check:", key="corpora_report_make"):
            corpora_jobs.start(ws, ws.corpus_work.start_report(corpus.corpus_id))


def _findings(report: QualityReport) -> None:
    with st.container(key="report_findings", gap="xsmall"):
        for finding in report.findings:
            icon, colour, word = _SEVERITIES[finding.severity]
            st.markdown(f":{colour}[{icon} **{word}:**] {label(finding.text)}")


def _numbers(report: QualityReport) -> None:
    pages_empty = sum(len(document.empty_pages) for document in report.documents)
    pages_pictures = sum(len(document.picture_pages) for document in report.documents)
    n_copies = report.duplicate_documents.n_copies + report.duplicate_records.n_copies
    n_near = report.near_documents.n_in_groups + report.near_records.n_in_groups
    lengths = report.lengths
    figures = [
        ("Files read", f"{report.n_documents:,}", ""),
        ("Skipped", f"{len(report.skipped):,}", "Files or records that gave no text; the table below says why."),
        ("Empty pages", f"{pages_empty:,}", ""),
        ("Pages that are pictures", f"{pages_pictures:,}", "They hold no text: text recognition would help."),
        ("Exact copies", f"{n_copies:,}", "Documents and records that repeat an earlier one."),
        ("Near duplicates", f"{n_near:,}", "Documents and records that are nearly the same as another."),
        ("Unreadable characters", share(report.unreadable.share), f"{report.unreadable.n_unreadable:,} characters."),
        ("Median chunk", f"{lengths.median:,.0f}", f"In {lengths.unit}; the longest has {lengths.longest:,}."),
    ]
    with st.container(horizontal=True, gap="small", key="report_numbers"):
        for title, value, help_text in figures:
            st.metric(title, value, help=help_text or None, width=160)


def share(value: float) -> str:
    """A share as a percentage that does not round something to nothing."""
    if value <= 0:
        return "none"
    return "< 0.01 %" if value < 0.0001 else f"{value * 100:.2g} %"


def _downloads(corpus: Corpus, report: QualityReport) -> None:
    from backend.reporting import report_csv, report_html, report_json

    st.caption(f"Take the report of {count(report.n_documents, 'document')} with you:")
    kinds = (
        ("HTML", "html", "text/html", lambda: report_html(report, corpus.name)),
        ("CSV", "csv", "text/csv", lambda: report_csv(report)),
        ("JSON", "json", "application/json", lambda: report_json(report)),
    )
    with st.container(horizontal=True, gap="small", key="report_downloads"):
        for words, ending, mime, made in kinds:
            st.download_button(
                words,
                made,  # built on the click, not on each run
                file_name=f"ragduel-report.{ending}",
                mime=mime,
                icon=":material/download:",
                on_click="ignore",  # the page stays as it is
                key=f"report_{ending}",
            )
