"""Sheets of a workbook as text: rows under a header become records, anything else runs on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from backend.corpus.files import Reading, TextSink, UnreadableFile
from backend.corpus.readers.columns import is_text_name

Cells = dict[int, str]
"""Texts of a row by column, from 0; cells without text are not in it."""
Row = tuple[int, Cells]
"""A row's number as the sheet shows it, from 1, and its cells."""

MOST_COLUMNS = 16_384
"""Of a sheet: what Excel allows."""
_LOOKED_AT = 30  # rows in which a header is looked for
_ROWS_A_PLACE = 40
_ROWS_A_CHECK = 1_000
_MOST_NAME_CHARS = 60
_NUMBER = re.compile(r"[-+]?[\d.,:/ %-]*\d[\d.,:/ %-]*")


@dataclass(slots=True)
class RowBudget:
    """How many rows of a file may still be read."""

    most: int
    used: int = 0

    def spend(self) -> None:
        """Count a row.

        Raises:
            UnreadableFile: There are more than are read.
        """
        self.used += 1
        if self.used > self.most:
            raise UnreadableFile(
                f"more than {self.most:,} rows, the most of one file.", hint="Split it, or raise RAGDUEL_MAX_RECORDS."
            )


def write_sheet(name: str, rows: Iterable[Row], out: TextSink, reading: Reading, budget: RowBudget) -> int:
    """Write a sheet's rows, one at a time, and return how many hold text.

    Under a header each row is a record of lines ``header: value``, at ``sheet Beds, row 12``. Without one the cells
    of a row are joined by `` | ``, and the rows run on, at ``sheet Beds, rows 1–40``.

    Raises:
        UnreadableFile: The file has more rows than are read.
        CancelledError: From ``reading.check``.
    """
    filled = _filled(rows, reading, budget)
    first = list(islice(filled, _LOOKED_AT))
    at = _header_at(first)
    if at is None:
        return _write_running(name, chain(first, filled), out)
    n_rows = _write_running(name, first[:at], out)
    header = first[at][1]
    plain = len(header) == 1  # a list: its name says nothing that every row must repeat
    for number, cells in chain(first[at + 1 :], filled):
        out.begin(f"sheet {name}, row {number}")
        lines = [
            value if plain and column in header else f"{header.get(column, column_name(column))}: {value}"
            for column, value in cells.items()
        ]
        n_rows += out.add("\n".join(lines), is_row=True)
    return n_rows


def column_name(column: int) -> str:
    """``A`` for 0, ``AB`` for 27."""
    name = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        name = chr(65 + letter) + name
    return name


def with_merged(
    rows: Iterable[Row], merged: dict[tuple[int, int], int], reaching: dict[int, tuple[int, str]]
) -> Iterator[Row]:
    """Rows in which a cell that reaches over several stands in each that has others.

    Args:
        rows: In order.
        merged: (row, column) of the first cell, and the last row.
        reaching: What still reaches down, by column: last row and text; kept between calls for one sheet.
    """
    for number, cells in rows:
        if merged or reaching:
            for column, (last, value) in list(reaching.items()):
                if number > last:
                    del reaching[column]
                elif cells:
                    cells.setdefault(column, value)
            for column, value in cells.items():
                if (number, column) in merged:
                    reaching[column] = (merged[number, column], value)
        yield number, dict(sorted(cells.items()))


def _filled(rows: Iterable[Row], reading: Reading, budget: RowBudget) -> Iterator[Row]:
    for at, (number, cells) in enumerate(rows):
        if at % _ROWS_A_CHECK == 0:
            reading.check()
        if cells:
            budget.spend()
            yield number, cells


def _write_running(name: str, rows: Iterable[Row], out: TextSink) -> int:
    n_rows = 0
    rows = iter(rows)
    while group := list(islice(rows, _ROWS_A_PLACE)):
        first, last = group[0][0], group[-1][0]
        out.begin(f"sheet {name}, rows {first}–{last}" if last > first else f"sheet {name}, row {first}")
        for at, (_, cells) in enumerate(group):
            line = " | ".join(" ".join(value.split()) for value in cells.values())
            n_rows += out.add(line, tight=at > 0)
    return n_rows


def _header_at(rows: list[Row]) -> int | None:
    """Which of the first rows names the columns, if one does: below it rows of the kind, above it titles at most."""
    for at, (_, cells) in enumerate(rows[:-1]):
        if len(cells) == 1:
            wide = sum(len(below) > 1 for _, below in rows[at + 1 :])
            if at == 0 and not wide and is_text_name(next(iter(cells.values()))):
                return at
            continue
        names = [value.strip() for value in cells.values()]
        named = all(len(n) <= _MOST_NAME_CHARS and "\n" not in n and not _NUMBER.fullmatch(n) for n in names)
        sentences = sum(n.endswith((".", "!", "。")) or len(n.split()) > 6 for n in names)
        beyond = sum(column not in cells for column in rows[at + 1][1])
        return at if named and not sentences and len(set(names)) == len(names) and not beyond else None
    return None
