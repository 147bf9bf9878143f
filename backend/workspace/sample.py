"""The first duel: the sample corpus under the two models that packages carry."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from backend.corpus import SAMPLE_NAME, Chunking, sample_queries, sample_sources
from backend.embedding import OFFLINE_DEFAULTS
from backend.retrieval import Duel
from backend.workspace.types import DuelRequest

if TYPE_CHECKING:
    from backend.workspace.workspace import Workspace


def prepare_sample(workspace: Workspace, progress: Callable[[str, int, int], None] | None = None) -> Duel:
    """Add the sample corpus if it is missing, index it, run the first suggested query. Idempotent."""
    queries = sample_queries()
    corpus = next((corpus for corpus in workspace.corpora.list() if corpus.is_sample), None)
    if corpus is None:
        settings = workspace.settings
        report = workspace.corpora.add(
            SAMPLE_NAME,
            sample_sources(),
            Chunking(settings.chunk_tokens, settings.chunk_overlap_tokens),
            suggested_queries=queries,
            is_sample=True,
            progress=progress,
        )
        corpus = workspace.corpora.get(report.corpus_id)
    model_a, model_b = OFFLINE_DEFAULTS
    return workspace.duel(DuelRequest(corpus.corpus_id, queries[0], model_a, model_b), progress=progress)
