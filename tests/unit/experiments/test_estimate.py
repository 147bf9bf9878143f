"""The estimate of a plan: worked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backend.experiments.estimate import Missing, PriceTag, estimate
from backend.experiments.types import Arm, ExperimentPlan, JudgeSettings, RetrieverKind, Unit
from backend.judging.types import JudgeKind

ARMS = tuple(Arm(name, RetrieverKind.DENSE, (name,)) for name in "abcd")
LLM = JudgeSettings(JudgeKind.LLM, max_tokens=1000)
PLAN = ExperimentPlan("p", "c", "q", ARMS, judges=(LLM,), k=4, concurrency=10)


def test_calls_and_cost_of_all_pairs_in_both_orders() -> None:
    # 6 pairs x 50 queries x 2 orders = 600 calls, and 20 planted pairs x 2 = 40.
    told = estimate(
        PLAN, n_queries=50, chunk_chars=800, missing=Missing(1, 2, 3), prices=(PriceTag("m", 1.0, 10.0),), n_planted=20
    )
    assert (told.n_pairs, told.n_duels, told.n_judge_calls, told.n_probe_calls) == (6, 300, 640, 40)
    # 1,000 of its own and 2 x 800/4 prompt tokens; 400 of reply.
    assert told.cost_usd == pytest.approx(640 * (1400 * 1 + 400 * 10) / 1e6)
    assert told.most_cost_usd == pytest.approx(640 * (1400 * 1 + 1000 * 10) / 1e6)
    assert told.judge_minutes == pytest.approx(640 * 2 / 10 / 60)
    assert told.missing == Missing(1, 2, 3)


def test_one_order_repeats_and_all_against_one() -> None:
    plan = replace(PLAN, against="a", probe=False, judges=(replace(LLM, both_orders=False, repeats=3),))
    told = estimate(plan, n_queries=10, chunk_chars=100, missing=Missing(), n_planted=20)
    assert (told.n_pairs, told.n_judge_calls, told.cost_usd) == (3, 3 * 10 * 3, None)


def test_lists_are_k_times_as_long_and_a_limit_a_minute_takes_its_time() -> None:
    plan = replace(PLAN, unit=Unit.TOP_LIST, requests_per_minute=30, probe=False)
    told = estimate(plan, n_queries=10, chunk_chars=400, missing=Missing(), prices=(PriceTag("m", 1.0, 0.0),))
    assert told.cost_usd == pytest.approx(120 * (1000 + 2 * 4 * 100) / 1e6)
    assert told.judge_minutes == pytest.approx(4)


def test_the_likelihood_judge_costs_nothing_but_time() -> None:
    told = estimate(replace(PLAN, judges=(JudgeSettings(),)), n_queries=10, chunk_chars=400, missing=Missing())
    assert (told.n_judge_calls, told.cost_usd, told.n_likelihoods) == (0, 0.0, 120)


def test_what_so_many_queries_can_show() -> None:
    # With 5 decisive queries the exact sign test can't reach 5 %: 2 x 0.5^5 = 0.0625.
    assert estimate(PLAN, n_queries=5, chunk_chars=1, missing=Missing()).smallest_share is None
    few, many = (estimate(PLAN, n_queries=n, chunk_chars=1, missing=Missing()) for n in (20, 200))
    assert few.smallest_share is not None
    assert many.smallest_share is not None
    assert few.smallest_share > many.smallest_share > 0.5
    assert many.smallest_share_usual is not None
    assert many.smallest_share_usual > many.smallest_share
