"""A text as the smallest stretches that chunks are made of: tokens, whole visible characters, nothing left out."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence

from backend.corpus.graphemes import splits_cluster
from backend.corpus.tokenizer import slices
from backend.corpus.types import Tokenizer

_LONGEST_PIECE_CHARS = 64
_SLICE_CHARS = 1_000_000
_VISIBLE = re.compile(r"\S+")


class Pieces:
    """Stretches ``text[starts[i]:ends[i]]``, ascending, that hold every non-blank character of the text.

    Attributes:
        starts: First characters.
        ends: One past the last characters.
        tokens_before: Tokens before each piece; one entry more than there are pieces.

    Args:
        text: The document's text.
        tokenizer: Cuts it into tokens.
        edges: Ascending places that no piece reaches across.
    """

    def __init__(self, text: str, tokenizer: Tokenizer, edges: Sequence[int] = ()) -> None:
        self.starts = array("q")
        self.ends = array("q")
        self.tokens_before = array("q", [0])
        for piece_start, piece_end, n_tokens in _whole_characters(text, _covering(text, tokenizer), edges):
            self.starts.append(piece_start)
            self.ends.append(piece_end)
            self.tokens_before.append(self.tokens_before[-1] + n_tokens)

    def __len__(self) -> int:
        return len(self.starts)


def _covering(text: str, tokenizer: Tokenizer) -> Iterator[tuple[int, int, int]]:
    """(start, end, tokens) without overlaps; characters that the tokenizer drops make pieces of their own."""
    reached = 0
    for slice_start, slice_end in slices(text, _SLICE_CHARS):  # bounds the memory that spans take
        part = text[slice_start:slice_end]
        for raw_start, raw_end in tokenizer.spans(part):
            start, end = raw_start + slice_start, raw_end + slice_start
            if start > reached and not (start == reached + 1 and text[reached].isspace()):
                yield from _dropped(text, reached, start)
            start = max(start, reached)
            while start < end and text[start].isspace():  # some tokenizers count blanks into tokens
                start += 1
            while start < end and text[end - 1].isspace():
                end -= 1
            if start < end:
                yield start, end, 1
            elif reached:
                # One of several tokens of one character (Hangul taken apart, say): it counts, but takes no place.
                yield reached, reached, 1
            reached = max(reached, end)
    yield from _dropped(text, reached, len(text))


def _dropped(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    for run in _VISIBLE.finditer(text, start, end):
        for at in range(run.start(), run.end(), _LONGEST_PIECE_CHARS):
            yield at, min(at + _LONGEST_PIECE_CHARS, run.end()), 1


def _whole_characters(
    text: str, spans: Iterator[tuple[int, int, int]], edges: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """Join neighbours that share a visible character, as long as the whole stays short and no edge is between."""
    hard = set(edges)
    held: tuple[int, int, int] | None = None
    for start, end, n_tokens in _split(spans, edges):
        if held is None:
            held = (start, end, n_tokens)
        elif start == end or (
            start == held[1]
            and start not in hard
            and end - held[0] <= _LONGEST_PIECE_CHARS
            and splits_cluster(text, start)
        ):
            held = (held[0], max(held[1], end), held[2] + n_tokens)
        else:
            yield held
            held = (start, end, n_tokens)
    if held is not None:
        yield held


def _split(spans: Iterator[tuple[int, int, int]], edges: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    at = 0
    for start, end, n_tokens in spans:
        while at < len(edges) and edges[at] <= start:
            at += 1
        while at < len(edges) and edges[at] < end:
            yield start, edges[at], n_tokens
            start = edges[at]  # noqa: PLW2901
            at += 1
        yield start, end, n_tokens
