"""JSON values one after the other: lines of a file, items of a list, whatever the size of the whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

from backend.corpus.files import UnreadableFile
from backend.corpus.readers.records import MOST_CELL_CHARS
from backend.corpus.readers.tally import Tally

MOST_WHOLE_BYTES = 100_000_000
"""Of a file that is one JSON value and no list: it is read whole."""
_MOST_NESTED = 2_000_000
_BLOCK_CHARS = 1 << 20
_BETWEEN = re.compile(r"[\s,\ufeff]*")
_BLANK = " \t\r\n\ufeff"
_DECODER = json.JSONDecoder(strict=False)  # raw tabs and line ends in strings do no harm

Value = tuple[int, Any]
"""Its number, from 1, and what it is."""


@dataclass(slots=True)
class Broken:
    """What could not be read, filled while it is read.

    Attributes:
        lines: That are no JSON.
        ends_at: The item of a list with which the reading had to end; 0: none.
        follows: Whether something follows the end of the list.
    """

    lines: Tally
    ends_at: int = 0
    follows: bool = False

    def notes(self) -> list[str]:
        """Sentences for people."""
        said = []
        if self.lines.n:
            said.append(f"{self.lines}: not valid JSON, left out ({self.lines.n:,})")
        if self.ends_at:
            said.append(f"not valid JSON at item {self.ends_at:,}: it and all behind it is left out")
        if self.follows:
            said.append("something follows the end of the list and is left out")
        return said


def is_value(text: str) -> bool:
    """Whether a text is one JSON value."""
    try:
        _loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def whole_items(text: str) -> list[Any] | None:
    """The records of a file that is one JSON value; None if it is none.

    Raises:
        UnreadableFile: It holds more lists and objects than are read.
    """
    try:
        value = _loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        lists = [
            inner for inner in value.values() if isinstance(inner, list) and any(isinstance(i, dict) for i in inner)
        ]
        return max(lists, key=len) if lists else [value]
    return [value]


def line_values(stream: TextIO, broken: Broken) -> Iterator[Value]:
    """The value of each line that is not blank.

    Raises:
        UnreadableFile: A line longer than memory bears, or with more brackets than are read.
    """
    number = 0
    while line := stream.readline(MOST_CELL_CHARS + 1):
        number += 1
        if len(line) > MOST_CELL_CHARS:
            raise UnreadableFile(f"line {number:,} has more than {MOST_CELL_CHARS:,} characters.", hint="Split it.")
        line = line.strip(_BLANK)
        if not line:
            continue
        try:
            yield number, _loads(line)
        except (ValueError, RecursionError):
            broken.lines.add(number)


def list_values(stream: TextIO, broken: Broken) -> Iterator[Value]:
    """The items of a list, read block by block; an item that is broken ends it, and is named.

    Raises:
        UnreadableFile: An item longer than memory bears, or with more brackets than are read.
    """
    buffer, at, is_end = stream.read(_BLOCK_CHARS), 0, False
    at = buffer.find("[") + 1
    number = 1
    while True:
        at = _BETWEEN.match(buffer, at).end()  # type: ignore[union-attr]  # matches nothing as well
        value, end = _next_item(buffer, at)
        if end < 0 or (end == len(buffer) and not is_end):  # a number at the end of a block may go on
            if buffer.startswith("]", at):
                broken.follows = bool((buffer[at + 1 :] + stream.read(_BLOCK_CHARS)).strip(_BLANK))
                return
            if is_end:
                broken.ends_at = number
                return
            kept = buffer[at:]
            if len(kept) > MOST_CELL_CHARS:
                raise UnreadableFile(
                    f"item {number:,} has more than {MOST_CELL_CHARS:,} characters, or is not valid JSON.",
                    hint="Save the list as .jsonl, a record a line.",
                )
            more = stream.read(max(_BLOCK_CHARS, len(kept)))
            is_end = not more
            buffer, at = kept + more, 0
            _refuse_nested(buffer)
            continue
        yield number, value
        number += 1
        at = end


def _next_item(buffer: str, at: int) -> tuple[Any, int]:
    """(value, where it ends); -1 where none ends in the buffer."""
    try:
        return _DECODER.raw_decode(buffer, at)
    except (ValueError, RecursionError):
        return None, -1


def _loads(text: str) -> Any:
    _refuse_nested(text)
    return _DECODER.decode(text)


def _refuse_nested(text: str) -> None:
    """Refuse what takes a hundred times its size in memory.

    Raises:
        UnreadableFile: More lists and objects than files for people have.
    """
    if len(text) > _MOST_NESTED and text.count("[") + text.count("{") > _MOST_NESTED:
        raise UnreadableFile(
            f"more than {_MOST_NESTED:,} brackets in one JSON value.", hint="Split it, or save it as .jsonl."
        )
