"""The store: records survive, files are whole or absent."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backend.errors import InputError, NotFoundError, UnavailableError
from backend.store import Database, FileStore, sha256_hex, storable, written_whole


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


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.sqlite3").write_bytes(b"no database at all" * 300)
    with pytest.raises(UnavailableError, match=r"x\.sqlite3 can't be opened"):
        Database(f"sqlite:///{tmp_path / 'x.sqlite3'}")


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UnavailableError, match="can't be made"):
        Database(f"sqlite:///{tmp_path / 'file' / 'below' / 'x.sqlite3'}")


def test_a_database_without_a_driver_shows_no_password() -> None:
    with pytest.raises(UnavailableError, match="no driver for nosuch") as caught:
        Database("nosuch://user:secret@host/name")
    assert "secret" not in str(caught.value)


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


def test_processes_that_start_at_once_on_an_empty_folder_all_open_it(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom backend.store import Database\n"
        "while time.time() < float(sys.argv[2]): pass\n"
        "database = Database(sys.argv[1])\n"
        "for n in range(10): database.set_note(f'n{n}', {})\n"
    )
    command = [sys.executable, "-c", code, f"sqlite:///{tmp_path / 'x.sqlite3'}", str(time.time() + 2)]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[1] for process in processes] == [""] * 3


def test_two_holders_of_the_same_file_drop_their_own(files: FileStore) -> None:
    digests = {files.hold(io.BytesIO(b"x"), holder) for holder in ("one", "two")}
    assert len(digests) == 1
    digest = digests.pop()
    files.let_go(digest, "one")
    assert files.held(digest, "two").read_bytes() == b"x"
    with pytest.raises(NotFoundError):
        files.held(digest, "one")


def test_storable_text_has_no_nul_and_no_half_character() -> None:
    assert storable("a\0b\ud800c 😀") == "a\ufffdb\ufffdc 😀"
