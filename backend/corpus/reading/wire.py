"""What the app and the process that reads say to each other: one JSON document a line, never pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from backend.corpus.files import FileFacts, ReadLimits, ReadOptions, ReadText, SkippedFile, SourceFile, Unpacked

Message = dict[str, Any]

_TUPLES = {"text_columns", "metadata_columns", "warnings", "empty_pages", "picture_pages"}


def packed(message: Mapping[str, Any]) -> bytes:
    """A message as one line; names with lone surrogates pass as escapes."""
    return json.dumps(message).encode("ascii") + b"\n"


def unpacked(line: bytes) -> Message:
    """A line as a message.

    Raises:
        ValueError: It is none.
    """
    return dict(json.loads(line))


def options_of(data: Mapping[str, Any]) -> ReadOptions:
    """Options as they come out of JSON."""
    return ReadOptions(**_with_tuples(data))


def limits_from(data: Mapping[str, Any]) -> ReadLimits:
    """Limits as they come out of JSON."""
    return ReadLimits(**data)


def read_text_data(read: ReadText) -> Message:
    """A read text for JSON."""
    return {
        "text_path": str(read.text_path),
        "sections_path": str(read.sections_path),
        "facts": asdict(read.facts),
        "n_chars": read.n_chars,
        "n_sections": read.n_sections,
        "n_unreadable": read.n_unreadable,
        "text_sha256": read.text_sha256,
    }


def read_text_of(data: Mapping[str, Any]) -> ReadText:
    """A read text out of JSON."""
    return ReadText(
        Path(data["text_path"]),
        Path(data["sections_path"]),
        FileFacts(**_with_tuples(data["facts"])),
        n_chars=data["n_chars"],
        n_sections=data["n_sections"],
        n_unreadable=data["n_unreadable"],
        text_sha256=data["text_sha256"],
    )


def unpacked_data(found: Unpacked) -> Message:
    """An opened archive for JSON; its files lie on disk."""
    return {
        "files": [[file.name, str(file.content)] for file in found.files],
        "skipped": [[item.file, item.reason] for item in found.skipped],
        "warnings": list(found.warnings),
    }


def unpacked_of(data: Mapping[str, Any]) -> Unpacked:
    """An opened archive out of JSON."""
    return Unpacked(
        tuple(SourceFile(name, Path(path)) for name, path in data["files"]),
        tuple(SkippedFile(name, reason) for name, reason in data["skipped"]),
        tuple(data["warnings"]),
    )


def _with_tuples(data: Mapping[str, Any]) -> Message:
    return {name: tuple(value) if name in _TUPLES else value for name, value in data.items()}
