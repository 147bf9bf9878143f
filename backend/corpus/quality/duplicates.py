"""Texts that are exactly the same, by digests of 8 bytes: a million units take 28 MB."""

from __future__ import annotations

import hashlib
from array import array
from dataclasses import dataclass

_MOST_GROUPS = 10
_MOST_PLACES = 5
_MOST_DIGEST_CHARS = 1_000_000


@dataclass(frozen=True, slots=True)
class Span:
    """Where a unit stands: the document's number and the characters of its text."""

    document: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SameText:
    """A text that stands there several times: how often, and where first."""

    n_units: int
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """Exact duplicates, before their places are looked up; as ``Duplicates``."""

    n_units: int
    n_groups: int
    n_copies: int
    largest: tuple[SameText, ...]


def digest_of(text: str) -> int:
    """64 bits of a text: by chance two of a million differing texts share theirs in 1 of 40 million corpora.

    Of a text beyond a million characters, its beginning and its length count.
    """
    head = text[:_MOST_DIGEST_CHARS]
    key = b"" if len(head) == len(text) else str(len(text)).encode()
    return int.from_bytes(hashlib.blake2b(head.encode("utf-8", "surrogatepass"), digest_size=8, key=key).digest())


class DuplicateSearch:
    """Collects units in order, then finds those with the same text."""

    def __init__(self) -> None:
        self._digests = array("Q")
        self._documents = array("l")
        self._starts = array("Q")
        self._ends = array("Q")

    def __len__(self) -> int:
        return len(self._digests)

    def add(self, digest: int, document: int, start: int, end: int) -> None:
        """Add a unit."""
        self._digests.append(digest)
        self._documents.append(document)
        self._starts.append(start)
        self._ends.append(end)

    def span(self, unit: int) -> Span:
        """Where a unit stands, by its number."""
        return Span(self._documents[unit], self._starts[unit], self._ends[unit])

    def found(self) -> Found:
        """The duplicates; the largest groups first, among equals the earliest."""
        import numpy as np

        if not self._digests:
            return Found(0, 0, 0, ())
        digests = np.frombuffer(self._digests, np.uint64)
        order = np.argsort(digests, kind="stable")
        ordered = digests[order]
        begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        sizes = np.diff(np.r_[begins, len(ordered)])
        several = np.flatnonzero(sizes > 1)
        largest = sorted(several.tolist(), key=lambda at: (-sizes[at], order[begins[at]]))[:_MOST_GROUPS]
        groups = []
        for at in largest:
            units = order[begins[at] : begins[at] + min(int(sizes[at]), _MOST_PLACES)]
            groups.append(SameText(int(sizes[at]), tuple(self.span(unit) for unit in units.tolist())))
        return Found(len(ordered), len(several), int(len(ordered) - len(begins)), tuple(groups))
