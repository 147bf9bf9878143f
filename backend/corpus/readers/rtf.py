"""RTF: the text of paragraphs and tables, with headings as places.

A small reader of its own: striprtf, the one library for it, keeps hidden and deleted text and knows no headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from backend.corpus.files import FileFacts, Reading, SourceFile, TextSink, UnreadableFile
from backend.corpus.readers.rtf_words import (
    CELL_ENDS,
    CHARACTERS,
    KEPT_GROUPS,
    PARAGRAPH_ENDS,
    ROW_ENDS,
    SKIPPED_GROUPS,
    SYMBOLS,
    charset_codec,
    page_codec,
)
from backend.corpus.text import HeadingPath

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})?[ ]?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n\x00]+|([^\\{}\r\n\x00]+)|\\"
)
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_MOST_DEPTH = 5_000
_TOKENS_A_CHECK = 100_000
_RESAVE = "Open it in a word processor and save it as .docx or PDF."


@dataclass(frozen=True, slots=True)
class _State:
    """What holds inside a group and ends with it."""

    skips: bool = False
    hidden: bool = False
    deleted: bool = False
    destination: str = ""
    codec: str = "cp1252"
    n_fallback: int = 1  # characters after a \u that stand for it in old programs
    level: int = 0
    style: int = 0
    in_table: bool = False


@dataclass(slots=True)
class _Styles:
    """Fonts and styles that a document declares at its top."""

    codecs: dict[int, str] = field(default_factory=dict)
    levels: dict[int, int] = field(default_factory=dict)


class RtfReader:
    """Reads RTF by content, whatever the suffix."""

    media_type = "application/rtf"

    def accepts(self, file: SourceFile) -> bool:
        r"""What begins with ``{\rtf``."""
        return file.head(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rtf")

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """Paragraphs and table rows (cells joined by `` | ``); hidden and deleted text and pictures are left out.

        Raises:
            UnreadableFile: Broken, nested without end, or without text.
            CancelledError: From ``reading.check``, between batches of words.
        """
        document = _Document(out)
        for n, token in enumerate(_tokens(file.data)):
            if n % _TOKENS_A_CHECK == 0:
                reading.check()
            document.take(token)
        document.finish()
        if not out.n_chars:
            raise UnreadableFile("no text: the RTF document holds only pictures or blanks.", hint=_RESAVE)
        cut = ("the document ends before its last bracket: it may be cut off",) if document.is_open else ()
        return FileFacts(title=document.title, media_type=self.media_type, warnings=(*cut, *out.replaced.notes()))


def _tokens(data: bytes) -> Iterator[re.Match[bytes]]:
    r"""Words, signs and stretches of text; the bytes after ``\bin`` are none."""
    position = 0
    while match := _TOKEN.match(data, position):
        position = match.end()
        if match.group(1) == b"bin":
            position += max(0, int(match.group(2) or 0))
            continue
        yield match


class _Document:
    """Follows the groups of a document and collects its text."""

    def __init__(self, out: TextSink) -> None:
        self.title = ""
        self._out = out
        self._path = HeadingPath()
        self._state = _State()
        self._above: list[_State] = []
        self._styles = _Styles()
        self._document_codec = "cp1252"
        self._font = -1  # that is being declared
        self._text: list[str] = []
        self._bytes = bytearray()
        self._bytes_codec = "cp1252"
        self._cells: list[str] = []
        self._after_row = False
        self._to_skip = 0  # fallback characters that still follow a \u
        self._high = 0  # first half of a character beyond U+FFFF
        self._starred = False
        self._declared: list[str] = []

    @property
    def is_open(self) -> bool:
        """Whether groups have not come to their end."""
        return bool(self._above)

    def take(self, token: re.Match[bytes]) -> None:
        word, number, code, sign, brace, text = token.groups()
        if brace:
            self._brace(brace)
        elif word:
            self._word(word.decode("ascii"), int(number) if number else None)
        elif code:
            self._byte(bytes.fromhex(code.decode("ascii")))
        elif sign:
            self._sign(sign)
        elif text:
            if self._to_skip:
                skipped = min(self._to_skip, len(text))
                self._to_skip -= skipped
                text = text[skipped:]
            self._byte(text, plain=True)

    def finish(self) -> None:
        self._end_paragraph()
        self._end_row()

    def _brace(self, brace: bytes) -> None:
        self._to_skip = 0
        self._starred = False
        self._flush_bytes()
        if brace == b"{":
            if len(self._above) >= _MOST_DEPTH:
                raise UnreadableFile("an RTF document whose groups nest without end.", hint=_RESAVE)
            self._above.append(self._state)
        elif self._above:
            ended, self._state = self._state, self._above.pop()
            if ended.destination != self._state.destination:
                self._end_destination(ended)

    def _end_destination(self, ended: _State) -> None:
        if ended.destination == "title":
            self.title = " ".join("".join(self._declared).split())[:300]
            self._declared.clear()
        elif ended.destination == "style":
            match = _HEADING.match("".join(self._declared).strip())
            name = "".join(self._declared).strip(" ;").lower()
            level = int(match.group(1)) if match else 1 if name == "title" else ended.level
            if level and ended.style >= 0:
                self._styles.levels[ended.style] = level
            self._declared.clear()
        elif ended.destination == "footnote" and not ended.skips:
            self._text[-1:] = ["]"] if self._text[-1:] == [" "] else [*self._text[-1:], "]"]

    def _word(self, word: str, number: int | None) -> None:
        starred, self._starred = self._starred, False
        state = self._state
        if word == "u" and number is not None:
            self._unicode(number)
            return
        self._to_skip = 0
        self._flush_bytes()
        if word in ("fonttbl", "stylesheet", "title", "footnote"):
            self._begin_destination(word)
        elif word == "upr" and not state.skips:  # a text twice: for old programs, then in Unicode
            self._state = replace(state, skips=True, destination="upr")
        elif word == "ud" and state.destination == "upr":
            self._state = replace(state, skips=False, destination="")
        elif word in SKIPPED_GROUPS or (starred and word not in KEPT_GROUPS and not self._declares(word)):
            self._state = replace(state, skips=True)
        elif self._declare(word, number) or state.skips:
            return
        elif word in CHARACTERS:
            self._add(CHARACTERS[word])
        elif word in PARAGRAPH_ENDS:
            self._end_paragraph()
        elif word in CELL_ENDS:
            self._cells.append(self._taken())
        elif word in ROW_ENDS:
            self._end_row()
        else:
            self._property(word, number)

    def _declares(self, word: str) -> bool:
        return self._state.destination == "stylesheet" and word in ("cs", "ds", "ts")

    def _begin_destination(self, word: str) -> None:
        if word == "footnote" and not self._state.skips:
            self._text.append(" [")
        self._state = replace(self._state, destination=word, style=-1)

    def _declare(self, word: str, number: int | None) -> bool:
        """Whether the word was about the document, a font or a style."""
        state = self._state
        if word == "ansicpg":
            self._document_codec = page_codec(number or 0)
            self._state = replace(state, codec=self._document_codec)
        elif word in ("mac", "pc", "pca"):
            self._document_codec = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}[word]
            self._state = replace(state, codec=self._document_codec)
        elif state.destination == "fonttbl":
            if word == "f":
                self._font = number or 0
            elif word == "fcharset":
                self._styles.codecs[self._font] = charset_codec(number or 0, self._document_codec)
            elif word == "cpg" and number:
                self._styles.codecs[self._font] = page_codec(number)
        elif state.destination in ("stylesheet", "style"):
            if word == "s":
                self._state = replace(state, destination="style", style=number or 0)
            elif word in ("cs", "ds", "ts"):
                self._state = replace(state, destination="style", style=-1)
            elif word == "outlinelevel" and number is not None and 0 <= number < 9:
                self._state = replace(state, level=number + 1)
        else:
            return False
        return True

    def _property(self, word: str, number: int | None) -> None:
        state = self._state
        on = number != 0
        if word == "uc":
            self._state = replace(state, n_fallback=max(0, min(number or 0, 16)))
        elif word == "v":
            self._state = replace(state, hidden=on)
        elif word in ("deleted", "htmlrtf"):
            self._state = replace(state, deleted=on)
        elif word == "plain":
            self._state = replace(state, hidden=False, deleted=False, codec=self._document_codec)
        elif word == "pard":
            self._state = replace(state, level=0, in_table=False)
        elif word == "intbl":
            self._state = replace(state, in_table=True)
        elif word == "f" and number is not None:
            self._state = replace(state, codec=self._styles.codecs.get(number, self._document_codec))
        elif word == "s" and number is not None:
            self._state = replace(state, level=self._styles.levels.get(number, 0))
        elif word == "outlinelevel" and number is not None:
            self._state = replace(state, level=number + 1 if 0 <= number < 9 else 0)

    def _sign(self, sign: bytes) -> None:
        if sign == b"*":
            self._starred = True
            return
        if self._to_skip:
            self._to_skip -= 1
            return
        self._flush_bytes()
        if sign in (b"\r", b"\n"):
            self._end_paragraph()
        else:
            self._add(SYMBOLS.get(sign.decode("latin-1"), ""))

    def _byte(self, data: bytes, *, plain: bool = False) -> None:
        if not plain and self._to_skip:
            self._to_skip -= 1
            return
        if self._bytes_codec != self._state.codec:
            self._flush_bytes()
            self._bytes_codec = self._state.codec
        self._bytes += data  # a double-byte character may be split between an escape and plain text

    def _flush_bytes(self) -> None:
        if self._bytes:
            data = bytes(self._bytes)
            self._bytes.clear()
            self._add(data.decode(self._bytes_codec, "replace"))

    def _unicode(self, number: int) -> None:
        self._flush_bytes()
        code = number + 0x10000 if number < 0 else number
        self._to_skip = self._state.n_fallback
        high, self._high = self._high, 0
        if 0xD800 <= code < 0xDC00:
            self._high = code
        elif 0xDC00 <= code < 0xE000 and high:
            self._add(chr(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)))
        else:
            self._add(chr(code) if 0 <= code < 0x110000 else "\ufffd")

    def _add(self, text: str) -> None:
        state = self._state
        if state.destination in ("title", "style"):
            self._declared.append(text)
        elif not (state.skips or state.hidden or state.deleted or state.destination in ("fonttbl", "stylesheet")):
            self._text.append(text)

    def _taken(self) -> str:
        text = "".join(self._text)
        self._text.clear()
        return text

    def _end_paragraph(self) -> None:
        self._flush_bytes()
        if self._state.destination == "footnote":
            self._text.append(" ")
            return
        if self._state.hidden or self._state.deleted:
            return
        if self._state.in_table or self._cells:
            self._text.append(" ")  # a row is one line
            return
        text = self._taken()
        if not text.strip():
            return
        if self._state.level:
            self._out.begin(self._path.enter(self._state.level, text))
        self._out.add(text)
        self._after_row = False

    def _end_row(self) -> None:
        cells = [" ".join(cell.split()) for cell in (*self._cells, self._taken())]
        self._cells.clear()
        while cells and not cells[-1]:
            cells.pop()
        if any(cells):
            self._out.add(" | ".join(cells), tight=self._after_row)
            self._after_row = True
