"""Plain text, and every other text that has no reader of its own."""

from __future__ import annotations

from backend.corpus.decoding import decode
from backend.corpus.text import Replaced, clean_text
from backend.corpus.types import Check, ParsedDocument, SourceFile, UnreadableFile, go_on


class PlainTextReader:
    """Reads text in any encoding that can be told."""

    media_type = "text/plain"

    def accepts(self, file: SourceFile) -> bool:
        """Everything: it stands last, and refuses what is no text."""
        return True

    def read(self, file: SourceFile, check: Check = go_on) -> ParsedDocument:
        """The whole file, as it is, without places.

        Raises:
            UnreadableFile: Not text, or blank.
        """
        check()
        text, warnings = decoded_text(file.data)
        return ParsedDocument(text=text, media_type=self.media_type, warnings=warnings)


def decoded_text(data: bytes, declared: str = "") -> tuple[str, tuple[str, ...]]:
    """Clean text of a file, and what was noticed.

    Raises:
        UnreadableFile: Not text, or blank.
    """
    decoded = decode(data, declared)
    replaced = Replaced()
    text = clean_text(decoded.text, replaced)
    if not text.strip():
        raise UnreadableFile("no text: the file is blank.")
    return text, (*decoded.warnings, *replaced.notes())
