"""Plans as plain data and back, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from backend.corpus.records import chunking_of
from backend.experiments.types import Arm, ExperimentPlan, JudgeSettings, RetrieverKind, Unit
from backend.judging.types import JudgeKind
from backend.retrieval.types import HydeSettings


def plan_to_json(plan: ExperimentPlan) -> dict[str, Any]:
    """Plain data; never a key, since a plan holds none."""
    return asdict(plan)


def plan_from_json(data: Mapping[str, Any]) -> ExperimentPlan:
    """The inverse of plan_to_json."""
    arms = tuple(arm_from_json(arm) for arm in data["arms"])
    judges = tuple(JudgeSettings(**{**judge, "kind": JudgeKind(judge["kind"])}) for judge in data["judges"])
    return ExperimentPlan(**{**data, "arms": arms, "judges": judges, "unit": Unit(data["unit"])})


def arm_from_json(data: Mapping[str, Any]) -> Arm:
    """An arm from its plain data."""
    chunking, hyde = data["chunking"], data["hyde"]
    return Arm(
        **{
            **data,
            "retriever": RetrieverKind(data["retriever"]),
            "models": tuple(data["models"]),
            "hyde": HydeSettings(**hyde) if hyde else None,
            "chunking": chunking_of(dict(chunking)) if chunking else None,
        }
    )
