"""What every reader needs: clean characters, pieces joined to one text with their places, and lists for people."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from backend.corpus.files import Replaced, Section

# Besides tab and line feed: C0 controls, DEL, U+FEFF, lone surrogates and the two code points that XML can't hold.
_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufeff\ud800-\udfff\ufffe\uffff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufffe\uffff]+")
_MOST_LISTED = 12
_MOST_HEADING_CHARS = 300  # every place below a heading repeats it


def clean_text(text: str, replaced: Replaced | None = None) -> str:
    r"""Text that any store, request or export can carry.

    Line ends become ``\n``; U+FEFF goes; NULs and other control characters become a space; lone surrogates
    become U+FFFD (half a character was there, and is lost).
    """
    if _ODD.search(text) is None:
        return text
    replaced = replaced if replaced is not None else Replaced()
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0b", "\n").replace("\x0c", "\n")
    text = text.replace("\ufeff", "")
    text, n_surrogates = _SURROGATES.subn("\ufffd", text)
    replaced.surrogate += n_surrogates
    n_nul = text.count("\x00")
    replaced.nul += n_nul
    replaced.control += sum(len(run) for run in _CONTROLS.findall(text)) - n_nul
    return _CONTROLS.sub(" ", text)


def joined(parts: Sequence[object]) -> str:
    """``a, b and c``; long lists end in ``and 30 more``."""
    names = [str(part) for part in parts]
    if len(names) > _MOST_LISTED:
        return f"{', '.join(names[:_MOST_LISTED])} and {len(names) - _MOST_LISTED} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def numbered(word: str, numbers: Sequence[int]) -> str:
    """``row 2`` or ``rows 2 and 4``."""
    return f"{word}{'s' if len(numbers) > 1 else ''} {joined(numbers)}"


@dataclass(slots=True)
class HeadingPath:
    """The headings above a line: ``Care > Winter > Frost``."""

    _stack: list[tuple[int, str]] = field(default_factory=list)

    def enter(self, level: int, title: str) -> str:
        """Go under a heading of this level (1 is the highest) and return its place."""
        while self._stack and self._stack[-1][0] >= level:
            self._stack.pop()
        self._stack.append((level, " ".join(title.split())[:_MOST_HEADING_CHARS].rstrip()))
        return " > ".join(name for _, name in self._stack if name)


KeepSection = Callable[[Section], None]
_Where = tuple[str, str, str, tuple[tuple[str, str], ...]]  # place, record id, title, metadata of what comes


class TextBuilder:
    """Joins cleaned pieces to one text and keeps where each came from; what it has, it hands on.

    Args:
        out: Takes the text; by default memory.
        keep: Takes each section as soon as its end is known; by default a list.
    """

    def __init__(self, out: TextIO | None = None, keep: KeepSection | None = None) -> None:
        self.replaced = Replaced()
        self.n_sections = 0
        self._out = out if out is not None else io.StringIO()
        self._kept: list[Section] = []
        self._keep = keep or self._kept.append
        self._digest = hashlib.sha256()
        self._length = 0
        self._unreadable = 0
        # A table may have a million sections: one object each, made when both its ends are known.
        self._open: tuple[int, bool, _Where] | None = None  # start, whether it is a row, where
        self._next: _Where = ("", "", "", ())

    @property
    def n_chars(self) -> int:
        """Characters so far; 0: nothing but blanks came."""
        return self._length

    @property
    def n_unreadable(self) -> int:
        """Characters that were replaced, or that stand for some that could not be read."""
        return self._unreadable + self.replaced.nul + self.replaced.control

    @property
    def text_sha256(self) -> str:
        """Of the text so far, in UTF-8."""
        return self._digest.hexdigest()

    def begin(
        self, place: str, *, record_id: str = "", title: str = "", metadata: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """What follows stands at this place, and is this record."""
        self._next = (place, record_id, title, metadata)

    def add(self, piece: str, *, tight: bool = False, is_row: bool = False) -> bool:
        """Append a piece after a blank line, or on the next line where ``tight``; False if it holds only blanks."""
        piece = clean_text(piece, self.replaced).strip()
        if not piece:
            return False
        separator = "" if not self._length else "\n" if tight else "\n\n"
        start = self._length + len(separator)
        if is_row or self._open is None or self._open[2][0] != self._next[0]:
            self._close(start)
            self._open = (start, is_row, self._next)
        self._write(separator + piece)
        return True

    def add_whole(self, text: str, sections: Sequence[Section] = ()) -> None:
        """Write a clean text as it is, with the sections that it has: instead of ``begin`` and ``add``."""
        self._write(text)
        for section in sections:
            self._hand_on(section)

    def finish(self) -> None:
        """Close the last section. Nothing may be added afterwards."""
        self._close(self._length)

    @property
    def text(self) -> str:
        """Everything so far, where it went to memory."""
        if not isinstance(self._out, io.StringIO):
            raise TypeError("this text went to a file")
        return self._out.getvalue()

    @property
    def sections(self) -> tuple[Section, ...]:
        """One a place, each up to the next; a row ends where its text ends. Pieces without place have none."""
        return tuple(self._kept)

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._digest.update(text.encode("utf-8", "surrogatepass"))
        self._length += len(text)
        self._unreadable += text.count("\ufffd")

    def _close(self, following: int) -> None:
        if self._open is None:
            return
        start, is_row, (place, record_id, title, metadata) = self._open
        self._open = None
        if place or is_row:
            # The blank line between rows belongs to none.
            end = self._length if is_row else following
            self._hand_on(Section(start, end, place, is_row, record_id, title, metadata))

    def _hand_on(self, section: Section) -> None:
        self.n_sections += 1
        self._keep(section)
