"""Reading an LLM judge's reply: as it stands, then past what models put round it, then with small defects repaired.

What is never done: changing a value. A score that is no number from 1 to 10 makes the reply unscored, with the field
and the value named.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from backend.judging.schema import FIELDS, NEEDED, JudgeReply, shown
from backend.judging.types import DIMENSIONS

_REASONING = re.compile(r"\s*<(think|thinking|reasoning)>(?:.*?</\1>|(?P<open>))", re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(rf"""(?<!\\)["']({"|".join(FIELDS)})["']\s*:""")
_HALF_SCORE = re.compile(rf"""["'](?:{"|".join(DIMENSIONS)})["']\s*:\s*["']?[\d.]*$""")
_MAX_CHARS = 200_000
_MAX_REPAIRED_CHARS = 50_000  # the repair takes time with the square of open brackets
_MAX_FAILURES = 200  # each failure may read to the end: hostile replies stay cheap


@dataclass(frozen=True, slots=True)
class ReadReply:
    """A reply that can be scored.

    Attributes:
        reply: Its fields.
        repaired: What had to be done to read it; empty where it was valid as it came.
        marks: What is odd about its values, in plain words.
    """

    reply: JudgeReply
    repaired: str = ""
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A reply that can't be scored.

    Attributes:
        reason: Why, with field and value where a value is at fault.
        format_fault: The form is wrong, so asking once more may help; False where a value is.
    """

    reason: str
    format_fault: bool


class _FieldTwiceError(Exception):
    """A field stands in one object twice, with different values."""


def read_reply(text: str, *, cut_off: bool = False) -> ReadReply | Unreadable:
    """Read a reply.

    Args:
        text: What the model wrote.
        cut_off: The server said that the token limit ended it; a half object is then not repaired, since a cut
            number reads as another number.

    Returns:
        The fields and what was done to read them, or the reason why it can't be read. Of several objects with
        scores the last one counts: models restate and correct themselves towards the end. A field given twice in
        one object with different values is unreadable, since nothing tells which is meant.
    """
    if len(text) > _MAX_CHARS:
        return Unreadable(f"the reply is {len(text)} characters long, a verdict has a few hundred", format_fault=True)
    try:
        whole = _loads(text, strict=True)
        found = (whole, "") if _holds_scores(whole) else _find(text, cut_off=cut_off)
    except _FieldTwiceError as error:
        return Unreadable(str(error), format_fault=True)
    if isinstance(found, Unreadable):
        return found
    data, repaired = found
    return _validated(data, repaired)


def _find(text: str, *, cut_off: bool) -> tuple[dict[str, Any], str] | Unreadable:
    body = text
    while (block := _REASONING.match(body)) is not None:  # only in front: elsewhere the tags may be quoted text
        if block["open"] is not None:
            return Unreadable("the reply is reasoning without an end and holds no verdict", format_fault=not cut_off)
        body = body[block.end() :]
    steps = ["reasoning left out"] if len(body) != len(text) else []
    whole = _loads(body, strict=False)
    if _holds_scores(whole):
        return whole, ", ".join(steps or ["bare control characters in a text accepted"])
    last, outside = _last_object(body)
    if last is not None and not any(match[1] in NEEDED for match in _FIELD.finditer(outside)):
        return last, ", ".join([*steps, "text round the verdict left out"])
    if cut_off:
        return Unreadable("the token limit ended the reply before its verdict was complete", format_fault=False)
    mended = _mended(body)
    if mended is not None:
        return mended, ", ".join([*steps, "small defects of the JSON repaired"])
    what = "JSON" if "{" not in body else f"JSON object with {' and '.join(NEEDED)}"
    return Unreadable(f"the reply holds no {what}", format_fault=True)


def _last_object(text: str) -> tuple[dict[str, Any] | None, str]:
    """The last top-level object with scores, and all text outside well-formed objects.

    A field name outside means that an object there is broken, and the one found may be a quotation within it.
    """
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_pairs)
    found: dict[str, Any] | None = None
    outside: list[str] = []
    position, end, failures = text.find("{"), 0, 0
    while position >= 0 and failures < _MAX_FAILURES:
        try:
            value, after = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            failures += 1
            position = text.find("{", position + 1)
            continue
        if _holds_scores(value):
            found = value
        outside.append(text[end:position])
        end = after
        position = text.find("{", after)
    return found, " ".join((*outside, text[end:]))


def _mended(text: str) -> dict[str, Any] | None:
    """An object out of almost-JSON: a comma too many, single quotes, Python's words, a last brace missing."""
    start = text.find("{")
    if start < 0:
        return None
    candidate = text[start:]
    fence = candidate.find("```", max(candidate.rfind("{"), candidate.rfind("}")))
    candidate = candidate[: fence if fence >= 0 else len(candidate)].rstrip()
    if _HALF_SCORE.search(candidate):
        return None  # the text ends within a score: 1 may have been going to be 10
    names = [match[1] for match in _FIELD.finditer(candidate)]
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise _FieldTwiceError(f"{twice[0]} stands in the reply twice, and its JSON is broken")
    end = candidate.rfind("}") + 1
    for attempt in (candidate[:end], candidate):
        try:
            value = ast.literal_eval(attempt)  # literals only: nothing is run
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
        if _holds_scores(value):
            return dict(value)
    if len(candidate) > _MAX_REPAIRED_CHARS:
        return None
    import json_repair

    try:
        value = json_repair.loads(candidate)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _holds_scores(value) else None


def _loads(text: str, *, strict: bool) -> Any:
    try:
        return json.loads(text.strip().removeprefix("\ufeff"), strict=strict, object_pairs_hook=_pairs)
    except (ValueError, RecursionError):
        return None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for name, value in pairs:
        if name in data and repr(data[name]) != repr(value):
            raise _FieldTwiceError(f"{name} is given twice: {shown(data[name])} and {shown(value)}")
        data[name] = value
    return data


def _holds_scores(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(one), dict) for one in NEEDED)


def _validated(data: dict[str, Any], repaired: str) -> ReadReply | Unreadable:
    try:
        reply = JudgeReply.model_validate(data)
    except ValidationError as error:
        faults = error.errors()
        missing = [_path(fault["loc"]) for fault in faults if fault["type"] == "missing"]
        wrong = [
            f"{_path(fault['loc'])} {fault['msg'].removeprefix('Value error, ')}: {shown(fault['input'])}"
            for fault in faults
            if fault["type"] != "missing"
        ]
        parts = wrong + [f"{name} is missing" for name in missing]
        return Unreadable("; ".join(parts), format_fault=not wrong)
    return ReadReply(reply, repaired, tuple(_marks(reply, data)))


def _marks(reply: JudgeReply, data: dict[str, Any]) -> list[str]:
    marks = []
    for name, scores in (("chunk_a_score", reply.chunk_a_score), ("chunk_b_score", reply.chunk_b_score)):
        for dimension, score in scores:
            if dimension != "overall" and score != int(score):
                marks.append(f"{name}.{dimension} is not a whole number: {score:g}")
    if reply.confidence is None:
        told = f"is not a number from 0 to 1: {shown(data['confidence'])}" if "confidence" in data else "is missing"
        marks.append(f"confidence {told}")
    if reply.winner is None:
        told = f"is none of chunk_a, chunk_b, tie: {shown(data['winner'])}" if "winner" in data else "is missing"
        marks.append(f"winner {told}")
    if not reply.winner_reason.strip():
        marks.append("winner_reason is missing")
    return marks


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(map(str, location))
