"""Left and right: which model stands where, and what a side may be called before and after the reveal."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from backend.judging.types import Side
from backend.retrieval.types import Duel, RankedList


@dataclass(frozen=True, slots=True)
class Sides:
    """How a duel's two sides are shown.

    Attributes:
        duel: The duel.
        left: Which of its sides stands left; the same on every visit, and not always ``a``.
        revealed: Whether model names, scores and timings may be seen.
    """

    duel: Duel
    left: Side
    revealed: bool

    @property
    def order(self) -> tuple[Side, Side]:
        """Sides from left to right."""
        return ("a", "b") if self.left == "a" else ("b", "a")

    def place(self, side: Side) -> str:
        """``Left`` or ``Right``."""
        return "Left" if side == self.left else "Right"

    def name(self, side: Side) -> str:
        """What the side is called: its model once revealed, else its place. Plain text, not markdown."""
        return self.results(side).model if self.revealed else self.place(side)

    def results(self, side: Side) -> RankedList:
        """The side's ranked list."""
        return self.duel.a if side == "a" else self.duel.b


def left_side(duel: Duel) -> Side:
    """Which side stands left: drawn from the duel's seed and id, so a link shows the same to everybody."""
    return "a" if hashlib.sha256(f"{duel.seed}:{duel.duel_id}".encode()).digest()[0] % 2 == 0 else "b"
