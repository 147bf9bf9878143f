"""Archives: a ZIP is opened to its files, each read like any other."""

from __future__ import annotations

from pathlib import Path

from backend.corpus.files import Reading, SourceFile, Unpacked


def unpack(_file: SourceFile, _folder: Path, _reading: Reading) -> Unpacked | None:
    """None if the file is no archive."""
    return None
