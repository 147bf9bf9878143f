"""Retrieval metrics with qrels, by ir-measures with a trec_eval provider. The query is the unit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from backend.embedding.types import Encoder
from backend.embedding.vectors import VectorCache
from backend.errors import UnavailableError
from backend.experiments.beir import BeirDataset
from backend.retrieval.index import FaissIndex
from backend.retrieval.indexes import staged

RECALL_DEPTH = 100

Qrels = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class BeirScores:
    """Scores of one model on one dataset.

    Attributes:
        means: Measure name (``nDCG@10``, ``R@100``, ``RR@10``, ``AP``) -> mean over all judged queries.
        per_query: Measure name -> query id -> value; a query that is missing from the run counts 0.
        n_queries: Queries judged.
        n_unembedded: Documents without a vector.
        n_cut: Documents longer than the model reads; None where only the server knows.
        n_failed_queries: Queries without a vector; they count 0.
    """

    means: dict[str, float]
    per_query: dict[str, dict[str, float]]
    n_queries: int
    n_unembedded: int
    n_cut: int | None
    n_failed_queries: int


def evaluate(qrels: Qrels, run: Run, k: int = 10) -> dict[str, dict[str, float]]:
    """Score a run.

    Args:
        qrels: Query id -> document id -> relevance.
        run: Query id -> document id -> score, higher is better.
        k: Cutoff of nDCG and reciprocal rank.

    Returns:
        Measure name -> query id -> value, for every query of the qrels.
    """
    import ir_measures
    from ir_measures import AP, RR, R, nDCG

    measures = {f"nDCG@{k}": nDCG @ k, f"R@{RECALL_DEPTH}": R @ RECALL_DEPTH, f"RR@{k}": RR, "AP": AP}
    names = {str(measure): name for name, measure in measures.items()}
    values = {name: dict.fromkeys(qrels, 0.0) for name in measures}
    # Queries without a hit are left out of the run: they count 0 anyway, and a provider may stumble over them.
    plain_qrels = {query: dict(judged) for query, judged in qrels.items()}
    plain_run = {query: dict(scores) for query, scores in run.items() if scores}
    provider = ir_measures.providers.registry["pytrec_eval"]
    if plain_run:
        for metric in provider.iter_calc(list(measures.values()), plain_qrels, plain_run):
            values[names[str(metric.measure)]][metric.query_id] = float(metric.value)
    # trec_eval knows no cutoff for the reciprocal rank: a first relevant rank beyond k gives less than 1/k.
    reciprocal = values[f"RR@{k}"]
    values[f"RR@{k}"] = {query: value if value * k > 1 - 1e-6 else 0.0 for query, value in reciprocal.items()}
    return values


def score_beir(
    dataset: BeirDataset,
    encoder: Encoder,
    vectors: VectorCache,
    *,
    k: int = 10,
    progress: Callable[[str, int, int], None] | None = None,
) -> BeirScores:
    """Embed, search and score a dataset through the app's own encoder, vector cache and index.

    Args:
        dataset: What to score on.
        encoder: The model.
        vectors: Where vectors come from.
        k: Cutoff of nDCG and reciprocal rank.
        progress: Told (stage, done, total).
    """
    documents = vectors.document_vectors(encoder, list(dataset.texts), progress=staged(progress, encoder))
    good = np.array([n for n in range(len(dataset.texts)) if n not in documents.failures], dtype=np.int64)
    if not len(good):
        raise UnavailableError(f"{encoder.spec.key} could not embed any document of {dataset.name}.")
    index = FaissIndex.build(documents.vectors[good], good)
    queries = vectors.query_vectors(encoder, list(dataset.queries))
    asked = [row for row in range(len(dataset.queries)) if row not in queries.failures]
    found = index.search(queries.vectors[asked], max(k, RECALL_DEPTH)) if asked else []
    run = {
        dataset.query_ids[row]: {dataset.document_ids[hit.position]: hit.score for hit in hits}
        for row, hits in zip(asked, found, strict=True)
    }
    per_query = evaluate(dataset.qrels, run, k)
    return BeirScores(
        means={name: float(np.mean(list(values.values()))) for name, values in per_query.items()},
        per_query=per_query,
        n_queries=len(dataset.query_ids),
        n_unembedded=len(documents.failures),
        n_cut=None if encoder.count_tokens([]) is None else documents.n_cut,
        n_failed_queries=len(queries.failures),
    )
