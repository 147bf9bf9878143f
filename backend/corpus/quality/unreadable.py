"""Counting characters that nobody can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backend.corpus.quality.types import Unreadable

if TYPE_CHECKING:
    import numpy as np

_BLANK_CONTROLS = (0x09, 0x0A)
_PRIVATE_USE = ((0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD))


@dataclass(slots=True)
class UnreadableCounter:
    """Counts them in a text that comes block by block."""

    n_chars: int = 0
    n_replacement: int = 0
    n_private_use: int = 0
    n_control: int = 0

    def feed(self, block: str) -> None:
        """Count those of the next block."""
        import numpy as np

        self.n_chars += len(block)
        if block.isascii():
            codes = np.frombuffer(block.encode(), np.uint8)
            self.n_control += _controls(codes)
            return
        codes = np.frombuffer(block.encode("utf-32-le", "surrogatepass"), np.uint32)
        self.n_control += _controls(codes)
        # Half of a UTF-16 pair is half a character: as lost as what U+FFFD stands for.
        self.n_replacement += block.count("\ufffd") + int(((codes >= 0xD800) & (codes <= 0xDFFF)).sum())
        high = codes[codes >= _PRIVATE_USE[0][0]]
        self.n_private_use += sum(int(((high >= first) & (high <= last)).sum()) for first, last in _PRIVATE_USE)

    def counted(self, n_said: int) -> Unreadable:
        """All so far.

        Args:
            n_said: Characters that the reader replaced or could not read; those that the text shows are among them.
        """
        return Unreadable(
            n_chars=self.n_chars,
            n_replacement=self.n_replacement,
            n_private_use=self.n_private_use,
            n_control=self.n_control,
            n_replaced=max(0, n_said - self.n_replacement),
        )


def _controls(codes: np.ndarray) -> int:
    low = codes[(codes < 0x20) | ((codes >= 0x7F) & (codes < 0xA0))]
    return int(low.size) - sum(int((low == blank).sum()) for blank in _BLANK_CONTROLS)
