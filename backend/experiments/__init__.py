"""Query sets, experiments over them, retrieval metrics with qrels, and statistics."""

from backend.experiments.beir import BeirDataset, load_beir
from backend.experiments.estimate import Estimate, Missing, PriceTag, estimate
from backend.experiments.health import PlantedPair, planted_pairs
from backend.experiments.judging import Duels, ExperimentJudging
from backend.experiments.metrics import BeirScores, evaluate, score_beir
from backend.experiments.plan_file import PlanFile, read_plan
from backend.experiments.plans import arm_name, checked, named
from backend.experiments.query_sets import QuerySet, QuerySetStore, SourceChunk
from backend.experiments.store import DuelKey, DuelRecord, Experiment, ExperimentStore, experiment_id_for
from backend.experiments.types import (
    MAX_ARMS,
    Arm,
    ArmFacts,
    ExperimentPlan,
    JudgedDuel,
    JudgeSettings,
    LabelKind,
    RetrieverKind,
    Unit,
)

__all__ = [
    "MAX_ARMS", "Arm", "ArmFacts", "BeirDataset", "BeirScores", "DuelKey", "DuelRecord", "Duels", "Estimate",
    "Experiment", "ExperimentJudging", "ExperimentPlan", "ExperimentStore", "JudgeSettings", "JudgedDuel", "LabelKind",
    "Missing", "PlanFile", "PlantedPair", "PriceTag", "QuerySet", "QuerySetStore", "RetrieverKind", "SourceChunk",
    "Unit", "arm_name", "checked", "estimate", "evaluate", "experiment_id_for", "load_beir", "named", "planted_pairs",
    "read_plan", "score_beir",
]  # fmt: skip
