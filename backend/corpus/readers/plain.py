"""Plain text, and every other text that has no reader of its own."""

from __future__ import annotations

from backend.corpus.decoding import Decoded, decode
from backend.corpus.files import FileFacts, Reading, Replaced, SourceFile, TextSink, UnreadableFile
from backend.corpus.text import clean_text


class PlainTextReader:
    """Reads text in any encoding that can be told."""

    media_type = "text/plain"

    def accepts(self, file: SourceFile) -> bool:
        """Everything: it stands last, and refuses what is no text."""
        return True

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """The whole file, as it is, without places.

        Raises:
            UnreadableFile: Not text, or blank.
        """
        reading.check()
        text, decoded = decoded_text(file.data, out.replaced, forced=reading.options.encoding)
        out.add_whole(text)
        return text_facts(self.media_type, decoded, out.replaced)


def decoded_text(data: bytes, replaced: Replaced, *, declared: str = "", forced: str = "") -> tuple[str, Decoded]:
    """Clean text of a file, and how it was decoded.

    Raises:
        UnreadableFile: Not text, or blank.
    """
    decoded = decode(data, declared, forced)
    text = clean_text(decoded.text, replaced)
    if not text.strip():
        raise UnreadableFile("no text: the file is blank.", hint="Check that it was saved or copied whole.")
    return text, decoded


def text_facts(media_type: str, decoded: Decoded, replaced: Replaced, title: str = "") -> FileFacts:
    """The facts of a text file."""
    return FileFacts(
        title=title,
        media_type=media_type,
        encoding=decoded.encoding,
        encoding_guessed=decoded.is_guessed,
        warnings=(*decoded.warnings, *replaced.notes()),
    )
