"""The chunks of one document that lies in memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from backend.corpus.chunking.breaks import Breaks
from backend.corpus.chunking.checks import check_chunking, needed_tokenizer
from backend.corpus.chunking.cutter import Cutter
from backend.corpus.chunking.rulers import CharacterRuler, TokenRuler
from backend.corpus.chunking.strategies import policy_of
from backend.corpus.files import Section
from backend.corpus.graphemes import splits_cluster
from backend.corpus.types import Chunking, ChunkStrategy, Tokenizer

if TYPE_CHECKING:
    import numpy as np

Span = tuple[int, int, str]


def chunk_spans(
    text: str, sections: Sequence[Section], chunking: Chunking, tokenizer: Tokenizer | None = None
) -> list[Span]:
    """Cut a text into chunks.

    Every non-blank character lies in a chunk; no chunk begins or ends with white space, crosses the end of a row,
    tears a visible character, or is larger than ``size`` (unless one visible character alone is). Neighbours share
    at most ``overlap``. A chunk below ``min_size`` joins a neighbour where both fit into one.

    Args:
        text: The document's text.
        sections: Its sections; those with ``is_row`` are hard boundaries, all give places.
        chunking: How to cut.
        tokenizer: Counts, where the chunking counts tokens.

    Returns:
        (start, end, place) by ascending start; ``place`` is that of the section in which the chunk starts.

    Raises:
        InputError: The chunking can't be used.
    """
    check_chunking(chunking)
    spans = cut_text(text, sections, chunking, needed_tokenizer(chunking, tokenizer))
    places = _Places(sections)
    return [(start, end, places.at(start)) for start, end in spans]


def cut_text(
    text: str,
    sections: Sequence[Section],
    chunking: Chunking,
    tokenizer: Tokenizer | None,
    offsets: np.ndarray | None = None,
) -> list[tuple[int, int]]:
    """As ``chunk_spans``, without places; ``offsets`` are the text's tokens, where they are known already."""
    edges = sorted({0, len(text), *(at for s in sections if s.is_row for at in (s.start, s.end) if 0 < at < len(text))})
    if chunking.strategy is ChunkStrategy.WHOLE:
        return [span for start, end in pairwise(edges) if (span := _trimmed(text, start, end))]
    ruler = CharacterRuler(text) if tokenizer is None else TokenRuler(text, tokenizer, offsets)
    cutter = Cutter(Breaks(text, (s.start for s in sections)), ruler, chunking, policy_of(chunking))
    headings = _place_changes(text, sections) if chunking.strategy is ChunkStrategy.HEADINGS else []
    return [
        span
        for start, end in pairwise(edges)
        for span in cutter.merged(
            piece for bounds in _stretches(start, end, headings) for piece in cutter.cut(*bounds)
        )
    ]  # fmt: skip


def _stretches(start: int, end: int, cuts: list[int]) -> Iterator[tuple[int, int]]:
    inner = cuts[bisect_right(cuts, start) : bisect_right(cuts, end - 1)]
    return pairwise([start, *inner, end])


def _place_changes(text: str, sections: Sequence[Section]) -> list[int]:
    """Where another heading, page or sheet begins."""
    found: set[int] = set()
    before: tuple[str, int] = ("", 0)
    for section in sorted(sections, key=lambda one: one.start):
        if section.place != before[0]:
            found.add(section.start)
        if section.start > before[1]:
            found.add(before[1])  # text that belongs to no section lies between
        before = (section.place, section.end)
    found.add(before[1])
    return sorted(at for at in found if 0 < at < len(text) and not splits_cluster(text, at))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    piece = text[start:end]
    lead = len(piece) - len(piece.lstrip())
    return (start + lead, start + len(piece.rstrip())) if lead < len(piece) else None


class _Places:
    """Finds the innermost section at a character."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._sections = sorted(sections, key=lambda section: section.start)
        self._starts = [section.start for section in self._sections]

    def at(self, position: int) -> str:
        index = bisect_right(self._starts, position) - 1
        if index < 0 or position >= self._sections[index].end:
            return ""
        return self._sections[index].place
