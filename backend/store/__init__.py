"""Durable truth: records in SQL, texts, vectors and indexes in content-addressed files."""

from backend.store.database import Database, now_iso
from backend.store.files import FileStore, sha256_hex, written_whole
from backend.store.text import storable

__all__ = ["Database", "FileStore", "now_iso", "sha256_hex", "storable", "written_whole"]
