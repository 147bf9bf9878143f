"""The first duel: the sample corpus under the two models that packages carry."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from backend.corpus import SAMPLE_NAME, sample_queries, sample_sources
from backend.embedding import OFFLINE_DEFAULTS
from backend.errors import UnavailableError
from backend.judging import LikelihoodJudge
from backend.retrieval import Duel
from backend.workspace.corpus_work import default_chunking
from backend.workspace.types import DuelRequest

if TYPE_CHECKING:
    from backend.workspace.workspace import Workspace


def prepare_sample(workspace: Workspace, progress: Callable[[str, int, int], None] | None = None) -> Duel:
    """Add the sample corpus if it is missing, index it, run the first suggested query. Idempotent.

    The first time, the likelihood judge's weights are made ready too, so that the first verdict does not wait.
    """
    queries = sample_queries()
    corpus = next((corpus for corpus in workspace.corpora.list() if corpus.is_sample), None)
    is_new = corpus is None
    if corpus is None:
        settings = workspace.settings
        report = workspace.corpora.add(
            SAMPLE_NAME,
            sample_sources(),
            default_chunking(settings),
            suggested_queries=queries,
            is_sample=True,
            progress=progress,
        )
        corpus = workspace.corpora.get(report.corpus_id)
    model_a, model_b = OFFLINE_DEFAULTS
    duel = workspace.duel(DuelRequest(corpus.corpus_id, queries[0], model_a, model_b), progress=progress)
    if is_new:
        if progress:
            progress("Preparing the likelihood judge", 0, 1)
        with suppress(UnavailableError):  # the doctor and the verdict say what is missing
            LikelihoodJudge(workspace.settings).prepare()
    return duel
