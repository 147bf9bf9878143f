"""OpenDocument: texts (ODT), spreadsheets (ODS), presentations (ODP) and drawings (ODG)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from backend.corpus.files import FileFacts, Reading, SourceFile, TextSink, UnreadableFile
from backend.corpus.readers.odf_tables import Repeats, hidden_styles, table_rows
from backend.corpus.readers.odf_text import DRAW, OFFICE, TABLE, lines, write_blocks
from backend.corpus.readers.packages import Package, opened, package_kind, zip_names
from backend.corpus.readers.sheet_rows import RowBudget, write_sheet
from backend.corpus.text import joined, numbered

_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_ENCRYPTED = "{urn:oasis:names:tc:opendocument:xmlns:manifest:1.0}encryption-data"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_FURNITURE = {"date-time", "footer", "header", "page-number", "page"}
_SUFFIXES = (".odt", ".ott", ".ods", ".ots", ".odp", ".otp", ".odg")
_MOST_SHEET_NAME = 60


class OpenDocumentReader:
    """Reads OpenDocument files by content, whatever the suffix."""

    media_type = "application/vnd.oasis.opendocument.text"

    def accepts(self, file: SourceFile) -> bool:
        """A ZIP with an OpenDocument body, or a name of one."""
        return package_kind(zip_names(file)) == "odf" or file.name.lower().endswith(_SUFFIXES)

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """Paragraphs, lists and tables with headings as places; sheets as rows; slides with their notes.

        Raises:
            UnreadableFile: No OpenDocument inside, encrypted, broken, too large, or without text.
            CancelledError: From ``reading.check``.
        """
        with opened(file, "an OpenDocument file", "Save it again, or as .docx or PDF.", reading) as pack:
            _refuse_encrypted(pack)
            content = pack.xml("content.xml")
            body = content.find(OFFICE + "body") if content is not None else None
            kinds: dict[str, tuple[str, Callable[[Any, Any, TextSink, Reading], FileFacts]]] = {
                OFFICE + "text": ("text", _text),
                OFFICE + "spreadsheet": ("spreadsheet", _sheets),
                OFFICE + "presentation": ("presentation", _slides),
                OFFICE + "drawing": ("graphics", _slides),
            }
            found = next((child for child in body if child.tag in kinds), None) if body is not None else None
            if found is None:
                raise pack.not_of_this_kind()
            title = _title(pack)
            reading.check()
            kind, write = kinds[found.tag]
            facts = write(found, content, out, reading)
        if not out.n_chars:
            raise UnreadableFile(
                "; ".join(["no text: the document holds only pictures or blanks", *facts.warnings]) + ".",
                hint="Export it as PDF with text.",
            )
        return replace(
            facts,
            title=title,
            media_type=f"application/vnd.oasis.opendocument.{kind}",
            warnings=(*facts.warnings, *out.replaced.notes()),
        )


def _refuse_encrypted(pack: Package) -> None:
    manifest = pack.xml("META-INF/manifest.xml")
    if manifest is not None and next(manifest.iter(_ENCRYPTED), None) is not None:
        raise UnreadableFile(
            "an OpenDocument file with a password.", hint="Save a copy without the password and add that."
        )


def _title(pack: Package) -> str:
    try:
        meta = pack.xml("meta.xml")
    except SyntaxError:  # the text does not need it
        return ""
    found = next(meta.iter(_TITLE), None) if meta is not None else None
    return " ".join(((found.text if found is not None else "") or "").split())[:300]


def _text(body: Any, _root: Any, out: TextSink, reading: Reading) -> FileFacts:
    write_blocks(body, out, reading.check)
    return FileFacts()


def _sheets(body: Any, root: Any, out: TextSink, reading: Reading) -> FileFacts:
    tables = list(body.iterfind(TABLE + "table"))
    _refuse_more(len(tables), "sheets", reading)
    hidden_by = hidden_styles(root)
    budget, repeats = RowBudget(reading.limits.max_records), Repeats()
    empty, hidden = [], []
    for number, table in enumerate(tables, start=1):
        reading.check()
        reading.step("sheet", number, len(tables))
        name = " ".join((table.get(TABLE + "name") or str(number)).split())[:_MOST_SHEET_NAME]
        if table.get(TABLE + "style-name") in hidden_by:
            hidden.append(f"sheet “{name}”")
        if not write_sheet(name, table_rows(table, repeats), out, reading, budget):
            empty.append(number)
    warnings = [f"hidden in the spreadsheet, read all the same: {joined(hidden)}"] if hidden else []
    if repeats.n_left_out:
        warnings.append("cells that are repeated many times over were read fewer times")
    return FileFacts(warnings=tuple(warnings), n_pages=len(tables), empty_pages=tuple(empty), n_records=budget.used)


def _slides(body: Any, _root: Any, out: TextSink, reading: Reading) -> FileFacts:
    word = "slide" if body.tag == OFFICE + "presentation" else "page"
    slides = list(body.iterfind(DRAW + "page"))
    _refuse_more(len(slides), f"{word}s", reading)
    empty: list[int] = []
    pictures: list[int] = []
    for number, slide in enumerate(slides, start=1):
        reading.check()
        reading.step(word, number, len(slides))
        out.begin(f"{word} {number}")
        titles: list[str] = []
        texts: list[str] = []
        for shape in slide:
            kind = shape.get(_PRESENTATION + "class") or ""
            if shape.tag != _PRESENTATION + "notes" and kind not in _FURNITURE:
                (titles if kind == "title" and not titles else texts).append("\n".join(lines([shape])))
        notes = slide.find(_PRESENTATION + "notes")
        spoken = "\n".join(lines(notes)) if notes is not None else ""
        wrote = [out.add(text) for text in (*titles, *texts, f"Notes: {spoken}" if spoken else "")]
        if not any(wrote):
            has_picture = next(slide.iter(DRAW + "image"), None) is not None
            (pictures if has_picture else empty).append(number)
    warnings = [f"{numbered(word, pictures)}: only pictures, their text is not read"] if pictures else []
    return FileFacts(
        warnings=tuple(warnings), n_pages=len(slides), empty_pages=tuple(empty), picture_pages=tuple(pictures)
    )


def _refuse_more(n_pages: int, word: str, reading: Reading) -> None:
    if n_pages > reading.limits.max_pages:
        raise UnreadableFile(
            f"{n_pages:,} {word}, the most of one file is {reading.limits.max_pages:,}.",
            hint="Split it, or raise RAGDUEL_MAX_PAGES.",
        )
