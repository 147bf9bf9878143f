"""The quality report of a corpus as a file: JSON, a table of its documents, a page that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.corpus.quality import DocumentQuality, QualityReport, language_name
from backend.reporting.tables import to_csv
from backend.store import storable

if TYPE_CHECKING:
    from jinja2 import Template

_TEMPLATE = Path(__file__).parent / "templates" / "corpus_report.html.j2"
_COLUMNS = (
    "file", "status", "reason", "media_type", "encoding", "encoding_guessed", "n_chars", "n_pages", "n_empty_pages",
    "n_picture_pages", "empty_pages", "picture_pages", "n_records", "language", "language_name", "language_share",
    "language_confidence", "n_unreadable", "unreadable_share", "warnings",
)  # fmt: skip
_MOST_PAGES_LISTED = 200
_MOST_ROWS_SHOWN = 1_000


def report_json(report: QualityReport) -> bytes:
    """Everything, as JSON in UTF-8; ``QualityReport.from_data`` reads it back."""
    return (json.dumps(report.to_data(), ensure_ascii=False, indent=2) + "\n").encode("utf-8", "replace")


def report_csv(report: QualityReport) -> bytes:
    """One row a file, those that were skipped at the end; safe for spreadsheets, as ``to_csv``."""
    import pandas as pd

    rows: list[dict[str, Any]] = [_row(document) for document in report.documents]
    rows += [{"file": one.file, "status": "skipped", "reason": one.reason} for one in report.skipped]
    cells = [[row.get(column, "") for column in _COLUMNS] for row in rows]
    return to_csv(pd.DataFrame(cells, columns=list(_COLUMNS), dtype=object))


def report_html(report: QualityReport, corpus_name: str, *, created_at: str = "") -> bytes:
    """A page for people without the app: one file, light and dark, and fit for printing.

    Args:
        report: What to show.
        corpus_name: The heading.
        created_at: When the report was made, as it should stand there; empty: not said.
    """
    page = _template().render(
        report=report,
        corpus_name=corpus_name,
        created_at=created_at,
        documents=report.documents[:_MOST_ROWS_SHOWN],
        skipped=report.skipped[:_MOST_ROWS_SHOWN],
        most_in_bin=max((one.n_chunks for one in report.lengths.histogram), default=0),
        doubled=[
            ("documents", report.duplicate_documents, report.near_documents),
            ("records", report.duplicate_records, report.near_records),
            ("chunks", report.duplicate_chunks, None),
        ],
    )
    return storable(page).encode("utf-8")


@lru_cache(maxsize=1)
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    # Every value is escaped: names and texts come from files.
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(number=_number, percent=_percent, pages=_pages, language=language_name)
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))


def _row(document: DocumentQuality) -> dict[str, Any]:
    known = asdict(document)
    return {
        **{name: known[name] for name in _COLUMNS if name in known},
        "file": document.name,
        "status": "read",
        "n_empty_pages": len(document.empty_pages),
        "n_picture_pages": len(document.picture_pages),
        "empty_pages": _pages(document.empty_pages),
        "picture_pages": _pages(document.picture_pages),
        "language_name": language_name(document.language),
        "language_share": round(document.language_share, 4),
        "language_confidence": round(document.language_confidence, 4),
        "n_unreadable": document.unreadable.n_unreadable,
        "unreadable_share": round(document.unreadable.share, 6),
        "warnings": " ".join(document.warnings),
    }


def _pages(numbers: Sequence[int]) -> str:
    """``1 to 3, 7``: "1-3" would be a date to a spreadsheet."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [str(first) if first == last else f"{first} to {last}" for first, last in runs[:_MOST_PAGES_LISTED]]
    rest = len(runs) - _MOST_PAGES_LISTED
    return ", ".join([*shown, f"and {rest} more"] if rest > 0 else shown)


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _percent(share: float) -> str:
    if 0 < share < 0.0001:
        return "< 0.01%"
    return f"{100 * share:.2f}%" if share < 0.1 else f"{100 * share:.0f}%"
