"""PDF, page by page."""

from __future__ import annotations

import io
import logging
import time
from typing import TYPE_CHECKING

from backend.corpus.files import FileFacts, Reading, SourceFile, TextSink, UnreadableFile
from backend.corpus.text import numbered

if TYPE_CHECKING:
    from pypdf import PdfReader as PypdfReader


_MOST_PAGES = 5_000
_MOST_SECONDS = 300.0  # a page of a book takes some hundredths


class PdfReader:
    """Reads the text layer of a PDF; a scan without one is named, not passed over."""

    media_type = "application/pdf"

    def accepts(self, file: SourceFile) -> bool:
        """A PDF header at the start, or a PDF name."""
        return file.head(1024).lstrip(b"\x00\t\r\n \xef\xbb\xbf").startswith(b"%PDF-") or file.name.lower().endswith(
            ".pdf"
        )

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """Pages joined by blank lines, each a section ``page 3``.

        Raises:
            UnreadableFile: A password is needed, the file is broken, no page has text, or there are more pages, or
                slower ones, than are read. What pypdf bounds itself: streams unpacked, forms within forms, page trees.
            CancelledError: From ``check``, before each page.
        """
        logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # its remarks on fonts help nobody here
        started = time.monotonic()
        reader = _open(file)
        empty, broken = [], []
        try:
            n_pages = len(reader.pages)
        except Exception as error:
            raise _broken(error) from error
        if n_pages > _MOST_PAGES:
            raise UnreadableFile(f"{n_pages:,} pages, the most of one file is {_MOST_PAGES:,}.", hint="Split it.")
        for number in range(1, n_pages + 1):
            reading.check()
            reading.step("page", number - 1, n_pages)
            if time.monotonic() - started > _MOST_SECONDS:
                raise UnreadableFile(
                    f"after {_MOST_SECONDS / 60:.0f} minutes only {number - 1:,} of its {n_pages:,} pages were read.",
                    hint="Split it, or print it to a new PDF.",
                )
            out.begin(f"page {number}")
            try:
                text = reader.pages[number - 1].extract_text()
            except Exception:  # a damaged page raises whatever its damage leads to; it is named below
                broken.append(number)
                continue
            if not out.add(text):
                empty.append(number)
        if not out.n_chars:
            if broken and not empty:
                raise UnreadableFile("a broken PDF: none of its pages can be read.", hint="Export it again.")
            pages = "its only page" if n_pages == 1 else f"any of its {n_pages} pages"
            raise UnreadableFile(f"no text found (scan?) on {pages}.", hint="Run text recognition (OCR) on it first.")
        warnings = []
        if empty:
            warnings.append(f"{len(empty)} of {n_pages} pages without text ({numbered('page', empty)})")
        if broken:
            warnings.append(f"{numbered('page', broken)} can't be read and {_is(broken)} left out")
        return FileFacts(
            title=_title(reader),
            media_type=self.media_type,
            warnings=(*warnings, *out.replaced.notes()),
            n_pages=n_pages,
            empty_pages=tuple(empty),
        )


def _is(numbers: list[int]) -> str:
    return "is" if len(numbers) == 1 else "are"


def _broken(error: Exception) -> UnreadableFile:
    return UnreadableFile(f"a broken PDF ({str(error)[:120] or type(error).__name__}).", hint="Export it again.")


def _open(file: SourceFile) -> PypdfReader:
    from pypdf import PdfReader as PypdfReader
    from pypdf.errors import DependencyError

    try:
        reader = PypdfReader(io.BytesIO(file.data), strict=False)
        # An owner password restricts printing only: such files open with an empty user password.
        needs_password = reader.is_encrypted and not reader.decrypt("")
    except DependencyError as error:
        raise UnreadableFile("an encrypted PDF.", hint="Run: pip install cryptography") from error
    except Exception as error:  # damaged files raise whatever their damage leads to
        raise _broken(error) from error
    if needs_password:
        raise UnreadableFile("a PDF with a password.", hint="Save a copy without the password and add that.")
    return reader


def _title(reader: PypdfReader) -> str:
    try:
        title = reader.metadata.title if reader.metadata else None
    except Exception:  # a damaged title is no title
        return ""
    return " ".join(str(title).encode("utf-8", "replace").decode("utf-8").split())[:300] if title else ""
