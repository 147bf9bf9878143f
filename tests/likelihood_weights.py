"""The real likelihood judge for tests; its converted weights are kept between runs in pytest's own cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.judging import LikelihoodJudge
from backend.judging.likelihood import forget_scores
from backend.settings import Settings


@pytest.fixture
def weights_dir(request: pytest.FixtureRequest) -> Path:
    cache = request.config.cache
    assert cache is not None
    return cache.mkdir("ragduel")


@pytest.fixture
def real_likelihood_judge(weights_dir: Path) -> LikelihoodJudge:
    forget_scores()
    return LikelihoodJudge(Settings(_env_file=None, data_dir=weights_dir))
