"""How a delimited table is written: its delimiter, and whether the first line names the columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from itertools import islice

from backend.corpus.files import ReadOptions, UnreadableFile
from backend.corpus.readers.columns import is_known_name

NO_DELIMITER = "\x1f"
"""Of a table of one column."""
SNIFFED_CHARS = 65536
"""Of the start of a table, in which its delimiter is looked for."""
DELIMITERS = (",", ";", "\t", "|")
"""Those that are guessed."""
_SPOKEN = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_SNIFFED_ROWS = 60
_MOST_COLUMNS = 1_000
_EXCEL = re.compile(r'\ufeff?"?sep=(.)"?\n')
_SOFT = 0.8
_NUMBER = re.compile(r"[-+]?[\d.,:/ %-]*\d[\d.,:/ %-]*")
_UNNAMED = re.compile(r"column \d+")


def chosen_delimiter(wanted: str) -> str:
    """The delimiter that a person named: one character, ``tab``, ``comma``, ``semicolon`` or ``pipe``.

    Raises:
        UnreadableFile: No delimiter of a table.
    """
    delimiter = _SPOKEN.get(wanted.strip().casefold(), wanted)
    if len(delimiter) != 1 or delimiter in '"\r\n' or "\ud800" <= delimiter <= "\udfff":
        raise UnreadableFile(f"“{wanted[:20]}” is no delimiter.", hint="Example: ; or tab.")
    return delimiter


def excel_delimiter(sample: str) -> str:
    """What Excel's first line ``sep=;`` says; empty if there is no such line."""
    found = _EXCEL.match(sample)
    return found.group(1) if found else ""


def guess_delimiter(sample: str, name: str) -> str:
    """The candidate with which most rows have as many cells as the first.

    One that reads like part of the text (nearly always followed by a blank, or a comma between two digits) wins only
    where no other makes a table.

    Args:
        sample: The start of the file.
        name: Of the file: in ``.tsv`` tabs win where both fit.
    """
    if len(sample) >= SNIFFED_CHARS and "\n" in sample:
        sample = sample[: sample.rindex("\n")]
    scores: dict[str, float] = {}
    order = ("\t", ",", ";", "|") if name.lower().endswith((".tsv", ".tab")) else DELIMITERS
    for candidate in order:
        rows = [row for row in _parse(sample, candidate) if row]
        width = len(rows[0]) if rows else 0
        if width < 2:
            continue
        equal = sum(len(row) == width for row in rows) / len(rows)
        wider = all(len(row) >= width for row in rows)  # commas in an unquoted last column
        if equal >= 0.5 or wider:
            scores[candidate] = equal + 0.01 * min(width, 20)
    hard = {candidate: score for candidate, score in scores.items() if score > 0.9 and not _is_soft(candidate, sample)}
    return max(hard or scores, key=lambda candidate: scores[candidate], default=NO_DELIMITER)


def _is_soft(candidate: str, sample: str) -> bool:
    """Whether it looks like punctuation of the text rather than a delimiter."""
    n = sample.count(candidate)
    within = sample.count(f"{candidate} ")
    if candidate == ",":
        within += len(re.findall(r"(?<=\d),(?=\d)", sample))
    return candidate != "\t" and within >= _SOFT * n


def _parse(sample: str, delimiter: str) -> list[list[str]]:
    for strict in (True, False):  # quotes that do not match, read as well as may be
        rows = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter, strict=strict)
        try:
            return list(islice(rows, _SNIFFED_ROWS))
        except csv.Error:
            continue
    return []


def has_header(first: Sequence[str], has_more: bool, options: ReadOptions) -> bool:
    """Whether the first row names the columns.

    Args:
        first: Its cells.
        has_more: Whether there are rows below.
        options: Columns that a person named are names if they stand there.
    """
    cells = [cell.strip() for cell in first]
    chosen = [*options.text_columns, options.title_column, options.id_column, *options.metadata_columns]
    wanted = {name.strip() for name in chosen if name}
    if wanted and wanted <= set(cells):
        return True
    if wanted and all(_UNNAMED.fullmatch(name) for name in wanted):
        return False
    if any(is_known_name(cell) for cell in cells):
        return True
    if not has_more:
        return False
    named = [cell for cell in cells if cell]
    return (
        bool(named)
        and len(set(named)) == len(named)
        and all(len(cell) <= 40 and len(cell.split()) <= 4 and not cell.endswith((".", "!", "?")) for cell in named)
        and not any(_NUMBER.fullmatch(cell) for cell in named)
    )


def column_names(header: Sequence[str]) -> list[str]:
    """A name for each column, none twice.

    Raises:
        UnreadableFile: More columns than any table for people has.
    """
    if len(header) > _MOST_COLUMNS:
        raise UnreadableFile(
            f"{len(header):,} columns, the most of one table is {_MOST_COLUMNS:,}.",
            hint="Save the columns with text as a table of their own; if it is no table, save it as .txt.",
        )
    names: dict[str, None] = {}
    for at, cell in enumerate(header, start=1):
        name = cell.strip() or f"column {at}"
        while name in names:
            name = f"{name} ({at})"
        names[name] = None
    return list(names)
