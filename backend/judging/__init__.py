"""Judging: blind in the data, both orders asked, rules kept by code, failures kept as data."""

from backend.judging.judgements import Judgement, JudgementStore, judgement_key
from backend.judging.likelihood import TIE_BAND, LikelihoodJudge
from backend.judging.llm_judge import LlmJudge
from backend.judging.mirror import mirrored
from backend.judging.store import StoredVerdict, VerdictStore, verdict_from_json, verdict_id_of, verdict_to_json
from backend.judging.types import (
    DIMENSIONS,
    DimensionScores,
    Judge,
    JudgeIdentity,
    JudgeKind,
    OrderJudgement,
    Outcome,
    Side,
    Verdict,
)
from backend.judging.units import judged_texts, pair_texts, unit_name
from backend.judging.votes import Choice, Vote, VoteStore

__all__ = [
    "DIMENSIONS",
    "TIE_BAND",
    "Choice",
    "DimensionScores",
    "Judge",
    "JudgeIdentity",
    "JudgeKind",
    "Judgement",
    "JudgementStore",
    "LikelihoodJudge",
    "LlmJudge",
    "OrderJudgement",
    "Outcome",
    "Side",
    "StoredVerdict",
    "Verdict",
    "VerdictStore",
    "Vote",
    "VoteStore",
    "judged_texts",
    "judgement_key",
    "mirrored",
    "pair_texts",
    "unit_name",
    "verdict_from_json",
    "verdict_id_of",
    "verdict_to_json",
]
