"""Reporting: what leaves the app."""

from backend.reporting.corpus_report import report_csv, report_html, report_json
from backend.reporting.documents import duel_document
from backend.reporting.tables import to_csv, verdict_table

__all__ = ["duel_document", "report_csv", "report_html", "report_json", "to_csv", "verdict_table"]
