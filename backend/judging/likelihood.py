"""The likelihood judge: which text makes the query more likely, under a small local language model.

UPR (Sachan et al. 2022, arXiv 2204.07496) with SmolLM2-135M-Instruct: no key, no network, no order effect. It speaks
about relevance only, and gives a margin in place of reasons. ``docs/judging.md`` holds its measurements.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence

from sqlalchemy.exc import IntegrityError

from backend.errors import CancelledError, InputError, RagduelError
from backend.judging.likelihood_model import (
    PASSAGE_TOKENS,
    PROMPT,
    QUERY_TOKENS,
    QueryLikelihood,
    fastest_dtype,
    likelihood_key,
    load_likelihood_model,
    weights_sha256,
)
from backend.judging.rules import without_asking
from backend.judging.types import JudgeIdentity, JudgeKind, Outcome, Verdict
from backend.llm.weights import SMOLLM2_MODEL
from backend.prompts import load_prompt
from backend.settings import Settings
from backend.store import Database

TIE_BAND = 0.15
"""Margins up to this many nats per query token are ties. From data: see docs/judging.md, "The tie band"."""

_REMEMBERED = 4096
_scores: OrderedDict[str, QueryLikelihood] = OrderedDict()
_scores_lock = threading.Lock()


class LikelihoodJudge:
    """Judges by query likelihood; every passage is scored alone, so the order of the sides can't matter.

    Args:
        settings: ``data_dir`` holds the converted weights.
        database: Keeps scores, so that a repeated pair costs nothing after a restart either.
        unit: What is compared, for the identity.
        tie_band: Nats per query token; None: the calibrated TIE_BAND.
        dtype: ``bfloat16``, ``float32``, or "" for the faster one on this machine.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        database: Database | None = None,
        unit: str = "rank 1",
        tie_band: float | None = None,
        dtype: str = "",
    ) -> None:
        self._settings = settings
        self._database = database
        self._unit = unit
        self._tie_band = TIE_BAND if tie_band is None else tie_band
        self._dtype = dtype

    @property
    def dtype(self) -> str:
        """The number format of the model on this machine."""
        self._dtype = self._dtype or fastest_dtype()
        return self._dtype

    @property
    def identity(self) -> JudgeIdentity:
        """Model file, prompt, number format and tie band."""
        try:
            model = f"{SMOLLM2_MODEL} ({weights_sha256()[:12]})"
        except RagduelError:
            model = f"{SMOLLM2_MODEL} (not installed)"
        return JudgeIdentity(
            JudgeKind.LIKELIHOOD,
            model,
            load_prompt(PROMPT).version,
            unit=self._unit,
            settings=f"tie band {self._tie_band:g}, {self.dtype}, first {PASSAGE_TOKENS} tokens of a text",
        )

    def prepare(self) -> None:
        """Convert and load the weights now, so that the first verdict does not wait for it.

        Raises:
            UnavailableError: The package that carries them is missing.
        """
        load_likelihood_model(self._settings.data_dir, self.dtype)

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Mean log-probability per token of the query after each passage, in nats, in input order.

        Raises:
            InputError: The query is blank.
            UnavailableError: The model's weights are not installed.
        """
        if not query.strip():
            raise InputError("A blank query has no likelihood.", hint="Write a query.")
        return [self._likelihood(query, passage).mean_log_probability for passage in passages]

    def judge(self, query: str, text_a: str, text_b: str) -> Verdict:
        """Judge one pair; a missing model becomes an unscored verdict."""
        identity = self.identity
        known = without_asking(query, text_a, text_b, identity)
        if known is not None:
            return known
        started = time.perf_counter()
        try:
            a, b = self._likelihood(query, text_a), self._likelihood(query, text_b)
        except CancelledError:
            raise
        except RagduelError as error:
            return Verdict(Outcome.UNSCORED, f"Not scored: {error}", identity, tie_band=self._tie_band)
        margin = a.mean_log_probability - b.mean_log_probability
        latency_ms = 1000 * (time.perf_counter() - started)
        if not math.isfinite(margin):
            reason = "Not scored: the model gave a likelihood that is not a number."
            return Verdict(Outcome.UNSCORED, reason, identity, tie_band=self._tie_band, latency_ms=latency_ms)
        outcome = Outcome.TIE if abs(margin) <= self._tie_band else Outcome.A if margin > 0 else Outcome.B
        return Verdict(
            outcome,
            _reason(outcome, margin, self._tie_band) + _told_cuts(a, b),
            identity,
            margin=margin,
            tie_band=self._tie_band,
            latency_ms=latency_ms,
        )

    def _likelihood(self, query: str, passage: str) -> QueryLikelihood:
        key = likelihood_key(weights_sha256(), self.dtype, query, passage)
        found = self._remembered(key)
        if found is None:
            found = load_likelihood_model(self._settings.data_dir, self.dtype).score(query, passage)
            self._keep(key, found)
        return found

    def _remembered(self, key: str) -> QueryLikelihood | None:
        with _scores_lock:
            if key in _scores:
                _scores.move_to_end(key)
                return _scores[key]
        stored = self._database.note(_note(key)) if self._database is not None else None
        return None if stored is None else QueryLikelihood(**stored)

    def _keep(self, key: str, found: QueryLikelihood) -> None:
        with _scores_lock:
            _scores[key] = found
            while len(_scores) > _REMEMBERED:
                _scores.popitem(last=False)
        if self._database is None or not math.isfinite(found.mean_log_probability):
            return
        try:
            self._database.set_note(
                _note(key),
                {
                    "mean_log_probability": found.mean_log_probability,
                    "n_query_tokens": found.n_query_tokens,
                    "passage_cut": found.passage_cut,
                    "query_cut": found.query_cut,
                },
            )
        except IntegrityError:
            return  # another thread or process has just written the same score


def forget_scores() -> None:
    """Empty the process's memory of scores; the database keeps its own."""
    with _scores_lock:
        _scores.clear()


def _note(key: str) -> str:
    return f"likelihood/{key}"


def _reason(outcome: Outcome, margin: float, band: float) -> str:
    told = f"{abs(margin):.2f} nats per query token"
    if outcome is Outcome.TIE:
        return f"Both texts make the query about as likely: {told} apart, within the tie band of {band:g}."
    return f"Side {outcome.upper()} makes the query more likely, by {told} (tie band {band:g})."


def _told_cuts(a: QueryLikelihood, b: QueryLikelihood) -> str:
    cut = a.passage_cut + b.passage_cut
    told = f" {cut} of 2 texts were cut at {PASSAGE_TOKENS} tokens." if cut else ""
    return told + (f" The query was cut at {QUERY_TOKENS} tokens." if a.query_cut else "")
