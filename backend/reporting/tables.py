"""Verdicts as a table, and tables as CSV that spreadsheets can't mistake for formulas."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from backend.judging import DIMENSIONS, OrderJudgement, Outcome, Side, StoredVerdict, Verdict
from backend.retrieval.types import Duel
from backend.store import storable

if TYPE_CHECKING:
    import pandas as pd

_PLAIN_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
# Blanks, control and zero-width characters that a spreadsheet skips before it looks for a formula.
_SKIPPED = re.compile(r"[\s\x00-\x1f\x7f\xa0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u2064\u2066-\u206f\ufeff]*")
_FORMULA = tuple("=+-@\t\r＝＋－＠")
_ORDERS = (1, 2)


def verdict_table(rows: Sequence[tuple[Duel, StoredVerdict]]) -> pd.DataFrame:
    """One row a verdict, in the order given; what a verdict does not have is an empty cell.

    Scores of order n stand in columns ``order_<n>_…``; ``order_<n>_first_model`` says who stood as Chunk A there.
    """
    import pandas as pd

    # dtype=object: pandas' own text columns refuse halves of UTF-16 pairs, and documents may hold some.
    return pd.DataFrame([_row(duel, stored) for duel, stored in rows], columns=columns(), dtype=object)


def columns() -> list[str]:
    """The table's columns, in order."""
    fixed = [
        "query", "corpus", "model_a", "model_b", "outcome", "winner_model", "reason", "order_dependent", "identical",
        "rule_conflict", "one_order", "margin", "tie_band", "unscored_reason", "contradictions",
    ]  # fmt: skip
    of_orders = [f"order_{n}_{name}" for n in _ORDERS for name in _order_columns()]
    trailing = [
        "judge_kind", "judge_model", "judge_endpoint", "prompt_version", "judge_settings", "unit", "seed", "k", "hyde",
        "n_prompt_tokens", "n_completion_tokens", "cost_usd", "latency_ms", "fingerprint_a", "fingerprint_b",
        "verdict_id", "duel_id", "corpus_version", "created_at",
    ]  # fmt: skip
    return fixed + of_orders + trailing


def _order_columns() -> list[str]:
    scores = [f"{side}_{name}" for side in ("a", "b") for name in (*DIMENSIONS, "overall")]
    return [
        "first_model", "outcome", *scores, "stated_winner", "stated_confidence", "confidence_band", "reason",
        "deciding_dimension", "strengths_a", "weaknesses_a", "strengths_b", "weaknesses_b", "unscored_reason",
        "repaired", "from_store",
    ]  # fmt: skip


def to_csv(frame: pd.DataFrame) -> bytes:
    """A table as CSV: UTF-8 with a byte order mark, numbers as numbers, and no text that starts a formula.

    Text that a spreadsheet could take for a formula gets an apostrophe in front, unless it is a plain number. NUL and
    halves of UTF-16 pairs are replaced by U+FFFD; NaN and infinities become empty cells.
    """
    safe = frame.astype(object).map(_cell)
    safe.columns = [_cell(str(name)) for name in frame.columns]
    text: str = safe.to_csv(index=False, lineterminator="\r\n")
    return b"\xef\xbb\xbf" + text.encode("utf-8")


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    text = storable(str(value))
    if _PLAIN_NUMBER.fullmatch(text):
        return text
    skipped = _SKIPPED.match(text)
    start = text[skipped.end() if skipped else 0 :]
    return "'" + text if text.startswith(_FORMULA) or start.startswith(_FORMULA) else text


def _row(duel: Duel, stored: StoredVerdict) -> dict[str, Any]:
    verdict, judge = stored.verdict, stored.verdict.judge
    winner = {Outcome.A: duel.a.model, Outcome.B: duel.b.model}.get(verdict.outcome, "")
    row: dict[str, Any] = {
        "query": duel.query,
        "corpus": duel.corpus_name,
        "model_a": duel.a.model,
        "model_b": duel.b.model,
        "outcome": str(verdict.outcome),
        "winner_model": winner,
        "reason": verdict.reason,
        "order_dependent": verdict.order_dependent,
        "identical": verdict.identical,
        "rule_conflict": verdict.rule_conflict,
        "one_order": verdict.one_order,
        "margin": verdict.margin,
        "tie_band": verdict.tie_band,
        "unscored_reason": _unscored_reason(verdict),
        "contradictions": "; ".join(f"order {n}: {c}" for n, o in _numbered(verdict) for c in o.contradictions),
        "judge_kind": str(judge.kind),
        "judge_model": judge.model,
        "judge_endpoint": judge.base_url,
        "prompt_version": judge.prompt_version,
        "judge_settings": judge.settings,
        "unit": judge.unit,
        "seed": verdict.seed,
        "k": duel.k,
        "hyde": duel.hyde is not None,
        "n_prompt_tokens": _total([order.n_prompt_tokens for order in verdict.orders]),
        "n_completion_tokens": _total([order.n_completion_tokens for order in verdict.orders]),
        "cost_usd": _total([order.cost_usd for order in verdict.orders]),
        "latency_ms": round(verdict.latency_ms, 1),
        "fingerprint_a": duel.a.model_fingerprint,
        "fingerprint_b": duel.b.model_fingerprint,
        "verdict_id": stored.verdict_id,
        "duel_id": stored.duel_id,
        "corpus_version": duel.version_id,
        "created_at": stored.created_at,
    }
    for n, order in _numbered(verdict):
        row |= {f"order_{n}_{name}": value for name, value in _order_cells(duel, order).items()}
    return row


def _order_cells(duel: Duel, order: OrderJudgement) -> dict[str, Any]:
    models: dict[Side, str] = {"a": duel.a.model, "b": duel.b.model}
    cells: dict[str, Any] = {
        "first_model": models[order.first],
        "outcome": str(order.outcome),
        "stated_winner": "" if order.stated_winner is None else str(order.stated_winner),
        "stated_confidence": order.stated_confidence,
        "confidence_band": order.confidence_band,
        "reason": order.reason,
        "deciding_dimension": order.deciding_dimension,
        "unscored_reason": order.unscored_reason,
        "repaired": order.repaired,
        "from_store": order.from_store,
    }
    for side, scores in (("a", order.scores_a), ("b", order.scores_b)):
        if scores is not None:
            cells |= {f"{side}_{name}": getattr(scores, name) for name in (*DIMENSIONS, "overall")}
    for name in ("strengths_a", "weaknesses_a", "strengths_b", "weaknesses_b"):
        cells[name] = "; ".join(getattr(order, name))
    return cells


def _numbered(verdict: Verdict) -> list[tuple[int, OrderJudgement]]:
    return list(zip(_ORDERS, verdict.orders, strict=False))


def _unscored_reason(verdict: Verdict) -> str:
    if verdict.outcome is not Outcome.UNSCORED:
        return ""
    reasons = dict.fromkeys(order.unscored_reason for order in verdict.orders if order.unscored_reason)
    return "; ".join(reasons) or verdict.reason


def _total(parts: Sequence[float | None]) -> float | None:
    """The sum, None where a part is unknown or there is none."""
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None
