"""What the retrieval room hands on: hits, ranked lists, duels, and the seams VectorIndex and QueryExpander."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from backend.embedding.types import Matrix


class Neighbour(NamedTuple):
    """A row of an index and its cosine."""

    position: int
    score: float


class VectorIndex(Protocol):
    """Exact or approximate nearest neighbours by inner product over unit vectors.

    Every implementation passes ``tests/contract/test_indexes.py``.
    """

    @property
    def dimension(self) -> int:
        """Columns of the vectors held."""

    def __len__(self) -> int:
        """Vectors held."""

    def search(self, queries: Matrix, k: int) -> list[list[Neighbour]]:
        """Return the k nearest positions for each query, best first.

        Args:
            queries: Unit rows, shape [n_queries, dimension]; another dimension is an InputError that names both.
            k: Cutoff, at least 1; fewer come back when the index holds fewer.

        Returns:
            One list a query, in input order. Scores are cosines in [-1, 1]; equal scores are ordered by position.
        """

    def save(self, path: Path) -> None:
        """Write the index whole, or not at all."""


@dataclass(frozen=True, slots=True)
class HydeSettings:
    """Hypothetical document embeddings (Gao et al. 2022, arXiv 2212.10496).

    Attributes:
        n_passages: Passages to write.
        with_query: Average the query's own vector in (the paper's equation 8), or use the passages alone.
        temperature: Sampling temperature of the passages.
    """

    n_passages: int = 1
    with_query: bool = True
    temperature: float = 0.7


@dataclass(frozen=True, slots=True)
class Expansion:
    """What was done to a query before it was embedded; shared by both models of a duel.

    Attributes:
        passages: Hypothetical passages; empty where none were asked for or all failed.
        failure: Why there are none, for the page; empty where nothing failed.
        writer: Chat model that wrote them.
        prompt_version: Version of the HyDE prompt.
        latency_ms: Time to write them.
        with_query: As in HydeSettings.
    """

    passages: tuple[str, ...] = ()
    failure: str = ""
    writer: str = ""
    prompt_version: str = ""
    latency_ms: float = 0.0
    with_query: bool = True


class QueryExpander(Protocol):
    """Writes passages that a good document for the query might hold."""

    def expand(self, query: str) -> Expansion:
        """Never raises for a provider's failure: that is told in the Expansion."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found: its rank from 1 and its cosine."""

    rank: int
    score: float
    chunk_id: str
    document_id: str
    document: str
    place: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class RankedList:
    """What one model found.

    Attributes:
        model: Registry key.
        model_fingerprint: The encoder's fingerprint: model, revision, prompts, settings.
        hits: Best first; fewer than the cutoff where the corpus holds fewer.
        encode_ms: Time to get the vector of the query (and passages); near zero for an endpoint's from the cache.
        search_ms: Time to search.
        n_unembedded: Chunks of the corpus that have no vector under this model.
        n_cut: Chunks longer than the model reads; None where only the server knows.
        query_was_cut: The query itself was longer than the model reads.
    """

    model: str
    model_fingerprint: str
    hits: tuple[Hit, ...]
    encode_ms: float
    search_ms: float
    n_unembedded: int = 0
    n_cut: int | None = 0
    query_was_cut: bool = False


@dataclass(frozen=True, slots=True)
class Duel:
    """One query, one corpus version, two models, their ranked lists. The id names the content."""

    duel_id: str
    corpus_id: str
    corpus_name: str
    version_id: str
    query: str
    k: int
    a: RankedList
    b: RankedList
    hyde: HydeSettings | None
    expansion: Expansion | None
    seed: int
    created_at: str

    def shared_chunks(self) -> frozenset[str]:
        """Chunk ids that both lists hold."""
        return frozenset(h.chunk_id for h in self.a.hits) & frozenset(h.chunk_id for h in self.b.hits)


def texts_of(hits: Sequence[Hit]) -> list[str]:
    """The hits' texts, best first."""
    return [hit.text for hit in hits]
