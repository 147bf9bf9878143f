"""What every reader needs: clean characters, pieces joined to one text with their places, and lists for people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.corpus.types import Section

# Besides tab and line feed: C0 controls, DEL, U+FEFF, lone surrogates and the two code points that XML can't hold.
_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufeff\ud800-\udfff\ufffe\uffff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufffe\uffff]+")
_MOST_LISTED = 12
_MOST_HEADING_CHARS = 300  # every place below a heading repeats it


@dataclass(slots=True)
class Replaced:
    """How many characters were replaced while a file was read."""

    nul: int = 0
    surrogate: int = 0
    control: int = 0

    def notes(self) -> list[str]:
        """One sentence for people, or none."""
        counts = [(self.nul, "NUL"), (self.surrogate, "lone surrogate"), (self.control, "control character")]
        found = [f"{n} {name}{'s' if n > 1 else ''}" for n, name in counts if n]
        return [f"{joined(found)} replaced"] if found else []


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


@dataclass(slots=True)
class TextBuilder:
    """Joins cleaned pieces to one text and keeps where each came from."""

    replaced: Replaced = field(default_factory=Replaced)
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _opened: list[tuple[int, str, bool]] = field(default_factory=list)
    _place: str = ""

    def begin(self, place: str) -> None:
        """What follows stands at this place."""
        self._place = place

    def add(self, piece: str, *, tight: bool = False, is_row: bool = False) -> bool:
        """Append a piece after a blank line, or on the next line where ``tight``; False if it holds only blanks."""
        piece = clean_text(piece, self.replaced).strip()
        if not piece:
            return False
        separator = "" if not self._parts else "\n" if tight else "\n\n"
        start = self._length + len(separator)
        if is_row or not self._opened or self._opened[-1][1] != self._place:
            self._opened.append((start, self._place, is_row))
        self._parts.append(separator + piece)
        self._length = start + len(piece)
        return True

    @property
    def text(self) -> str:
        """Everything so far."""
        return "".join(self._parts)

    @property
    def sections(self) -> tuple[Section, ...]:
        """One a place, each up to the next; a row ends where its text ends. Pieces without place have none."""
        found = []
        for (start, place, is_row), following in zip(self._opened, [*self._opened[1:], None], strict=True):
            end = following[0] if following else self._length
            if is_row and following:
                end -= 2  # the blank line between rows
            if place or is_row:
                found.append(Section(start, end, place, is_row))
        return tuple(found)
