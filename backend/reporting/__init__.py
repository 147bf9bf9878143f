"""Reporting: what leaves the app."""

from backend.reporting.documents import duel_document
from backend.reporting.tables import to_csv, verdict_table

__all__ = ["duel_document", "to_csv", "verdict_table"]
