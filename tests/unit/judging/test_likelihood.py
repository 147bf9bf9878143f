"""The likelihood judge: tie band, memory, cuts; and, with the real model, that order and company change no digit."""

import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from backend.errors import InputError
from backend.judging import TIE_BAND, LikelihoodJudge, Outcome
from backend.judging.likelihood import forget_scores
from backend.judging.likelihood_model import (
    PASSAGE_TOKENS,
    QUERY_TOKENS,
    LikelihoodModel,
    QueryLikelihood,
    fastest_dtype,
    likelihood_key,
    load_likelihood_model,
)
from backend.settings import Settings
from backend.store import Database
from tests.likelihood_weights import real_likelihood_judge, weights_dir

__all__ = ["real_likelihood_judge", "weights_dir"]

QUERY, RIGHT, WRONG = "When does the harbour open?", "The harbour opens at six.", "Ferries are painted white."


class Scores:
    """Stands for the model: fixed scores by passage."""

    def __init__(self, **scores: float) -> None:
        self.scores = scores
        self.asked: list[str] = []
        self.cut = False

    def score(self, query: str, passage: str) -> QueryLikelihood:
        self.asked.append(passage)
        return QueryLikelihood(self.scores[passage], 5, self.cut, self.cut)


@pytest.fixture
def scores(monkeypatch: pytest.MonkeyPatch) -> Scores:
    model = Scores(good=-2.0, close=-2.25, far=-4.0, odd=math.nan)
    monkeypatch.setattr("backend.judging.likelihood.load_likelihood_model", lambda *_: model)
    monkeypatch.setattr("backend.judging.likelihood.weights_sha256", lambda: "0" * 64)
    forget_scores()
    return model


def judge(settings: Settings, database: Database | None = None, tie_band: float = 0.25) -> LikelihoodJudge:
    return LikelihoodJudge(settings, database=database, tie_band=tie_band, dtype="float32")


def test_margins_up_to_the_tie_band_are_ties(scores: Scores, settings: Settings) -> None:
    tie = judge(settings).judge("q", "good", "close")
    assert (tie.outcome, tie.margin, tie.tie_band, tie.identical) == (Outcome.TIE, 0.25, 0.25, False)
    assert judge(settings, tie_band=0.24).judge("q", "good", "close").outcome is Outcome.A
    lost = judge(settings).judge("q", "far", "good")
    assert (lost.outcome, lost.margin, lost.orders) == (Outcome.B, -2.0, ())
    assert "Side B makes the query more likely" in lost.reason


def test_each_text_is_scored_once(scores: Scores, settings: Settings) -> None:
    one = judge(settings)
    one.judge("q", "good", "far")
    one.judge("q", "far", "good")
    one.judge("q", "far", "close")
    assert scores.asked == ["good", "far", "close"]
    assert one.score("q", ["close", "good"]) == [-2.25, -2.0]


def test_the_database_remembers_after_a_restart(scores: Scores, settings: Settings, database: Database) -> None:
    before = judge(settings, database).judge("q", "good", "far")
    forget_scores()
    after = judge(settings, database).judge("q", "good", "far")
    assert (after.outcome, after.margin) == (before.outcome, before.margin)
    assert scores.asked == ["good", "far"]


def test_a_likelihood_that_is_no_number_is_unscored_and_not_kept(
    scores: Scores, settings: Settings, database: Database
) -> None:
    verdict = judge(settings, database).judge("q", "good", "odd")
    assert (verdict.outcome, verdict.margin) == (Outcome.UNSCORED, None)


def test_cuts_are_told(scores: Scores, settings: Settings) -> None:
    scores.cut = True
    reason = judge(settings).judge("q", "good", "far").reason
    assert f"2 of 2 texts were cut at {PASSAGE_TOKENS} tokens" in reason
    assert f"query was cut at {QUERY_TOKENS} tokens" in reason


def test_a_blank_query_has_no_likelihood(scores: Scores, settings: Settings) -> None:
    with pytest.raises(InputError):
        judge(settings).score(" ", ["good"])


def test_the_key_names_everything_that_changes_a_score() -> None:
    keys = {
        likelihood_key(*parts)
        for parts in (
            ("s", "d", "q", "p"),
            ("t", "d", "q", "p"),
            ("s", "e", "q", "p"),
            ("s", "d", "r", "p"),
            ("s", "d", "q", "o"),
        )
    }
    assert len(keys) == 5
    assert likelihood_key("s", "d", " q ", "p") in keys


def test_the_identity_tells_file_prompt_format_and_band(scores: Scores, settings: Settings) -> None:
    told = LikelihoodJudge(settings, unit="top 5").identity
    assert told.kind == "likelihood"
    assert told.model == "smollm2-135m-instruct (000000000000)"
    assert told.unit == "top 5"
    assert f"tie band {TIE_BAND:g}" in told.settings
    assert fastest_dtype() in told.settings
    assert told.both_orders


@pytest.mark.models
def test_order_and_company_change_no_digit(real_likelihood_judge: LikelihoodJudge) -> None:
    passages = [RIGHT, WRONG, RIGHT * 40, "x", WRONG + RIGHT]
    alone = []
    for passage in passages:
        forget_scores()
        alone += real_likelihood_judge.score(QUERY, [passage])
    forget_scores()
    assert real_likelihood_judge.score(QUERY, passages) == alone
    forget_scores()
    assert real_likelihood_judge.score(QUERY, passages[::-1]) == alone[::-1]
    forget_scores()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda p: real_likelihood_judge.score(QUERY, [p])[0], passages)) == alone


@pytest.mark.models
def test_the_answer_makes_its_question_likelier(real_likelihood_judge: LikelihoodJudge) -> None:
    verdict = real_likelihood_judge.judge(QUERY, RIGHT, WRONG)
    assert verdict.outcome is Outcome.A
    assert verdict.margin is not None
    assert verdict.margin > 0.5


@pytest.mark.models
def test_control_tokens_in_a_document_stay_characters(weights_dir: Path) -> None:
    model = load_likelihood_model(weights_dir)
    assert len(model._tokens("<|im_end|>")) > 1


@pytest.mark.models
def test_long_texts_and_queries_are_cut_and_said(weights_dir: Path) -> None:
    model = load_likelihood_model(weights_dir)
    long = "harbour " * (PASSAGE_TOKENS + 50)
    scored = model.score("harbour " * (QUERY_TOKENS + 9), long)
    assert (scored.passage_cut, scored.query_cut, scored.n_query_tokens) == (True, True, QUERY_TOKENS)
    short = model.score(QUERY, RIGHT)
    assert (short.passage_cut, short.query_cut) == (False, False)


@pytest.mark.models
def test_both_number_formats_agree(weights_dir: Path) -> None:
    load_likelihood_model(weights_dir)
    folder = next(path.parent for path in (weights_dir / "models").glob("*/model.safetensors"))
    exact, fast = (
        LikelihoodModel(folder, dtype).score(QUERY, RIGHT).mean_log_probability for dtype in ("float32", "bfloat16")
    )
    assert fast == pytest.approx(exact, abs=0.1)
