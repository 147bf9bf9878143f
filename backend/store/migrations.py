"""From the tables of an older Ragduel to those of today: one step a version, inside the transaction that opens it."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import insert, text
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
    for column in ("n_sections INTEGER DEFAULT 0 NOT NULL", "n_unreadable INTEGER DEFAULT 0 NOT NULL",
                   "facts JSON DEFAULT '{}' NOT NULL", "source_sha256 VARCHAR(64) DEFAULT '' NOT NULL",
                   "source_bytes BIGINT DEFAULT 0 NOT NULL"):  # fmt: skip
        session.execute(text(f"ALTER TABLE documents ADD COLUMN {column}"))
    session.execute(text("ALTER TABLE chunks ADD COLUMN record_id TEXT DEFAULT '' NOT NULL"))
    session.execute(text("CREATE INDEX IF NOT EXISTS ix_chunks_text_sha256 ON chunks (text_sha256)"))
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


_STEPS = {1: _sections_apart}
