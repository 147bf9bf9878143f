"""Results go to standard output (one JSON document with ``--json``), everything else to standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

EXIT_INPUT = 2
EXIT_PROVIDER = 3
_WATCHED_S, _LOGGED_S = 0.5, 2.0


def print_json(document: Any) -> None:
    """One JSON document; lone surrogates are written as escapes, NaN is refused."""
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    if any("\ud800" <= character <= "\udfff" for character in text):
        text = json.dumps(document, ensure_ascii=True, indent=2, allow_nan=False)
    sys.stdout.write(text + "\n")


def say(text: str = "") -> None:
    """A line of the result, for people."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(printable(text).encode(encoding, "replace").decode(encoding) + "\n")


def note(text: str) -> None:
    """A remark that is not the result."""
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(printable(text).encode(encoding, "replace").decode(encoding) + "\n")


def printable(text: str) -> str:
    """Text without control characters: a document can't move the cursor or recolour the terminal."""
    return "".join(c if c in "\n\t" or (ord(c) >= 32 and not 0x7F <= ord(c) <= 0x9F) else "�" for c in text)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns of equal width."""
    widths = [max(len(str(row[n])) for row in [header, *rows]) for n in range(len(header))]
    for row in [header, *rows]:
        say("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


class ProgressLine:
    """Progress on standard error: twice a second at most on a terminal, else a line at a change of stage, seldom."""

    def __init__(self) -> None:
        self._stage = ""
        self._told_at = 0.0

    def __call__(self, stage: str, n_done: int, n_items: int) -> None:
        """Tell how far it is."""
        now = time.monotonic()
        is_watched = sys.stderr.isatty()
        if self._stage and now - self._told_at < (_WATCHED_S if is_watched else _LOGGED_S):
            return
        if stage == self._stage and not is_watched:
            return
        self._stage, self._told_at = stage, now
        note(f"{stage} … {n_done}/{n_items}" if n_items > 1 else f"{stage} …")
