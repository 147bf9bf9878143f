"""Sheets of OpenDocument spreadsheets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from backend.corpus.readers.odf_text import OFFICE, TABLE, lines, rows_of
from backend.corpus.readers.sheet_rows import MOST_COLUMNS, Cells, Row, with_merged

_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_LONGEST_REPEATED = 1_000  # characters; longer ones are no filling


@dataclass(slots=True)
class Repeats:
    """How often cells and rows that a file states once may still be written again (a few bytes could ask for millions).

    Attributes:
        left: Copies that may still be made.
        n_left_out: Copies that were not made.
    """

    left: int = 10_000
    n_left_out: int = 0

    def take(self, wanted: int, n_chars: int) -> int:
        """How many copies to make of something this long."""
        allowed = min(wanted, self.left) if n_chars <= _LONGEST_REPEATED else 0
        self.left -= allowed
        self.n_left_out += wanted - allowed
        return allowed


def hidden_styles(root: Any) -> set[str]:
    """Names of table styles that hide their sheet."""
    return {
        style.get(_STYLE + "name") or ""
        for style in root.iter(_STYLE + "style")
        for properties in style.iterfind(_STYLE + "table-properties")
        if properties.get(TABLE + "display") == "false"
    }


def table_rows(table: Any, repeats: Repeats) -> Iterator[Row]:
    """Rows with their numbers; one that is repeated stands as often as it is shown."""
    merged: dict[tuple[int, int], int] = {}
    yield from with_merged(_rows(table, repeats, merged), merged, {})


def _rows(table: Any, repeats: Repeats, merged: dict[tuple[int, int], int]) -> Iterator[Row]:
    number = 0
    for row in rows_of(table):
        cells = _cells(row, number + 1, repeats, merged)
        n_times = _count(row, "number-rows-repeated")
        if cells:
            yield number + 1, cells
            n_chars = sum(map(len, cells.values()))
            for at in range(repeats.take(n_times - 1, n_chars)):
                yield number + 2 + at, dict(cells)
        number += n_times


def _cells(row: Any, number: int, repeats: Repeats, merged: dict[tuple[int, int], int]) -> Cells:
    cells: Cells = {}
    column = 0
    for cell in row:
        if cell.tag not in (TABLE + "table-cell", TABLE + "covered-table-cell"):
            continue
        n_times = _count(cell, "number-columns-repeated")
        if column < MOST_COLUMNS and (value := _value(cell)):
            cells[column] = value
            n_rows = _count(cell, "number-rows-spanned")
            if n_rows > 1:
                merged[number, column] = number + n_rows - 1
            for at in range(repeats.take(min(n_times, MOST_COLUMNS - column) - 1, len(value))):
                cells[column + 1 + at] = value
        column += n_times
    return cells


def _value(cell: Any) -> str:
    """As shown; dates in ISO 8601."""
    date = cell.get(OFFICE + "date-value")
    if date:
        return str(date).removesuffix("T00:00:00").replace("T", " ")
    return "\n".join(lines(cell)).strip() or (cell.get(OFFICE + "value") or "")


def _count(element: Any, name: str) -> int:
    value = element.get(TABLE + name) or "1"
    return max(1, int(value)) if value.isdigit() and len(value) < 8 else 1
