"""The database behind all records: SQLite in WAL mode by default, PostgreSQL by URL."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, IntegrityError, NoSuchModuleError
from sqlalchemy.orm import Session, sessionmaker

from backend.errors import InputError, UnavailableError
from backend.store.migrations import SCHEMA_VERSION, migrate
from backend.store.tables import Base, NoteRow
from backend.store.text import storable

_OPENING_TRIES = 5
_FIRST_PAUSE_S = 0.05


def now_iso() -> str:
    """The present moment, UTC, ISO 8601 with microseconds (sorts as text)."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class Database:
    """Short transactions over one engine; safe to share between threads.

    Args:
        url: SQLAlchemy URL.

    Raises:
        InputError: The URL is not one.
        UnavailableError: The database can't be reached, or was written by a newer Ragduel.
    """

    def __init__(self, url: str) -> None:
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise InputError(
                "RAGDUEL_DATABASE_URL is not a database URL.", hint="Example: postgresql+psycopg://user@host/name."
            ) from None
        if parsed.drivername == "postgresql":  # the driver that the postgres extra installs
            parsed = parsed.set(drivername="postgresql+psycopg")
        self.dialect = parsed.get_backend_name()
        options: dict[str, Any] = {"pool_pre_ping": True}
        if self.dialect == "sqlite" and parsed.database:
            try:
                Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UnavailableError(
                    f"The folder {Path(parsed.database).parent} can't be made: {error.strerror}.",
                    hint="Check RAGDUEL_DATA_DIR.",
                ) from None
            options["connect_args"] = {"timeout": 30, "check_same_thread": False}
        try:
            self.engine = create_engine(parsed, **options)
        except (NoSuchModuleError, ImportError):
            raise UnavailableError(
                f"There is no driver for {parsed.drivername} databases here.",
                hint="SQLite needs none; for PostgreSQL run: pip install 'ragduel[postgres]'.",
            ) from None
        event.listen(self.engine, "before_cursor_execute", _with_storable_words, retval=True)
        if self.dialect == "sqlite":
            event.listen(self.engine, "connect", _prepare_sqlite)
        self._session = sessionmaker(self.engine, expire_on_commit=False)
        for attempt in range(_OPENING_TRIES):
            try:
                Base.metadata.create_all(self.engine)
                self._check_schema()
                return
            except DatabaseError as error:
                # Two processes that start at once on an empty database meet at the same table: look again.
                if attempt + 1 < _OPENING_TRIES and _may_pass(error):
                    time.sleep(_FIRST_PAUSE_S * 2**attempt)
                    continue
                raise UnavailableError(
                    f"The database {parsed.render_as_string(hide_password=True)} can't be opened: {error.orig}.",
                    hint="Check RAGDUEL_DATABASE_URL and RAGDUEL_DATA_DIR.",
                ) from None

    def _check_schema(self) -> None:
        with self.session() as session:
            row = session.get(NoteRow, "schema")
            if row is None:
                session.add(NoteRow(name="schema", value={"version": SCHEMA_VERSION}))
            elif (version := int(row.value["version"])) > SCHEMA_VERSION:
                raise UnavailableError(
                    "The data folder was written by a newer Ragduel.",
                    hint="Update Ragduel, or use another data folder.",
                )
            elif version < SCHEMA_VERSION:
                migrate(session, version)
                row.value = {"version": SCHEMA_VERSION}

    @contextmanager
    def session(self) -> Iterator[Session]:
        """One transaction: committed at the end of the block, rolled back on an error."""
        with self._session() as session, session.begin():
            yield session

    def note(self, name: str) -> dict[str, Any] | None:
        """A small durable fact, or None."""
        with self.session() as session:
            row = session.get(NoteRow, name)
            return None if row is None else dict(row.value)

    def set_note(self, name: str, value: dict[str, Any] | None) -> None:
        """Keep a small durable fact; None removes it. Never pass a key."""
        try:
            self._put_note(name, value)
        except IntegrityError:  # somebody else added it between the look and the write: now it is there to be changed
            self._put_note(name, value)

    def _put_note(self, name: str, value: dict[str, Any] | None) -> None:
        with self.session() as session:
            row = session.get(NoteRow, name)
            if value is None:
                if row is not None:
                    session.delete(row)
            elif row is None:
                session.add(NoteRow(name=name, value=value))
            else:
                row.value = value

    def close(self) -> None:
        """Give every connection back."""
        self.engine.dispose()


def _with_storable_words(
    _connection: object, _cursor: object, statement: str, parameters: Any, _context: object, _many: bool
) -> tuple[str, Any]:
    """File names, links and error messages come as they like: whatever a database refuses is mended in one place."""
    return statement, _storable(parameters)


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {name: _storable(inner) for name, inner in value.items()}
    return type(value)(map(_storable, value)) if type(value) in {list, tuple} else value


def _may_pass(error: Exception) -> bool:
    return isinstance(error, IntegrityError) or any(word in str(error) for word in ("already exists", "is locked"))


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=30000", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
