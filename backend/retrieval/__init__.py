"""Vector index, query expansion, retriever, and a duel's two ranked lists."""

from backend.retrieval.duels import DuelStore, duel_from_json, duel_id_for, duel_to_json
from backend.retrieval.hyde import HydeExpander
from backend.retrieval.index import FaissIndex
from backend.retrieval.indexes import CorpusIndex, IndexStore
from backend.retrieval.retriever import query_vector, retrieve
from backend.retrieval.types import (
    Duel,
    Expansion,
    Hit,
    HydeSettings,
    Neighbour,
    QueryExpander,
    RankedList,
    VectorIndex,
)

__all__ = [
    "CorpusIndex", "Duel", "DuelStore", "Expansion", "FaissIndex", "Hit", "HydeExpander", "HydeSettings", "IndexStore",
    "Neighbour", "QueryExpander", "RankedList", "VectorIndex", "duel_from_json", "duel_id_for", "duel_to_json",
    "query_vector", "retrieve",
]  # fmt: skip
