"""One query, one model: embed, search, look up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from backend.corpus.types import Chunk
from backend.embedding.types import Encoded, Encoder, Matrix
from backend.embedding.vectors import VectorCache
from backend.errors import InputError
from backend.retrieval.indexes import CorpusIndex
from backend.retrieval.types import Expansion, Hit, RankedList


def query_vector(
    encoder: Encoder, query: str, expansion: Expansion | None, vectors: VectorCache
) -> tuple[Matrix, bool]:
    """The vector to search with, shape [1, dimension], unit length, and whether the query was cut.

    Without passages it is the query's own vector. With passages (embedded as documents) it is the mean of theirs,
    and of the query's own where the expansion says so: equation 8 of arXiv 2212.10496 over unit vectors, made unit
    again. What an endpoint was paid for before comes from ``vectors``.

    Raises:
        InputError: The model gives no usable vector for this query.
    """
    passages = expansion.passages if expansion else ()
    parts: list[Matrix] = []
    was_cut = False
    if not passages or (expansion and expansion.with_query):
        encoded = vectors.query_vectors(encoder, [query])
        _check(encoded, encoder, "the query")
        parts.append(encoded.vectors)
        was_cut = encoded.n_cut > 0
    if passages:
        encoded = vectors.passage_vectors(encoder, passages)
        good = [row for row in range(len(passages)) if row not in encoded.failures]
        if not good:
            _check(encoded, encoder, "the hypothetical passages")
        parts.append(encoded.vectors[good])
    mean = np.concatenate(parts).mean(axis=0, keepdims=True)
    norm = float(np.linalg.norm(mean))
    if norm == 0.0:
        raise InputError("The passages and the query cancel each other out; search without HyDE.")
    return np.ascontiguousarray(mean / norm, dtype=np.float32), was_cut


def retrieve(
    query: str,
    k: int,
    *,
    encoder: Encoder,
    corpus_index: CorpusIndex,
    vectors: VectorCache,
    chunks_at: Callable[[Sequence[int]], Sequence[Chunk]],
    expansion: Expansion | None = None,
) -> RankedList:
    """Search one index.

    Args:
        query: As the person wrote it.
        k: Cutoff.
        encoder: The model that the index was built with.
        corpus_index: The index.
        vectors: Holds the queries and passages that an endpoint has embedded before.
        chunks_at: Chunks by position, in the order asked.
        expansion: Passages shared by both models, or None.

    Returns:
        The ranked list with the time of each stage.
    """
    started = time.perf_counter()
    vector, was_cut = query_vector(encoder, query, expansion, vectors)
    encoded_at = time.perf_counter()
    neighbours = corpus_index.index.search(vector, k)[0]
    searched_at = time.perf_counter()
    chunks = chunks_at([neighbour.position for neighbour in neighbours])
    return RankedList(
        model=encoder.spec.key,
        model_fingerprint=encoder.fingerprint,
        hits=tuple(
            Hit(
                rank=rank,
                score=neighbour.score,
                chunk_id=chunk.chunk_id,
                document_id=chunk.document_id,
                document=chunk.document_name,
                place=chunk.place,
                start=chunk.start,
                end=chunk.end,
                text=chunk.text,
            )
            for rank, (neighbour, chunk) in enumerate(zip(neighbours, chunks, strict=True), start=1)
        ),
        encode_ms=(encoded_at - started) * 1000,
        search_ms=(searched_at - encoded_at) * 1000,
        n_unembedded=len(corpus_index.failures),
        n_cut=corpus_index.n_cut,
        query_was_cut=was_cut,
    )


def _check(encoded: Encoded, encoder: Encoder, what: str) -> None:
    if encoded.failures:
        why = next(iter(encoded.failures.values()))
        raise InputError(
            f"{encoder.spec.key} gives no vector for {what}: {why}.", hint="Change the query and try again."
        )
