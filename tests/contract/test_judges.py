"""What every judge keeps: exchanging texts exchanges the outcome, the same text is a free tie, failures are data."""

from collections.abc import Callable
from pathlib import Path

import pytest

from backend.errors import ProviderError, ProviderFault, UnavailableError
from backend.judging import Judge, LikelihoodJudge, LlmJudge, Outcome, verdict_from_json, verdict_to_json
from backend.judging.likelihood import forget_scores
from backend.judging.likelihood_model import QueryLikelihood
from backend.settings import Settings
from tests.fakes.chat import FakeChat
from tests.likelihood_weights import real_likelihood_judge, weights_dir
from tests.unit.judging.made import mirrored, preferring

__all__ = ["real_likelihood_judge", "weights_dir"]

QUERY = "When does the harbour open?"
RIGHT = "The harbour opens at six in the morning."
WRONG = "Ferries are painted white every spring."


class WordModel:
    """Stands for the language model: the more of the query's words a passage holds, the likelier the query."""

    dtype = "float32"

    def __init__(self) -> None:
        self.calls = 0

    def score(self, query: str, passage: str) -> QueryLikelihood:
        self.calls += 1
        words = query.lower().strip("?").split()
        shared = sum(word in passage.lower() for word in words)
        return QueryLikelihood(-5 + 3 * shared / len(words), len(words))


@pytest.fixture
def word_model(monkeypatch: pytest.MonkeyPatch) -> WordModel:
    model = WordModel()
    monkeypatch.setattr("backend.judging.likelihood.load_likelihood_model", lambda *_: model)
    monkeypatch.setattr("backend.judging.likelihood.weights_sha256", lambda: "0" * 64)
    forget_scores()
    return model


@pytest.fixture(
    params=["llm", "llm, one order", "likelihood", pytest.param("likelihood, real model", marks=pytest.mark.models)]
)
def judge(request: pytest.FixtureRequest, settings: Settings) -> Judge:
    if request.param.startswith("llm"):
        return LlmJudge(FakeChat(preferring(RIGHT, WRONG)), seed=7, both_orders=request.param == "llm")
    if request.param == "likelihood":
        request.getfixturevalue("word_model")
        return LikelihoodJudge(settings, dtype="float32")
    return request.getfixturevalue("real_likelihood_judge")


def test_exchanging_the_texts_exchanges_the_outcome(judge: Judge) -> None:
    one, other = judge.judge(QUERY, RIGHT, WRONG), judge.judge(QUERY, WRONG, RIGHT)
    assert one.outcome is Outcome.A
    assert other.outcome is mirrored(one.outcome)
    assert other.margin == (None if one.margin is None else -one.margin)


def test_the_same_text_is_a_tie_marked_identical(judge: Judge) -> None:
    verdict = judge.judge(QUERY, RIGHT, RIGHT + "\n")
    assert (verdict.outcome, verdict.identical, verdict.orders) == (Outcome.TIE, True, ())


@pytest.mark.parametrize(("query", "a", "b"), [(QUERY, "", WRONG), (QUERY, RIGHT, " "), ("", RIGHT, WRONG)])
def test_a_missing_text_is_unscored(judge: Judge, query: str, a: str, b: str) -> None:
    verdict = judge.judge(query, a, b)
    assert verdict.outcome is Outcome.UNSCORED
    assert verdict.reason


def test_asking_again_gives_the_same_verdict(judge: Judge) -> None:
    one, other = (judge.judge(QUERY, RIGHT, WRONG) for _ in range(2))
    assert (one.outcome, one.margin, one.judge) == (other.outcome, other.margin, other.judge)


def test_a_verdict_names_its_judge_and_survives_json(judge: Judge) -> None:
    verdict = judge.judge(QUERY, RIGHT, WRONG)
    assert verdict.judge == judge.identity
    assert judge.identity.prompt_version
    assert verdict_from_json(verdict_to_json(verdict)) == verdict


def unreachable(_: Settings, __: pytest.MonkeyPatch) -> Judge:
    return LlmJudge(FakeChat(ProviderError("Nobody there.", fault=ProviderFault.UNREACHABLE)), seed=7)


def not_installed(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Judge:
    def missing() -> Path:
        raise UnavailableError("The model is not installed.", hint="Run: make install.")

    monkeypatch.setattr("backend.judging.likelihood_model.find_smollm2", missing)
    return LikelihoodJudge(settings, dtype="float32")


@pytest.mark.parametrize("failing", [unreachable, not_installed])
def test_a_failure_is_unscored_and_never_raised(
    failing: Callable[[Settings, pytest.MonkeyPatch], Judge], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict = failing(settings, monkeypatch).judge(QUERY, RIGHT, WRONG)
    assert (verdict.outcome, verdict.identical, verdict.order_dependent) == (Outcome.UNSCORED, False, False)
    assert "Not scored" in verdict.reason
