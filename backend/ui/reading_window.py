"""Which part of a long document the reading pane shows: a window of its text, and the chunk in it that a link marks."""

from __future__ import annotations

from dataclasses import dataclass

WINDOW_CHARS = 20_000
_BEFORE_CHARS = 200  # of what stands before a marked chunk
_EDGE_CHARS = 400  # in which a window's end looks for a line break


@dataclass(frozen=True, slots=True)
class Window:
    """A window of a text.

    Attributes:
        start: First character.
        end: One past the last.
        n_chars: Of the whole text.
        mark: The characters that a link points at, as (start, end); None: nothing in particular.
    """

    start: int
    end: int
    n_chars: int
    mark: tuple[int, int] | None = None

    @property
    def previous(self) -> int | None:
        """Where the window before begins; None at the beginning."""
        return max(0, self.start - WINDOW_CHARS) if self.start > 0 else None

    @property
    def next(self) -> int | None:
        """Where the window after begins; None at the end."""
        return self.end if self.end < self.n_chars else None

    @property
    def is_whole(self) -> bool:
        """Whether the text fits into the window."""
        return self.start == 0 and self.end >= self.n_chars

    @property
    def mark_goes_on(self) -> bool:
        """Whether what is marked is longer than the window."""
        return self.mark is not None and self.mark[1] > self.end

    @property
    def words(self) -> str:
        """For people: ``characters 1 to 20,000 of 48,210``."""
        if self.is_whole:
            return f"all {self.n_chars:,} characters"
        return f"characters {self.start + 1:,} to {self.end:,} of {self.n_chars:,}"


def window_of(first: str, last: str, n_chars: int) -> Window:
    """The window that a link asks for.

    Args:
        first: From the link: where the window begins; with ``last``, where the marked chunk begins. May be anything.
        last: From the link: where the marked chunk ends, or "".
        n_chars: Of the text.
    """
    start, end = _number(first, n_chars), _number(last, n_chars)
    if start is None:
        return _window(0, n_chars, None)
    if end is None or end <= start:
        return _window(min(start, max(0, n_chars - 1)), n_chars, None)
    return _window(start - _BEFORE_CHARS if start > _BEFORE_CHARS else 0, n_chars, (start, end))


def to_line_start(window: Window, text: str) -> tuple[Window, str]:
    """Begin a window that shows a marked chunk with a whole line, where one begins before the chunk."""
    if window.mark is None or window.start == 0:
        return window, text
    at = text.find("\n", 0, window.mark[0] - window.start)
    if at < 0:
        return window, text
    return Window(window.start + at + 1, window.end, window.n_chars, window.mark), text[at + 1 :]


def to_line_end(window: Window, text: str) -> tuple[Window, str]:
    """End a window with a line where one ends nearby, so that the next does not begin inside a word."""
    at = text.rfind("\n", max(0, len(text) - _EDGE_CHARS))
    if window.end >= window.n_chars or at <= 0 or (window.mark and window.start + at < window.mark[1] <= window.end):
        return window, text
    return Window(window.start, window.start + at + 1, window.n_chars, window.mark), text[: at + 1]


def _window(start: int, n_chars: int, mark: tuple[int, int] | None) -> Window:
    return Window(start, min(n_chars, start + WINDOW_CHARS), n_chars, mark)


def _number(text: str, most: int) -> int | None:
    return min(int(text), most) if text.isascii() and text.isdecimal() and len(text) < 16 else None
