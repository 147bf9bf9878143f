"""JSON lines and JSON lists: each record a section of its own, a broken line named and left out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from backend.corpus.decoding import decode
from backend.corpus.files import Check, FileFacts, Reading, Replaced, SourceFile, TextSink, UnreadableFile
from backend.corpus.readers.records import BATCH, MOST_RECORDS, TableRecord, records_document, refuse_too_many
from backend.corpus.text import clean_text, numbered

_LINES = (".jsonl", ".ndjson", ".jsonlines")
_HEAD_BYTES = 1 << 20
_MOST_NESTED = 2_000_000
_READ_AS_TEXT = (".md", ".markdown", ".csv", ".tsv", ".html", ".htm")


class JsonReader:
    """Reads JSON lines, JSON lists of records and BEIR's ``corpus.jsonl``."""

    media_type = "application/jsonl"

    def accepts(self, file: SourceFile) -> bool:
        """A JSON name, or a first line that is a JSON object."""
        name = file.name.lower()
        if name.endswith((*_LINES, ".json", ".ipynb")):
            return True
        head = file.head(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
        if name.endswith(_READ_AS_TEXT) or not head.startswith(b"{"):
            return False
        try:
            return isinstance(json.loads(head.split(b"\n", 1)[0]), dict)
        except (ValueError, RecursionError):
            return False

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """One section a record with text: ``line 3`` of JSON lines, ``item 3`` of a list.

        Raises:
            UnreadableFile: Nothing in it is a record with text, or there are more records than are read.
            CancelledError: From ``check``, between batches of records.
        """
        if file.name.lower().endswith(".ipynb"):
            raise UnreadableFile("a Jupyter notebook.", hint="Export it as Markdown or HTML and add that.")
        decoded = decode(file.data)
        text = clean_text(decoded.text)
        whole = None if file.name.lower().endswith(_LINES) else _whole(text)
        if whole is not None:
            word, (values, broken) = "item", (list(enumerate(whole, start=1)), list[int]())
        else:
            word, (values, broken) = "line", _lines(text, reading.check)
        refuse_too_many(len(values), word)
        warnings = list(decoded.warnings)
        if broken:
            warnings.append(f"{numbered('line', broken)}: not valid JSON, left out ({len(broken)})")
        replaced = Replaced()
        records = [TableRecord(number, _fields(value, replaced)) for number, value in values]
        names = list(dict.fromkeys(name for record in records for name in record.fields))
        return records_document(
            records,
            names,
            out,
            word=word,
            media_type=self.media_type,
            warnings=[*warnings, *replaced.notes()],
            check=reading.check,
        )


def _whole(text: str) -> list[Any] | None:
    """The records of a file that is one JSON value; None if it is none (then its lines are read)."""
    try:
        value = _loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        lists = [
            inner for inner in value.values() if isinstance(inner, list) and any(isinstance(i, dict) for i in inner)
        ]
        return max(lists, key=len) if lists else [value]
    return [value]


def _loads(text: str) -> Any:
    """Any JSON value.

    Raises:
        UnreadableFile: More lists and objects than files for people have: two bytes of one take a hundred in memory.
    """
    if text.count("[") + text.count("{") > _MOST_NESTED:
        raise UnreadableFile(
            f"more than {_MOST_NESTED:,} brackets in one JSON value.", hint="Split it, or save it as .jsonl."
        )
    return json.loads(text)


def _lines(text: str, check: Check) -> tuple[list[tuple[int, Any]], list[int]]:
    values: list[tuple[int, Any]] = []
    broken = []
    for number, line in enumerate(text.split("\n"), start=1):
        if number % BATCH == 0:
            check()
        if not line.strip():
            continue
        if len(values) > MOST_RECORDS:
            break  # refused by the caller
        try:
            values.append((number, _loads(line)))
        except (ValueError, RecursionError):
            broken.append(number)
    return values, broken


def _fields(value: Any, replaced: Replaced) -> dict[str, str]:
    """A record's fields as clean text; nested objects are left aside, lists of strings are joined."""
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, dict):
        return {}
    fields = {}
    for name, inner in value.items():
        if isinstance(inner, str):
            fields[clean_text(name)] = clean_text(inner, replaced)
        elif isinstance(inner, int | float) and not isinstance(inner, bool):
            fields[clean_text(name)] = str(inner)
        elif isinstance(inner, list) and inner and all(isinstance(part, str) for part in inner):
            fields[clean_text(name)] = "\n".join(_clean(inner, replaced))
    return fields


def _clean(parts: Iterable[str], replaced: Replaced) -> list[str]:
    return [clean_text(part, replaced) for part in parts]
