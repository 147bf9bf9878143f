"""CSV and TSV: each row a section of its own, numbered as in the file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from itertools import islice

from backend.corpus.decoding import decode
from backend.corpus.files import Check, FileFacts, Reading, Replaced, SourceFile, TextSink, UnreadableFile, go_on
from backend.corpus.readers.records import (
    BATCH,
    MOST_RECORDS,
    TableRecord,
    is_text_name,
    records_document,
    refuse_too_many,
)
from backend.corpus.text import clean_text, numbered

_SUFFIXES = (".csv", ".tsv", ".tab")
_DELIMITERS = ",;\t|"
_NO_DELIMITER = "\x1f"  # never in a cleaned text
_SNIFF_CHARS = 65536
_SNIFF_ROWS = 60
_MOST_COLUMNS = 1_000
_LARGEST_CELL = 2**31 - 1  # fits a C long everywhere; the size of a file is bounded before it is read
_NUMBER = re.compile(r"[-+]?[\d.,:/ %-]*\d[\d.,:/ %-]*")

Rows = list[list[str]]


class CsvReader:
    """Reads delimited tables: ``,`` ``;`` tab or ``|``, with or without a header."""

    media_type = "text/csv"

    def accepts(self, file: SourceFile) -> bool:
        """By name: text with commas may be anything."""
        return file.name.lower().endswith(_SUFFIXES)

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """One section a non-empty row; ``row 1`` is the first below the header.

        Raises:
            UnreadableFile: No text encoding, no row with text, or more columns or rows than are read.
            CancelledError: From ``check``, between batches of rows.
        """
        decoded = decode(file.data)
        replaced = Replaced()
        text = clean_text(decoded.text, replaced)
        warnings = [*decoded.warnings, *replaced.notes()]
        delimiter = _delimiter(text, file.name)
        rows, note = _parse(text, delimiter, MOST_RECORDS + 1, reading.check)
        refuse_too_many(len(rows), "row")
        warnings += [note] if note else []
        while rows and not any(cell.strip() for cell in rows[-1]):
            rows.pop()  # line ends at the end of the file are no rows
        if not rows:
            raise UnreadableFile("no text: there are no rows.")
        has_header = _has_header(rows)
        names = _names(rows[0] if has_header else [""] * max(map(len, rows)))
        if has_header:
            rows = rows[1:]
        else:
            warnings.append("no header recognised: the first line is read as row 1")
        rows, note = _fold_overlong(len(names), rows, delimiter)
        warnings += [note] if note else []
        records = [
            TableRecord(at, {name: cell for name, cell in zip(names, row, strict=False) if cell})
            for at, row in enumerate(rows, start=1)
        ]
        return records_document(
            records, names, out, word="row", media_type=self.media_type, warnings=warnings, check=reading.check
        )


def _parse(text: str, delimiter: str, most_rows: int, check: Check = go_on) -> tuple[Rows, str]:
    """The first rows; where quotes are broken, what a lenient reading gives, and a note."""
    csv.field_size_limit(_LARGEST_CELL)  # one limit for the process; only ever set to this value
    note = ""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        rows = _first(reader, most_rows, check)
    except csv.Error:
        note = f"quotation marks do not match near line {reader.line_num}: rows after it may be joined"
        rows = _first(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), most_rows, check)
    return rows, note


def _first(reader: Iterable[list[str]], most_rows: int, check: Check) -> Rows:
    rows: Rows = []
    for row in islice(reader, most_rows):
        if len(rows) % BATCH == 0:
            check()
        rows.append(row)
    return rows


def _delimiter(text: str, name: str) -> str:
    """The candidate with which most rows have as many cells as the first."""
    sample = text[:_SNIFF_CHARS]
    if len(text) > _SNIFF_CHARS and "\n" in sample:
        sample = sample[: sample.rindex("\n")]
    best, best_score = _NO_DELIMITER, 0.0
    for candidate in "\t,;|" if name.lower().endswith((".tsv", ".tab")) else _DELIMITERS:
        rows = [row for row in _parse(sample, candidate, _SNIFF_ROWS)[0] if row]
        width = len(rows[0]) if rows else 0
        if width < 2:
            continue
        equal = sum(len(row) == width for row in rows) / len(rows)
        wider = all(len(row) >= width for row in rows)  # commas in an unquoted last column
        score = equal + 0.01 * min(width, 20) if equal >= 0.5 or wider else 0.0
        if score > best_score:
            best, best_score = candidate, score
    return best


def _has_header(rows: Rows) -> bool:
    first = [cell.strip() for cell in rows[0]]
    if any(is_text_name(cell) or cell.casefold() in ("id", "_id", "title", "query") for cell in first):
        return True
    if len(rows) == 1:
        return False
    named = [cell for cell in first if cell]
    return (
        bool(named)
        and len(set(named)) == len(named)
        and all(len(cell) <= 40 and len(cell.split()) <= 4 and not cell.endswith((".", "!", "?")) for cell in named)
        and not any(_NUMBER.fullmatch(cell) for cell in named)
    )


def _names(header: list[str]) -> list[str]:
    """A name for each column, none twice.

    Raises:
        UnreadableFile: More columns than any table for people has.
    """
    if len(header) > _MOST_COLUMNS:
        raise UnreadableFile(
            f"{len(header):,} columns, the most of one table is {_MOST_COLUMNS:,}.",
            hint="Save the columns with text as a table of their own; if it is no table, save it as .txt.",
        )
    names: dict[str, None] = {}
    for at, cell in enumerate(header, start=1):
        name = cell.strip() or f"column {at}"
        while name in names:
            name = f"{name} ({at})"
        names[name] = None
    return list(names)


def _fold_overlong(width: int, rows: Rows, delimiter: str) -> tuple[Rows, str]:
    """Cells beyond the header belong to the last column: its text held unquoted delimiters."""
    overlong = [at for at, row in enumerate(rows, start=1) if len(row) > width]
    if not overlong:
        return rows, ""
    folded = [[*row[: width - 1], delimiter.join(row[width - 1 :])] if len(row) > width else row for row in rows]
    return folded, f"{numbered('row', overlong)}: more cells than the header, joined into the last column"
