"""XLSX: sheets row by row, with the values that formulas had when the file was saved."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from backend.corpus.files import FileFacts, Reading, SourceFile, TextSink, UnreadableFile
from backend.corpus.readers.ooxml import Relation, core_title, main_part, relations
from backend.corpus.readers.packages import Package, opened, zip_names
from backend.corpus.readers.sheet_rows import RowBudget, write_sheet
from backend.corpus.readers.xlsx_cells import NumberFormats, merged_down, shared_strings, sheet_rows
from backend.corpus.text import joined, numbered

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DATE_IDS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}  # ISO/IEC 29500-1, 18.8.30
_PERCENT_IDS = {9, 10}
# What in a format is no pattern: words in quotes, escaped signs, [colours and conditions] (but not [h]), padding.
_NO_PATTERN = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]', re.IGNORECASE)
_MOST_SHEET_NAME = 60


@dataclass(frozen=True, slots=True)
class _Sheet:
    name: str
    part: str
    is_hidden: bool


class XlsxReader:
    """Reads Excel workbooks by content, whatever the suffix."""

    media_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

    def accepts(self, file: SourceFile) -> bool:
        """A ZIP with a workbook, or an XLSX name."""
        return "xl/workbook.xml" in zip_names(file) or file.name.lower().endswith((".xlsx", ".xlsm", ".xltx"))

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """Each sheet's rows, see ``write_sheet``; a page is a sheet.

        Raises:
            UnreadableFile: No workbook inside, broken, too large, too many sheets or rows, or nothing in any cell.
            CancelledError: From ``reading.check``, between batches of rows.
        """
        with opened(file, "an Excel workbook", "Save it again as .xlsx, or the sheet as CSV.", reading) as pack:
            part = main_part(pack, "xl/workbook.xml")
            workbook = pack.xml(part)
            if workbook is None:
                raise pack.not_of_this_kind()
            title = core_title(pack)
            linked = relations(pack, part)
            sheets = _sheets(workbook, linked)
            if len(sheets) > reading.limits.max_pages:
                raise UnreadableFile(
                    f"{len(sheets):,} sheets, the most of one file is {reading.limits.max_pages:,}.",
                    hint="Split it, or raise RAGDUEL_MAX_PAGES.",
                )
            formats = _formats(pack, linked, _is_1904(workbook))
            reading.check()
            strings = shared_strings(pack, _part_of_kind(linked, "sharedStrings"), reading.check)
            budget = RowBudget(reading.limits.max_records)
            empty: list[int] = []
            pictures: list[int] = []
            missing = []
            for number, sheet in enumerate(sheets, start=1):
                reading.step("sheet", number, len(sheets))
                reading.check()
                if sheet.part not in pack.names:
                    missing.append(sheet.name)
                    continue
                merged = merged_down(pack, sheet.part)
                rows = sheet_rows(pack, sheet.part, strings, formats, merged, reading.check)
                if not write_sheet(sheet.name, rows, out, reading, budget):
                    has_drawing = any(r.kind == "drawing" for r in relations(pack, sheet.part).values())
                    (pictures if has_drawing else empty).append(number)
        warnings = []
        if missing:
            warnings.append(f"not in the file, though it names them: {joined([f'sheet “{name}”' for name in missing])}")
        if hidden := [sheet.name for sheet in sheets if sheet.is_hidden]:
            warnings.append(f"hidden in the workbook, read all the same: {joined([f'sheet “{n}”' for n in hidden])}")
        if pictures:
            warnings.append(f"{numbered('sheet', pictures)}: only pictures or charts, not read")
        if formats.n_without_value:
            warnings.append(
                f"{formats.n_without_value:,} formulas have no stored value: "
                "open the workbook, save it, and add it again"
            )
        if not out.n_chars:
            raise UnreadableFile("; ".join(["no text in any cell", *warnings]) + ".", hint="Check that it was saved.")
        return FileFacts(
            title=title,
            media_type=self.media_type,
            warnings=(*warnings, *out.replaced.notes()),
            n_pages=len(sheets),
            empty_pages=tuple(empty),
            picture_pages=tuple(pictures),
            n_records=budget.used,
        )


def _sheets(workbook: Any, linked: dict[str, Relation]) -> list[_Sheet]:
    """Worksheets in order; chart sheets have no cells."""
    found: list[_Sheet] = []
    for element in workbook.iterfind(f"{_S}sheets/{_S}sheet"):
        relation = linked.get(element.get(_R + "id") or "", Relation("worksheet", ""))
        if relation.kind == "worksheet":
            name = " ".join((element.get("name") or "").split())[:_MOST_SHEET_NAME]
            hidden = element.get("state") in ("hidden", "veryHidden")
            found.append(_Sheet(name or str(len(found) + 1), relation.part, hidden))
    return found


def _part_of_kind(linked: dict[str, Relation], kind: str) -> str:
    return next((relation.part for relation in linked.values() if relation.kind == kind), "")


def _is_1904(workbook: Any) -> bool:
    properties = workbook.find(_S + "workbookPr")
    return properties is not None and properties.get("date1904") in ("1", "true")


def _formats(pack: Package, linked: dict[str, Relation], is_1904: bool) -> NumberFormats:
    """Which styles show a number as a date or per cent."""
    root = pack.xml(_part_of_kind(linked, "styles"))
    if root is None:
        return NumberFormats(frozenset(), frozenset(), is_1904)
    dates, percents = set(_DATE_IDS), set(_PERCENT_IDS)
    for element in root.iterfind(f"{_S}numFmts/{_S}numFmt"):
        ident = element.get("numFmtId") or ""
        if not ident.isdigit():
            continue
        pattern = _NO_PATTERN.sub("", (element.get("formatCode") or "")[:1000]).partition(";")[0].lower()
        is_date = any(letter in pattern for letter in "ymdhs") and not any(sign in pattern for sign in "0#?%")
        is_date = is_date or bool(re.search(r"[ymdhs]", pattern) and "ss.0" in pattern)
        for ids, holds in ((dates, is_date), (percents, "%" in pattern)):
            (ids.add if holds else ids.discard)(int(ident))
    used = [element.get("numFmtId") or "" for element in root.iterfind(f"{_S}cellXfs/{_S}xf")]
    by_style = [int(ident) if ident.isdigit() else 0 for ident in used]
    return NumberFormats(
        frozenset(at for at, ident in enumerate(by_style) if ident in dates),
        frozenset(at for at, ident in enumerate(by_style) if ident in percents),
        is_1904,
    )
