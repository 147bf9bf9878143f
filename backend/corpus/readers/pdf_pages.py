"""The pages of a PDF through PDFium: text, what is drawn, notes and form fields, outline, title."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.corpus.files import Check, SourceFile, UnreadableFile
from backend.corpus.readers.pdf_text import PageText
from backend.corpus.readers.pdf_words import has_words, n_unknown
from backend.corpus.text import HeadingPath

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

PDFIUM = threading.RLock()
"""PDFium keeps state for the whole process: one call at a time, whichever document it is for."""

_MOST_NOTES = 500  # of one page
_MOST_NOTE_CHARS = 20_000
_MOST_BOOKMARKS = 2_000
_MOST_OBJECTS = 2_000  # of one page, looked at
_PICTURE_SHARE = 0.01  # of the page's area that something is drawn on
_PICTURE_OBJECTS = 20  # letters that were made shapes are many and small
_WITH_NOTES = frozenset({1, 3, 8, 9, 10, 11, 13, 20})  # FPDF_ANNOT_*: text, free text, markings, stamp, form field


@dataclass(frozen=True, slots=True)
class Page:
    """What one page holds.

    Attributes:
        text: In the order of the file, right-to-left lines in reading order; empty where no letter can be read.
        notes: Texts of annotations and filled-in form fields.
        unknown_share: Of its characters, 0 to 1, those that no letter is known for.
        is_drawn_on: Whether it shows something though no letter can be read; told only of pages without text.
    """

    text: str
    notes: tuple[str, ...] = ()
    unknown_share: float = 0.0
    is_drawn_on: bool = False


class Pages:
    """An open PDF. Pages count from 1."""

    def __init__(self, document: PdfDocument) -> None:
        import pypdfium2.raw

        self._raw: Any = pypdfium2.raw
        self._document = document
        self._text = PageText(self._raw)
        with PDFIUM:
            self.n_pages = len(document)

    @property
    def title(self) -> str:
        """As the file's metadata say it."""
        with PDFIUM:
            title: str = self._document.get_metadata_value("Title")
        return " ".join(title.encode("utf-8", "replace").decode("utf-8").replace("\x00", " ").split())[:300]

    def headings(self, check: Check) -> dict[int, str]:
        """Path of the outline's first entry for each page that has one: ``{3: "Care > Winter"}``."""
        found: dict[int, str] = {}
        path = HeadingPath()
        with PDFIUM:
            for n, bookmark in enumerate(self._document.get_toc(max_depth=8)):
                if n % 100 == 0:
                    check()
                if n >= _MOST_BOOKMARKS:
                    break
                place = path.enter(bookmark.level + 1, bookmark.get_title())
                target = bookmark.get_dest()
                index = target.get_index() if target else None
                if index is not None and index >= 0:
                    found.setdefault(index + 1, place)
        return found

    def page(self, number: int) -> Page | None:
        """One page; None if it is too damaged to open."""
        raw = self._raw
        with PDFIUM:
            page = raw.FPDF_LoadPage(self._document, number - 1)
            if not page:
                return None
            try:
                text_page = raw.FPDFText_LoadPage(page)
                if not text_page:
                    return None
                try:
                    text = self._text.of(page, text_page)
                finally:
                    raw.FPDFText_ClosePage(text_page)
                n_chars = len(text) - text.count(" ") - text.count("\n")
                share = n_unknown(text) / n_chars if n_chars else 0.0
                if not text or not has_words(text):
                    return Page("", self._notes(page), share, is_drawn_on=share > 0 or self._is_drawn_on(page))
                return Page(text, self._notes(page), share)
            finally:
                raw.FPDF_ClosePage(page)

    def _notes(self, page: Any) -> tuple[str, ...]:
        raw = self._raw
        notes: list[str] = []
        for at in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST_NOTES)):
            annotation = raw.FPDFPage_GetAnnot(page, at)
            if not annotation:
                continue
            try:
                kind = raw.FPDFAnnot_GetSubtype(annotation)
                if kind == raw.FPDF_ANNOT_WIDGET:
                    is_text = self._string(annotation, b"FT") in {"Tx", "Ch"}
                    note = self._string(annotation, b"V") if is_text else ""
                else:
                    note = self._string(annotation, b"Contents") if kind in _WITH_NOTES else ""
            finally:
                raw.FPDFPage_CloseAnnot(annotation)
            if note.strip() and note not in notes:
                notes.append(note)
        return tuple(notes)

    def _string(self, annotation: Any, key: bytes) -> str:
        get = self._raw.FPDFAnnot_GetStringValue
        size = get(annotation, key, None, 0)
        if not 2 < size <= 2 * _MOST_NOTE_CHARS:
            return ""
        buffer = ctypes.create_string_buffer(size)
        get(annotation, key, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
        return buffer.raw[: size - 2].decode("utf-16-le", "surrogatepass")

    def _is_drawn_on(self, page: Any) -> bool:
        raw = self._raw
        area = raw.FPDF_GetPageWidthF(page) * raw.FPDF_GetPageHeightF(page)
        n_drawn, covered = 0, 0.0
        for at in range(min(raw.FPDFPage_CountObjects(page), _MOST_OBJECTS)):
            thing = raw.FPDFPage_GetObject(page, at)
            if not thing or self._is_white(thing):
                continue
            sides = [ctypes.c_float() for _ in range(4)]
            if raw.FPDFPageObj_GetBounds(thing, *sides):
                left, bottom, right, top = (side.value for side in sides)
                covered += abs((right - left) * (top - bottom))
            n_drawn += 1
            if n_drawn >= _PICTURE_OBJECTS or covered >= _PICTURE_SHARE * area:
                return True
        return False

    def _is_white(self, thing: Any) -> bool:
        """A shape filled with white is paper."""
        raw = self._raw
        if raw.FPDFPageObj_GetType(thing) != raw.FPDF_PAGEOBJ_PATH:
            return False
        rgba = [ctypes.c_uint() for _ in range(4)]
        stroke = ctypes.c_int()
        fill = ctypes.c_int()
        raw.FPDFPath_GetDrawMode(thing, fill, stroke)
        filled_white = raw.FPDFPageObj_GetFillColor(thing, *rgba) and [c.value for c in rgba[:3]] == [255, 255, 255]
        return bool(filled_white and not stroke.value)


@contextmanager
def open_pages(file: SourceFile) -> Iterator[Pages]:
    """Open a PDF from memory or from disk, where it stays.

    Raises:
        UnreadableFile: It needs a password, is locked in an unknown way, or is no PDF that can be mended.
    """
    import pypdfium2
    import pypdfium2.raw

    content = file.content
    with PDFIUM:
        try:
            document = pypdfium2.PdfDocument(content if isinstance(content, Path) else bytes(content))
        except pypdfium2.PdfiumError as error:
            if error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD:
                hint = "Save a copy without the password and add that."
                raise UnreadableFile("a PDF with a password.", hint=hint) from error
            if error.err_code == pypdfium2.raw.FPDF_ERR_SECURITY:
                hint = "Open it in the program that it is for and print it to a new PDF."
                raise UnreadableFile("a PDF that is locked in a way of its own.", hint=hint) from error
            raise UnreadableFile("a broken PDF, or none.", hint="Export it again.") from error
    try:
        yield Pages(document)
    finally:
        with PDFIUM:
            document.close()
