"""Reporting: what leaves the app."""

from backend.reporting.tables import to_csv, verdict_table

__all__ = ["to_csv", "verdict_table"]
