"""Scoring over many queries: BEIR datasets and retrieval metrics with qrels."""

from backend.experiments.beir import BeirDataset, load_beir
from backend.experiments.metrics import BeirScores, evaluate, score_beir
from backend.experiments.query_sets import QuerySet, QuerySetStore

__all__ = ["BeirDataset", "BeirScores", "QuerySet", "QuerySetStore", "evaluate", "load_beir", "score_beir"]
