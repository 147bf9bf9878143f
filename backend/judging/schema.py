"""The reply that an LLM judge owes: one Pydantic model, and its JSON schema for endpoints that enforce one."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

SCORE_MIN, SCORE_MAX = 1, 10
_MAX_PHRASES = 5


def shown(value: object) -> str:
    """A value as it may stand in a reason: short, and true to its type."""
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= 40 else text[:37] + "…"


def _number(value: object) -> float | None:
    """A finite number, also one that was written as text; None for everything else (booleans included)."""
    if isinstance(value, str):
        try:
            value = float(value.strip())
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        return None
    return number if math.isfinite(number) else None


def _score(value: object) -> float:
    number = _number(value)
    if number is None:
        raise ValueError("is not a number")
    if not SCORE_MIN <= number <= SCORE_MAX:
        raise ValueError(f"lies outside {SCORE_MIN} to {SCORE_MAX}")
    return number


def _confidence(value: object) -> float | None:
    number = _number(value)
    return number if number is not None and 0 <= number <= 1 else None


def _winner(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    word = value.strip().lower().replace(" ", "_").replace("-", "_")
    word = f"chunk_{word}" if word in {"a", "b"} else word
    return word if word in {"chunk_a", "chunk_b", "tie"} else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _phrases(value: object) -> tuple[str, ...]:
    if value is None or value == "":
        return ()
    items = value if isinstance(value, list | tuple) else [value]
    return tuple(text for text in map(_text, items) if text.strip())


Score = Annotated[
    float,
    BeforeValidator(_score),
    WithJsonSchema({"type": "integer", "minimum": SCORE_MIN, "maximum": SCORE_MAX}),
]
Mean = Annotated[float | None, BeforeValidator(_number), WithJsonSchema({"type": "number"})]
Confidence = Annotated[float | None, BeforeValidator(_confidence), WithJsonSchema({"type": "number"})]
Winner = Annotated[
    Literal["chunk_a", "chunk_b", "tie"] | None,
    BeforeValidator(_winner),
    WithJsonSchema({"type": "string", "enum": ["chunk_a", "chunk_b", "tie"]}),
]
Text = Annotated[str, BeforeValidator(_text), WithJsonSchema({"type": "string"})]
Phrases = Annotated[
    tuple[str, ...],
    BeforeValidator(_phrases),
    WithJsonSchema({"type": "array", "items": {"type": "string"}, "maxItems": _MAX_PHRASES}),
]


class ChunkScore(BaseModel):
    """Scores of one chunk. The four decide, so they must be right; ``overall`` is recomputed, so it may be anything."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    query_relevance: Score
    answer_completeness: Score
    factual_plausibility: Score
    clarity: Score
    overall: Mean = None


class JudgeReply(BaseModel):
    """The reply's fields, evidence before scores before winner: an LLM writes them in this order.

    Only the scores are needed to read one; what else is missing or odd is left empty and told as a contradiction.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    chunk_a_strengths: Phrases = ()
    chunk_a_weaknesses: Phrases = ()
    chunk_b_strengths: Phrases = ()
    chunk_b_weaknesses: Phrases = ()
    winner_reason: Text = ""
    deciding_dimension: Text = ""
    chunk_a_score: ChunkScore
    chunk_b_score: ChunkScore
    winner: Winner = Field(default=None)
    confidence: Confidence = None


NEEDED = ("chunk_a_score", "chunk_b_score")
FIELDS = tuple(JudgeReply.model_fields)


@lru_cache(maxsize=1)
def reply_schema() -> dict[str, Any]:
    """The reply's JSON schema in strict form: every field required, nothing else allowed, no references."""
    full = JudgeReply.model_json_schema()
    definitions = full.pop("$defs", {})
    strict = _strict(full, definitions)
    assert isinstance(strict, dict)  # noqa: S101 - the schema of a model is an object
    return strict


def _strict(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_strict(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _strict(definitions[node["$ref"].rsplit("/", 1)[-1]], definitions)
    kept = {k: _strict(v, definitions) for k, v in node.items() if k not in {"title", "default", "description"}}
    if kept.get("type") == "object":
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept
