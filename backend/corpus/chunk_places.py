"""Where chunks stand in a version: which positions a document has, which chunks reach into a stretch of its text.

A version keeps its chunks document after document, in the order of the corpus, each document's by ascending start. So
both are found by halving: about twenty reads of one row among a million chunks, and no read of all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from backend.corpus.catalogue import Catalogue
from backend.corpus.types import Chunk, Corpus, Document

_REACHING_BACK = 8
"""Chunks before the first that starts in a stretch which may still reach into it, by their overlap."""


@dataclass(frozen=True, slots=True)
class ChunkPlaces:
    """Finds the chunks of one version.

    Attributes:
        catalogue: Reads them.
        corpus: At that version.
        documents: Of the corpus, in its order.
    """

    catalogue: Catalogue
    corpus: Corpus
    documents: Sequence[Document]

    def positions(self, document_id: str) -> range:
        """The positions of a document's chunks; empty where it has none.

        Raises:
            NotFoundError: The version was removed meanwhile.
        """
        order = {document.document_id: at for at, document in enumerate(self.documents)}
        at = order.get(document_id, -1)
        return range(self._first(order, (at, 0)), self._first(order, (at + 1, 0)))

    def between(self, document_id: str, start: int, end: int, n_chunks: int) -> list[Chunk]:
        """At most ``n_chunks`` chunks of a document that reach into the characters ``start`` to ``end`` of its text.

        Raises:
            NotFoundError: The version was removed meanwhile.
        """
        order = {document.document_id: at for at, document in enumerate(self.documents)}
        first = max(0, self._first(order, (order.get(document_id, -1), start)) - _REACHING_BACK)
        found = self.catalogue.chunks_from(self.corpus.version_id, first, n_chunks + _REACHING_BACK)
        inside = [c for c in found if c.document_id == document_id and c.end > start and c.start < end]
        return inside[:n_chunks]

    def _first(self, order: dict[str, int], place: tuple[int, int]) -> int:
        """The first position whose chunk stands at or after (document, start)."""

        def place_of(position: int) -> tuple[int, int]:
            [chunk] = self.catalogue.chunks_at(self.corpus.version_id, [position])
            return order.get(chunk.document_id, -1), chunk.start

        return bisect_left(range(self.corpus.n_chunks), place, key=place_of)
