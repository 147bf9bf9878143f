"""JSON lines and JSON lists: each record a section of its own, a broken line named and left out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from backend.corpus.decoding import sniff, text_stream
from backend.corpus.files import FileFacts, Reading, SourceFile, TextSink, UnreadableFile
from backend.corpus.readers.columns import TableRecord
from backend.corpus.readers.json_values import (
    MOST_WHOLE_BYTES,
    Broken,
    Value,
    is_value,
    line_values,
    list_values,
    whole_items,
)
from backend.corpus.readers.records import RecordStream, refuse_too_many, take_head, write_records
from backend.corpus.readers.tally import Tally

_LINES = (".jsonl", ".ndjson", ".jsonlines")
_HEAD_BYTES = 1 << 20
_READ_AS_TEXT = (".md", ".markdown", ".csv", ".tsv", ".tab", ".html", ".htm")


class JsonReader:
    """Reads JSON lines, JSON lists of records and BEIR's ``corpus.jsonl``."""

    media_type = "application/jsonl"

    def accepts(self, file: SourceFile) -> bool:
        """A JSON name, or a first line that is a JSON object."""
        name = file.name.lower()
        if name.endswith((*_LINES, ".json")):
            return True
        if name.endswith(_READ_AS_TEXT):
            return False
        head = file.head(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
        return head.startswith(b"{") and is_value(head.split(b"\n", 1)[0].decode("utf-8", "replace"))

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """One section a record with text: ``line 3`` of JSON lines, ``item 3`` of a list.

        Raises:
            UnreadableFile: Nothing in it is a record with text, there are more records than are read, or a chosen
                field is not there.
            CancelledError: From ``reading.check``, between batches of records.
        """
        with open_json(file, reading) as table:
            return write_records(table, out, reading)


@contextmanager
def open_json(file: SourceFile, reading: Reading) -> Iterator[RecordStream]:
    """Open a file of records: its form and fields are told from its start, the rest is read as it is asked for.

    Raises:
        UnreadableFile: As ``JsonReader.read``; while it is read as well.
    """
    encoding = sniff(file, forced=reading.options.encoding, check=reading.check)
    with text_stream(file, encoding.name) as stream:
        form = _form(stream.read(_HEAD_BYTES), file.name)
    whole = _whole(file, encoding.name) if form == "whole" else None
    word = "line" if form == "lines" or (form == "whole" and whole is None) else "item"
    broken = Broken(Tally("line"))
    with text_stream(file, encoding.name) as stream:
        values: Iterator[Value]
        if whole is not None:
            values = enumerate(whole, start=1)
        else:
            values = list_values(stream, broken) if form == "list" else line_values(stream, broken)
        records = _records(values, word, reading.limits.max_records)
        head = take_head(records)
        names = list(dict.fromkeys(name for record in head for name in record.fields))
        yield RecordStream(word, "application/jsonl", encoding, names, head, records, broken.notes, fields_vary=True)


def _form(head: str, name: str) -> str:
    """``lines``, ``list`` or ``whole``: one value that has to be read before anything is known of it."""
    start = head.lstrip(" \t\r\n\ufeff")
    first, _, after = start.partition("\n")
    if start.startswith("[") and not (name.lower().endswith(_LINES) and is_value(first)):
        return "list"
    if name.lower().endswith(_LINES):
        return "lines"
    return "lines" if start.startswith("{") and after.strip() and is_value(first) else "whole"


def _whole(file: SourceFile, encoding: str) -> list[Any] | None:
    """The records in a file that is one value; None if it is none, and its lines are read."""
    if file.size_bytes > MOST_WHOLE_BYTES:
        raise UnreadableFile(
            f"{file.size_bytes / 1e6:,.0f} MB in one JSON value, the most is {MOST_WHOLE_BYTES / 1e6:.0f} MB.",
            hint="Save its records as .jsonl, one a line.",
        )
    with text_stream(file, encoding) as stream:
        return whole_items(stream.read().lstrip("\ufeff"))


def _records(values: Iterator[Value], word: str, most: int) -> Iterator[TableRecord]:
    for n, (number, value) in enumerate(values, start=1):
        refuse_too_many(n, word, most)
        yield TableRecord(number, _fields(value))


def _fields(value: Any) -> dict[str, str]:
    """A record's fields as text; nested objects are left aside, lists of strings are joined."""
    if isinstance(value, str):
        return {"text": value}
    if not isinstance(value, dict):
        return {}
    fields = {}
    for name, inner in value.items():
        if isinstance(inner, str):
            fields[name] = inner
        elif isinstance(inner, int | float) and not isinstance(inner, bool):
            fields[name] = str(inner)
        elif isinstance(inner, list) and inner and all(isinstance(part, str) for part in inner):
            fields[name] = "\n".join(inner)
    return fields
