"""What tells the strategies apart: which natural places they look for, in which order, and how far back."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from backend.corpus.chunking.breaks import Kind
from backend.corpus.types import Chunking, ChunkStrategy

_THIRD = Fraction(1, 3)


@dataclass(frozen=True, slots=True)
class Attempt:
    """Look for a kind of end, where at least so many units are in the chunk."""

    kind: Kind
    least: int


@dataclass(frozen=True, slots=True)
class Policy:
    """How one strategy ends and begins chunks.

    Attributes:
        attempts: One after the other; where none finds an end, the chunk is cut where it is full.
        n_with_overlap: So many attempts are worth the overlap; before the others, it is given up to make room.
        starts: Where an overlap may begin: the first kind that is found.
    """

    attempts: tuple[Attempt, ...]
    n_with_overlap: int
    starts: tuple[Kind, ...]


def policy_of(chunking: Chunking) -> Policy:
    """The policy of a strategy that cuts."""
    size, least = chunking.size, chunking.min_size
    if chunking.strategy is ChunkStrategy.TOKENS:
        # As full as they fit: a natural end in the last third, else in the second.
        kinds = (Kind.PARAGRAPH, Kind.SENTENCE, Kind.LINE, Kind.WORD)
        shares = (_ceil(size * 2 * _THIRD), _ceil(size * _THIRD))
        attempts = tuple(Attempt(kind, max(share, least)) for share in shares for kind in kinds)
        return Policy(attempts, len(attempts), (Kind.WORD,))
    if chunking.strategy is ChunkStrategy.SENTENCES:
        floors = (least, 0) if least else (0,)
        whole = tuple(Attempt(Kind.UNIT, floor) for floor in floors)
        return Policy((*whole, Attempt(Kind.WORD, 0)), len(whole), (Kind.UNIT,))
    kinds = (Kind.PARAGRAPH, Kind.LINE, Kind.SENTENCE, Kind.WORD)
    attempts = tuple(Attempt(kind, floor) for floor in ((least, 0) if least else (0,)) for kind in kinds)
    return Policy(attempts, len(attempts), (Kind.SENTENCE, Kind.WORD))


def _ceil(share: Fraction) -> int:
    return -(-share.numerator // share.denominator)
