"""PDF, page by page."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.corpus.files import FileFacts, Reading, SourceFile, TextSink, UnreadableFile
from backend.corpus.readers.pdf_pages import Pages, open_pages
from backend.corpus.text import numbered

_OCR = "Run text recognition (OCR) on it first."
_MOSTLY = 0.3  # of a page's characters: a few unknown signs among words are no news


class PdfReader:
    """Reads the text layer of a PDF; a scan without one is named, not passed over."""

    media_type = "application/pdf"

    def accepts(self, file: SourceFile) -> bool:
        """A PDF header at the start, or a PDF name."""
        head = file.head(1024).lstrip(b"\x00\t\r\n \xef\xbb\xbf")
        return head.startswith(b"%PDF-") or file.name.lower().endswith(".pdf")

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """Pages joined by blank lines, each a section ``page 3``, with the outline's entry where there is one.

        Notes and filled-in form fields follow their page's text.

        Raises:
            UnreadableFile: A password is needed, the file is broken, no page has text, or there are more pages, or
                slower ones, than are read. A single page can't be interrupted: that is for the reading process.
            CancelledError: From ``reading.check``, before each page.
        """
        with open_pages(file) as pages:
            _refuse_too_many(pages.n_pages, reading.limits.max_pages)
            found = _read_pages(pages, out, reading)
            title = pages.title
        _refuse_without_text(out, found, pages.n_pages)
        return FileFacts(
            title=title,
            media_type=self.media_type,
            warnings=tuple(_warnings(found, pages.n_pages) + _replaced(out, found.replaced)),
            n_pages=pages.n_pages,
            empty_pages=tuple(found.blank),
            picture_pages=tuple(found.pictures),
        )


@dataclass(slots=True)
class _Found:
    """Numbers of pages, by what became of them."""

    blank: list[int] = field(default_factory=list)
    pictures: list[int] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    unknown: dict[int, float] = field(default_factory=dict)
    replaced: list[int] = field(default_factory=list)


def _refuse_too_many(n_pages: int, most: int) -> None:
    if n_pages > most:
        raise UnreadableFile(
            f"{n_pages:,} pages, the most of one file is {most:,}.", hint="Split it, or raise RAGDUEL_MAX_PAGES."
        )
    if n_pages < 1:
        raise UnreadableFile("a broken PDF: no text, for it has no pages.", hint="Export it again.")


def _read_pages(pages: Pages, out: TextSink, reading: Reading) -> _Found:
    found = _Found()
    started = time.monotonic()
    headings = pages.headings(reading.check)
    heading = ""
    for number in range(1, pages.n_pages + 1):
        reading.check()
        reading.step("page", number - 1, pages.n_pages)
        if time.monotonic() - started > reading.limits.max_seconds:
            raise UnreadableFile(
                f"after {_time(reading.limits.max_seconds)} only {number - 1:,} of its {pages.n_pages:,} pages "
                "were read.",
                hint="Split it, or print it to a new PDF.",
            )
        heading = headings.get(number, heading)
        out.begin(f"page {number} · {heading}" if heading else f"page {number}")
        page = pages.page(number)
        if page is None:
            found.broken.append(number)
            continue
        n_replaced = out.replaced.total
        has_text = out.add(page.text)
        for note in page.notes:
            has_text = out.add(note) or has_text
        if out.replaced.total > n_replaced:
            found.replaced.append(number)
        if page.unknown_share > _MOSTLY:
            found.unknown[number] = page.unknown_share
        if not has_text:
            (found.pictures if page.is_drawn_on else found.blank).append(number)
    reading.step("page", pages.n_pages, pages.n_pages)
    return found


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"


def _refuse_without_text(out: TextSink, found: _Found, n_pages: int) -> None:
    if out.n_chars:
        return
    if len(found.broken) == n_pages:
        raise UnreadableFile("a broken PDF: none of its pages can be read.", hint="Export it again.")
    where = "its only page" if n_pages == 1 else f"any of its {n_pages} pages"
    if found.unknown:
        reason = f"no text that can be read on {where}: its fonts do not say which letters their shapes stand for."
        raise UnreadableFile(reason, hint=_OCR)
    if found.pictures or found.broken:
        raise UnreadableFile(f"no text found (scan?) on {where}.", hint=_OCR)
    raise UnreadableFile(f"no text found on {where}: blank.", hint="Export it again if it should hold text.")


def _warnings(found: _Found, n_pages: int) -> list[str]:
    warnings = []
    without = sorted(found.blank + found.pictures)
    if without:
        said = f"{len(without)} of {n_pages} pages without text ({numbered('page', without)})"
        if found.pictures:
            which = "all pictures" if found.pictures == without else f"pictures: {numbered('page', found.pictures)}"
            which = "a picture" if len(without) == 1 else which
            said += f"; {which}, text recognition (OCR) is needed to read {_them(found.pictures)}"
        warnings.append(said)
    if found.broken:
        are = "is" if len(found.broken) == 1 else "are"
        warnings.append(f"{numbered('page', found.broken)} can't be read and {are} left out")
    if found.unknown:
        shares = [f"{share:.0%}" for share in found.unknown.values()]
        most = shares[0] if len(set(shares)) == 1 else f"up to {max(found.unknown.values()):.0%}"
        warnings.append(
            f"{numbered('page', list(found.unknown))}: {most} of the characters can't be read, a font does not say "
            "which letters its shapes stand for; text recognition (OCR) would help"
        )
    return warnings


def _them(numbers: Sequence[int]) -> str:
    return "it" if len(numbers) == 1 else "them"


def _replaced(out: TextSink, numbers: list[int]) -> list[str]:
    return [f"{note} ({numbered('page', numbers)})" if numbers else note for note in out.replaced.notes()]
