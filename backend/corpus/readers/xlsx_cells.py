"""Cells of an Excel sheet, read as they come: neither a sheet nor its tree lies in memory whole.

No library: python-calamine lays out the rectangle that two far cells span and ends the process for want of memory, and
openpyxl knows no merged cells while it streams, no Strict workbooks, and loads parts without asking for their size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from xml.parsers import expat

from backend.corpus.files import Check, UnreadableFile
from backend.corpus.readers.packages import Package
from backend.corpus.readers.sheet_rows import MOST_COLUMNS, Cells, Row, with_merged

_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_MERGED = re.compile(rb'<(?:\w{1,20}:)?mergeCell\s[^<>]{0,100}?ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
_MOST_MERGED = 100_000
_MOST_STRINGS = 10_000_000
_OVERLAP_BYTES = 256  # of a tag that begins in one piece and ends in the next
_LAST_ROW = 1_048_576
_DAYS_MOST = 2_958_465  # 9999-12-31


@dataclass(slots=True)
class NumberFormats:
    """How styles show numbers.

    Attributes:
        dates: Styles (by index) of dates and times.
        percents: Styles of per cent.
        is_1904: Whether days count from 1904 (old Macs), not 1900.
        n_without_value: Formulas met whose result the file does not hold.
    """

    dates: frozenset[int]
    percents: frozenset[int]
    is_1904: bool = False
    n_without_value: int = 0

    def shown(self, value: str, style: int) -> str:
        """A stored number as text: dates in ISO 8601, at most 15 digits as Excel shows them."""
        try:
            number = float(value)
        except ValueError:
            return value
        if style in self.dates and 0 <= number <= _DAYS_MOST:
            return _iso(number, self.is_1904)
        if style in self.percents:
            return f"{number * 100:.10g}%"
        return value if value.lstrip("-").isdigit() else f"{number:.15g}"


def _iso(days: float, is_1904: bool) -> str:
    seconds = round(days * 86_400)
    if days < 1 and not is_1904:
        return str(timedelta(seconds=seconds))
    # Lotus's 29 February 1900 never was: the days before it count from one day later.
    epoch = datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 31 if days < 60 else 30)  # noqa: DTZ001  (no zone is stored)
    try:
        moment = epoch + timedelta(seconds=seconds)
    except OverflowError:
        return f"{days:.15g}"
    return moment.date().isoformat() if seconds % 86_400 == 0 else moment.isoformat(sep=" ")


def column_number(letters: str) -> int:
    """0 for ``A``, 27 for ``AB``."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1


def shared_strings(pack: Package, part: str, check: Check) -> list[str]:
    """The texts that cells refer to by number."""
    strings: list[str] = []
    parts: list[str] = []
    state = {"text": False, "phonetic": 0}

    def start(tag: str, _attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        state["text"] = name == "t"
        state["phonetic"] += name == "rPh"  # how a Japanese text is spoken, not the text

    def end(tag: str) -> None:
        name = tag.rpartition(":")[2]
        state["text"] = False
        if name == "rPh":
            state["phonetic"] -= 1
        elif name == "si":
            strings.append("".join(parts))
            parts.clear()
            if len(strings) > _MOST_STRINGS:
                raise UnreadableFile(f"an Excel workbook with more than {_MOST_STRINGS:,} texts.", hint="Split it.")

    def characters(text: str) -> None:
        if state["text"] and not state["phonetic"]:
            parts.append(text)

    parser = _parser(start, end, characters)
    for piece in pack.pieces(part):
        check()
        parser.Parse(piece, False)
    if strings:
        parser.Parse(b"", True)
    return strings


def merged_down(pack: Package, part: str) -> dict[tuple[int, int], int]:
    """Cells that reach over several rows: (row, column) of the first, and the last row."""
    found: dict[tuple[int, int], int] = {}
    tail = b""
    for piece in pack.pieces(part):
        window = tail + piece
        for match in _MERGED.finditer(window):
            (left, top, _, bottom) = match.groups()
            if int(bottom) > int(top) and len(found) < _MOST_MERGED:
                found[int(top), column_number(left.decode())] = int(bottom)
        tail = window[-_OVERLAP_BYTES:]
    return found


def sheet_rows(
    pack: Package,
    part: str,
    strings: list[str],
    formats: NumberFormats,
    merged: dict[tuple[int, int], int],
    check: Check,
) -> Iterator[Row]:
    """Rows in file order; a cell that reaches over several rows stands in each of them that has others."""
    sheet = _SheetParser(strings, formats)
    parser = _parser(sheet.start, sheet.end, sheet.characters)
    reaching: dict[int, tuple[int, str]] = {}
    n_bytes = 0
    for piece in pack.pieces(part):
        check()
        n_bytes += len(piece)
        parser.Parse(piece, False)
        yield from with_merged(sheet.take(), merged, reaching)
    if n_bytes:
        parser.Parse(b"", True)
    yield from with_merged(sheet.take(), merged, reaching)


def _parser(
    start: Callable[[str, dict[str, str]], None], end: Callable[[str], None], characters: Callable[[str], None]
) -> Any:
    """A parser that calls back and keeps nothing."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = _no_doctype
    return parser


def _no_doctype(*_declaration: object) -> None:
    """Sheets declare no entities; files made to grow without end do."""
    raise UnreadableFile(
        "an Excel workbook with a document type of its own.", hint="Save it again as .xlsx, or the sheet as CSV."
    )


@dataclass(slots=True)
class _SheetParser:
    """Turns elements of a sheet into rows."""

    strings: list[str]
    formats: NumberFormats
    rows: list[Row] = field(default_factory=list)
    _cells: Cells = field(default_factory=dict)
    _row: int = 0
    _column: int = -1
    _kind: str = ""
    _style: int = 0
    _value: list[str] = field(default_factory=list)
    _takes: bool = False
    _has_formula: bool = False
    _phonetic: int = 0

    def take(self) -> list[Row]:
        """The rows that came to their end."""
        rows, self.rows = self.rows, []
        return rows

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if name == "c":
            reference = _REFERENCE.fullmatch(attributes.get("r", ""))
            self._column = column_number(reference.group(1)) if reference else self._column + 1
            self._kind = attributes.get("t", "n")
            style = attributes.get("s", "0")
            self._style = int(style) if style.isdigit() and len(style) < 9 else 0
            self._value.clear()
            self._has_formula = False
        elif name == "row":
            number = attributes.get("r", "")
            self._row = int(number) if number.isdigit() and len(number) < 8 else self._row + 1
            self._cells = {}
            self._column = -1
        elif name in ("v", "t"):
            self._takes = not self._phonetic
        elif name == "f":
            self._has_formula = True
        elif name == "rPh":
            self._phonetic += 1

    def characters(self, text: str) -> None:
        if self._takes:
            self._value.append(text)

    def end(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        if name in ("v", "t"):
            self._takes = False
        elif name == "c":
            if text := self._text():
                self._keep(text)
        elif name == "rPh":
            self._phonetic -= 1
        elif name == "row":
            self.rows.append((self._row, self._cells))
            self._cells = {}

    def _keep(self, text: str) -> None:
        if self._column >= MOST_COLUMNS or self._row > _LAST_ROW:
            raise UnreadableFile(
                "an Excel workbook with cells beyond what a sheet can hold.", hint="Save the sheet as CSV."
            )
        self._cells[self._column] = text

    def _text(self) -> str:
        value = "".join(self._value)
        if not value.strip():
            self.formats.n_without_value += self._has_formula
            return ""
        if self._kind == "s":
            return self.strings[int(value)].strip() if value.isdigit() and int(value) < len(self.strings) else ""
        if self._kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        return self.formats.shown(value, self._style) if self._kind == "n" else value.strip()
