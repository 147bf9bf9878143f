"""From the tables of an older Ragduel to those of today: one step a version, inside the transaction that opens it."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import delete, insert, inspect, text
from sqlalchemy.orm import Session

from backend.store.tables import SectionRow

SCHEMA_VERSION = 2
_BATCH_ROWS = 1_000


def migrate(session: Session, version: int) -> None:
    """Bring the tables from ``version`` to ``SCHEMA_VERSION``; new tables are there already."""
    for step in range(version, SCHEMA_VERSION):
        _STEPS[step](session)


def _sections_apart(session: Session) -> None:
    """1 to 2: sections move to a table of their own; documents and chunks learn more about their sources."""
    _add_column(session, "documents", "n_sections", "INTEGER DEFAULT 0 NOT NULL")
    _add_column(session, "documents", "n_unreadable", "INTEGER DEFAULT 0 NOT NULL")
    _add_column(session, "documents", "facts", "JSON DEFAULT '{}' NOT NULL")
    _add_column(session, "documents", "source_sha256", "VARCHAR(64) DEFAULT '' NOT NULL")
    _add_column(session, "documents", "source_bytes", "BIGINT DEFAULT 0 NOT NULL")
    _add_column(session, "chunks", "record_id", "TEXT DEFAULT '' NOT NULL")
    for table in ("chunks", "documents", "vectors"):
        session.execute(text(f"CREATE INDEX IF NOT EXISTS ix_{table}_text_sha256 ON {table} (text_sha256)"))
    if "sections" not in _columns(session, "documents"):
        return
    session.execute(delete(SectionRow))  # of an earlier try
    for document_id, stored in session.execute(text("SELECT document_id, sections FROM documents")).all():
        sections = json.loads(stored) if isinstance(stored, str) else stored
        rows: list[dict[str, Any]] = [
            {"document_id": document_id, "start": start, "end": end, "place": place, "is_row": bool(is_row)}
            for start, end, place, is_row in sections
        ]
        for first in range(0, len(rows), _BATCH_ROWS):
            session.execute(insert(SectionRow), rows[first : first + _BATCH_ROWS])
        session.execute(
            text("UPDATE documents SET n_sections = :n WHERE document_id = :id"), {"n": len(rows), "id": document_id}
        )
    session.execute(text("ALTER TABLE documents DROP COLUMN sections"))


def _add_column(session: Session, table: str, name: str, kind: str) -> None:
    # SQLite keeps each change of a table at once: a step that broke off finds some of them done.
    if name not in _columns(session, table):
        session.execute(text(f"ALTER TABLE {table} ADD COLUMN {name} {kind}"))


def _columns(session: Session, table: str) -> set[str]:
    return {column["name"] for column in inspect(session.connection()).get_columns(table)}


_STEPS = {1: _sections_apart}
