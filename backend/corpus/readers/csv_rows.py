"""CSV and TSV: each row a section of its own, numbered as in the file."""

from __future__ import annotations

import csv
import io
import re

from backend.corpus.decoding import decode
from backend.corpus.readers.records import TableRecord, is_text_name, records_document
from backend.corpus.text import Replaced, clean_text, numbered
from backend.corpus.types import ParsedDocument, SourceFile, UnreadableFile

_SUFFIXES = (".csv", ".tsv", ".tab")
_DELIMITERS = ",;\t|"
_NO_DELIMITER = "\x1f"  # never in a cleaned text
_SNIFF_CHARS = 65536
_SNIFF_ROWS = 60
_LARGEST_CELL = 2**31 - 1  # fits a C long everywhere; the size of a file is bounded before it is read
_NUMBER = re.compile(r"[-+]?[\d.,:/ %-]*\d[\d.,:/ %-]*")

Rows = list[list[str]]


class CsvReader:
    """Reads delimited tables: ``,`` ``;`` tab or ``|``, with or without a header."""

    media_type = "text/csv"

    def accepts(self, file: SourceFile) -> bool:
        """By name: text with commas may be anything."""
        return file.name.lower().endswith(_SUFFIXES)

    def read(self, file: SourceFile) -> ParsedDocument:
        """One section a non-empty row; ``row 1`` is the first below the header.

        Raises:
            UnreadableFile: No text encoding, or no row with text.
        """
        decoded = decode(file.data)
        replaced = Replaced()
        text = clean_text(decoded.text, replaced)
        warnings = [*decoded.warnings, *replaced.notes()]
        delimiter = _delimiter(text, file.name)
        rows, note = _parse(text, delimiter)
        warnings += [note] if note else []
        while rows and not any(cell.strip() for cell in rows[-1]):
            rows.pop()  # line ends at the end of the file are no rows
        if not rows:
            raise UnreadableFile("no text: there are no rows.")
        has_header = _has_header(rows)
        names = _names(rows[0] if has_header else [], max(map(len, rows)))
        if has_header:
            rows = rows[1:]
            width = len(names)
        else:
            warnings.append("no header recognised: the first line is read as row 1")
            width = max(map(len, rows))
        names, rows, note = _fold_overlong(names[:width], rows, delimiter)
        warnings += [note] if note else []
        records = [TableRecord(at, dict(zip(names, row, strict=False))) for at, row in enumerate(rows, start=1)]
        return records_document(records, names, word="row", media_type=self.media_type, warnings=warnings)


def _parse(text: str, delimiter: str, most_rows: int | None = None) -> tuple[Rows, str]:
    """All rows; where quotes are broken, what a lenient reading gives, and a note."""
    csv.field_size_limit(_LARGEST_CELL)  # one limit for the process; only ever set to this value
    note = ""
    rows: Rows = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            rows.append(row)
            if most_rows is not None and len(rows) >= most_rows:
                break
    except csv.Error:
        note = f"quotation marks do not match near line {reader.line_num}: rows after it may be joined"
        lenient = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        rows = [row for at, row in enumerate(lenient) if most_rows is None or at < most_rows]
    return rows, note


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


def _names(header: list[str], width: int) -> list[str]:
    """A name for each column, none twice."""
    names: list[str] = []
    for at in range(max(width, len(header))):
        name = header[at].strip() if at < len(header) else ""
        name = name or f"column {at + 1}"
        names.append(name if name not in names else f"{name} ({at + 1})")
    return names[: len(header)] if header else names


def _fold_overlong(names: list[str], rows: Rows, delimiter: str) -> tuple[list[str], Rows, str]:
    """Cells beyond the header belong to the last column: its text held unquoted delimiters."""
    width = len(names)
    overlong = [at for at, row in enumerate(rows, start=1) if len(row) > width]
    if not overlong:
        return names, rows, ""
    folded = [[*row[: width - 1], delimiter.join(row[width - 1 :])] if len(row) > width else row for row in rows]
    return names, folded, f"{numbered('row', overlong)}: more cells than the header, joined into the last column"
