"""The store: records survive, files are whole or absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.errors import InputError, NotFoundError, UnavailableError
from backend.store import Database, FileStore, sha256_hex, written_whole


def test_note_is_kept_changed_and_removed(database: Database) -> None:
    database.set_note("x", {"n": 1})
    database.set_note("x", {"n": 2})
    assert database.note("x") == {"n": 2}
    database.set_note("x", None)
    assert database.note("x") is None


def test_sqlite_runs_in_wal_mode(database: Database) -> None:
    with database.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_a_newer_schema_is_refused(settings) -> None:
    first = Database(settings.sqlalchemy_url)
    first.set_note("schema", {"version": 999})
    first.close()
    with pytest.raises(UnavailableError, match="newer Ragduel"):
        Database(settings.sqlalchemy_url)


def test_a_url_that_is_none_names_the_setting() -> None:
    with pytest.raises(InputError, match="RAGDUEL_DATABASE_URL"):
        Database("nonsense")


def test_an_interrupted_write_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b"
    with pytest.raises(RuntimeError), written_whole(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert list((tmp_path / "a").iterdir()) == []


@pytest.mark.parametrize("text", ["", "plain", "\ud800 lone", "line\r\nbreaks\x00", "😀"])
def test_texts_come_back_to_the_character(files: FileStore, text: str) -> None:
    assert files.get_text(files.put_text(text)) == text


def test_a_missing_text_is_named(files: FileStore) -> None:
    with pytest.raises(NotFoundError, match="missing"):
        files.get_text(sha256_hex("never written"))
