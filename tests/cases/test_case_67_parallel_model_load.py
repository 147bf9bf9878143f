"""Case 67: two models of different precision loaded at the same moment (hindsight#2162, transformers#41782)."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from backend.embedding import EncoderPool, LocalEncoder, ModelRegistry, ModelSpec, Source, probe_local
from backend.settings import Settings
from backend.store import Database
from tests.conftest import shared_path

NAMES = ("tiny-fp32-len512", "tiny-bf16", "tiny-fp32-len64")
QUERIES = [
    "At which pressure does the relief valve open?",
    "When does the late shift begin?",
    "Where are the spare keys?",
]


def tiny(name: str) -> ModelSpec:
    folder = shared_path("cases", "fixtures", "tiny-models", name)
    return ModelSpec(key=name, source=Source.FOLDER, name=str(folder), pooling="mean")


@pytest.fixture
def documents() -> list[str]:
    folder = shared_path("cases", "fixtures", "corpus-small")
    return [path.read_text(encoding="utf-8") for path in sorted(Path(folder).iterdir())]


def scores(encoder: LocalEncoder, documents: list[str]) -> np.ndarray:
    queries, found = encoder.encode_queries(QUERIES), encoder.encode_documents(documents)
    assert queries.failures == found.failures == {}
    assert found.vectors.dtype == np.float32
    return queries.vectors @ found.vectors.T


@pytest.mark.parametrize("pair", [("tiny-fp32-len512", "tiny-bf16"), ("tiny-fp32-len64", "tiny-bf16")])
def test_twenty_of_twenty_parallel_loads(pair: tuple[str, str], settings: Settings, documents: list[str]) -> None:
    alone = {name: scores(LocalEncoder(tiny(name), settings), documents) for name in NAMES}
    for _ in range(10):
        results: dict[str, np.ndarray] = {}
        errors: list[BaseException] = []
        start = threading.Barrier(2)

        def work(
            name: str,
            start: threading.Barrier = start,
            results: dict[str, np.ndarray] = results,
            errors: list[BaseException] = errors,
        ) -> None:
            try:
                start.wait()
                results[name] = scores(LocalEncoder(tiny(name), settings), documents)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(name,)) for name in pair]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        for name in pair:
            np.testing.assert_allclose(results[name], alone[name], atol=1e-5)
    # the first race has left nothing behind
    after = scores(LocalEncoder(tiny("tiny-fp32-len512"), settings), documents)
    np.testing.assert_allclose(after, alone["tiny-fp32-len512"], atol=1e-6)


def test_half_precision_differs_by_less_than_a_hundredth(settings: Settings, documents: list[str]) -> None:
    full = scores(LocalEncoder(tiny("tiny-fp32-len512"), settings), documents)
    half = scores(LocalEncoder(tiny("tiny-bf16"), settings), documents)
    np.testing.assert_allclose(half, full, atol=0.01)


def test_two_sessions_of_one_app_share_the_pool(settings: Settings, database: Database, documents: list[str]) -> None:
    registry = ModelRegistry(database)
    for name in NAMES:
        registry.add(probe_local(tiny(name), settings))
    pool = EncoderPool(registry, settings.model_copy(update={"max_loaded_models": 1}))  # every change is a load
    expected = {name: scores(LocalEncoder(registry.get(name), settings), documents) for name in NAMES}
    errors: list[BaseException] = []

    def session(names: tuple[str, ...]) -> None:
        try:
            for name in names * 3:
                with pool.use(name) as encoder:
                    assert isinstance(encoder, LocalEncoder)
                    np.testing.assert_allclose(scores(encoder, documents), expected[name], atol=1e-5)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=session, args=(NAMES[i:] + NAMES[:i],)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(pool.loaded()) == 1
    pool.release_all()
