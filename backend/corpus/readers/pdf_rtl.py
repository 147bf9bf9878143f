"""Arabic and Hebrew lines of a PDF: from where glyphs stand to the order in which they are read.

PDFium turns such lines round by itself, but takes ligatures apart in the wrong order (lam-alef, a whole word on one
glyph) and leaves words as they stand where the page's axis is mirrored. The places of the glyphs are right in all these
cases, so that lines with letters from right to left are put together from them: what the bidirectional algorithm of
Unicode (UAX #9) does for display, the other way round and for the two levels that printed lines have.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from backend.corpus.readers.pdf_words import UNKNOWN

RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
"""Letters that are written from right to left; bulk search, so without the rare planes."""

NOT_PLAIN = re.compile("[()\\[\\]{}«»\u0600-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\u0590-\u05ff][\u0591-\u05c7]")
"""Letters that share a glyph or bear marks, and brackets: what PDFium may put in the wrong order."""

_ALEFS = frozenset("اأإآٱ")
_SEPARATES_DIGITS = frozenset(".,:/٫٬")
_GOES_WITH_DIGITS = frozenset("%$€£+-#")
_MIRRORED = {"(": ")", ")": "(", "[": "]", "]": "[", "{": "}", "}": "{", "«": "»", "»": "«", "<": ">", ">": "<"}
_MOST_GAP = 0.2  # of the line's height: a wider gap is a space
_MOST_GAP_AT_FLAT = 0.4  # a letter with a mark may have the mark's box, which is flat and narrow
_CLUSTER = 3  # letters on one glyph: more than a ligature
_FLAT = 0.25  # of the line's height


class Glyph(NamedTuple):
    """One character with the box of its glyph, in points; a glyph of several characters gives them all the same box."""

    char: str
    left: float
    right: float
    height: float
    middle: float = 0.0  # between top and bottom


@dataclass(slots=True)
class _Unit:
    """What stays together: the characters of one glyph, with the marks on it."""

    text: str
    left: float
    right: float
    height: float

    @property
    def centre(self) -> float:
        return (self.left + self.right) / 2


def in_reading_order(glyphs: Sequence[Glyph]) -> str:
    """One line's text as it is read, from its glyphs in any order (a ligature's characters as PDFium gives them)."""
    units = _spaced(_units(glyphs), max((glyph.height for glyph in glyphs), default=0.0))
    kinds = _kinds(units)
    n_right_to_left = kinds.count("R")
    from_right = n_right_to_left >= kinds.count("L")
    return _balanced(_unturned(units, kinds, from_right)) if n_right_to_left else "".join(u.text for u in units)


def _units(glyphs: Sequence[Glyph]) -> list[_Unit]:
    by_box: dict[tuple[float, float], list[Glyph]] = {}
    for glyph in glyphs:
        char, left, right, _, _ = glyph
        if right - left < 0.01 and char.isspace():
            continue  # put in by PDFium, at no place of its own
        box = (left, right)
        if box in by_box:
            by_box[box].append(glyph)
        else:
            by_box[box] = [glyph]
    clusters = [
        group
        for group in by_box.values()
        if len(group) >= _CLUSTER and sum(is_right_to_left(glyph.char) for glyph in group) >= _CLUSTER
    ]
    units: list[_Unit] = []
    marks: list[_Unit] = []
    for (left, right), group in by_box.items():
        if clusters and group not in clusters and _belongs_to_a_cluster(group, clusters):
            continue
        text = _cluster(group[0].char if len(group) == 1 else "".join(glyph.char for glyph in group))
        is_mark = unicodedata.combining(text[0]) and all(unicodedata.combining(char) for char in text)
        (marks if is_mark else units).append(_Unit(text, left, right, group[0].height))
    units.sort(key=lambda unit: unit.centre)
    for mark in marks:
        if units:
            bearer = min(units, key=lambda unit: abs(unit.centre - mark.centre))
            bearer.text += mark.text
    return units


def _belongs_to_a_cluster(group: Sequence[Glyph], clusters: Sequence[Sequence[Glyph]]) -> bool:
    """Some writers put a word's whole text on one of its glyphs, and none on the others."""
    if all(glyph.char == UNKNOWN for glyph in group):
        return True
    middle = (group[0].left + group[0].right) / 2
    return all(not glyph.char.isalnum() for glyph in group) and any(
        cluster[0].left < middle < cluster[0].right for cluster in clusters
    )


@lru_cache(maxsize=4096)
def _cluster(text: str) -> str:
    """The characters of one glyph in reading order."""
    if len(text) > 1 and any(map(is_right_to_left, text)):
        letters = [char for char in text if not unicodedata.combining(char)]
        alef_first = len(letters) == 2 and letters[0] in _ALEFS and letters[1] == "ل"
        if alef_first or len(letters) > 2:  # PDFium turned it round with the line
            text = text[::-1]
            start = next((at for at, char in enumerate(text) if not unicodedata.combining(char)), 0)
            text = text[start:] + text[:start]
    if any("\ufb1d" <= char <= "\ufefc" for char in text):
        text = unicodedata.normalize("NFKC", text)
    return text.strip() or " "


@lru_cache(maxsize=4096)
def is_right_to_left(char: str) -> bool:
    """Whether this character is a letter from the right; of a character alone, or of none."""
    return bool(char) and unicodedata.bidirectional(char) in {"R", "AL"}


def _spaced(units: list[_Unit], height: float) -> list[_Unit]:
    """With a space in every wide gap, and one where several stand."""
    spaced: list[_Unit] = []
    for unit in units:
        if spaced:
            last = spaced[-1]
            is_flat = min(last.height, unit.height) < _FLAT * height
            most = (_MOST_GAP_AT_FLAT if is_flat else _MOST_GAP) * height
            if unit.left - last.right > most and not (unit.text.isspace() or last.text.isspace()):
                spaced.append(_Unit(" ", last.right, unit.left, height))
            elif unit.text.isspace() and last.text.isspace():
                continue
        spaced.append(unit)
    return spaced


def _kinds(units: Sequence[_Unit]) -> list[str]:
    """R, L, N (digit), S (blank) or ``?`` for each unit; what stands between the digits of a number belongs to it."""
    kinds = [_kind(unit.text) for unit in units]
    for at, unit in enumerate(units):
        before = kinds[at - 1] if at else ""
        after = kinds[at + 1] if at + 1 < len(kinds) else ""
        within = unit.text in _SEPARATES_DIGITS and before == after == "N"
        if kinds[at] == "?" and (within or (unit.text in _GOES_WITH_DIGITS and "N" in (before, after))):
            kinds[at] = "N"
    return kinds


@lru_cache(maxsize=4096)
def _kind(text: str) -> str:
    classes = {unicodedata.bidirectional(char) for char in text}
    if "L" in classes:
        return "L"
    if classes & {"R", "AL"}:
        return "R"
    if classes & {"EN", "AN"}:
        return "N"
    return "S" if text.isspace() else "?"


def _unturned(units: Sequence[_Unit], kinds: Sequence[str], from_right: bool) -> list[tuple[str, bool]]:
    """(text, whether it is read from the right) in reading order."""
    parts: list[tuple[str, bool]] = []
    for start, end, right in _runs(kinds, from_right):
        texts = [unit.text for unit in units[start:end]]
        parts += [(text, right) for text in (reversed(texts) if right else texts)]
    return parts


def _runs(kinds: Sequence[str], from_right: bool) -> list[tuple[int, int, bool]]:
    """Stretches (start, end, read from the right) of what stands on the page from left to right, in reading order."""
    runs: list[tuple[int, int, bool]] = []
    at = 0
    while at < len(kinds):
        end = at + 1
        if from_right and kinds[at] in "LN":
            end = _from_left(kinds, at)
            runs.append((at, end, False))
        elif not from_right and kinds[at] == "R":
            end = _from_right(kinds, at)
            runs += [(at + first, at + last, right) for first, last, right in _runs(kinds[at:end], True)]
        else:
            runs.append((at, end, from_right))
        at = end
    return runs[::-1] if from_right else runs


def _from_left(kinds: Sequence[str], at: int) -> int:
    """One past the Latin words, with all that stands between them, or past the number, that begin here.

    A number goes with the word that it follows after a blank, not after a bracket; numbers stand each for itself.
    """
    last = at
    for to in range(at + 1, len(kinds)):
        gap = kinds[last + 1 : to]
        if kinds[to] == "R":
            break
        if kinds[to] == "L":
            if "L" not in kinds[at:to] and any(kind != "S" for kind in gap):
                break
            last = to
        elif kinds[to] == "N" and (not gap or (kinds[last] == "L" and all(kind == "S" for kind in gap))):
            last = to
    return last + 1


def _from_right(kinds: Sequence[str], at: int) -> int:
    """One past the last letter from the right before a Latin one."""
    last = at
    for to in range(at, len(kinds)):
        if kinds[to] == "L":
            break
        if kinds[to] == "R":
            last = to
    return last + 1


def _balanced(parts: Sequence[tuple[str, bool]]) -> str:
    """Brackets among letters from the right are written as their mirror images by some: whichever way they match."""
    as_they_are = "".join(text for text, _ in parts)
    if not any(char in _MIRRORED for char in as_they_are):
        return as_they_are
    turned = "".join(_MIRRORED.get(text, text) if right else text for text, right in parts)
    return turned if _n_unmatched(turned) < _n_unmatched(as_they_are) else as_they_are


def _n_unmatched(text: str) -> int:
    depth = n = 0
    for char in text:
        if char in "([{«":
            depth += 1
        elif char in ")]}»":
            n, depth = (n, depth - 1) if depth else (n + 1, depth)
    return n + depth
