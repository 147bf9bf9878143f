"""Loaded once, lent to many, given up when long unused, never while in use."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from backend.embedding import EncoderPool, ModelRegistry, ModelSpec, Source, probe_local
from backend.embedding import pool as pool_module
from backend.embedding.shelf import Shelf
from backend.errors import NotFoundError, UnavailableError
from backend.settings import Settings
from backend.store import Database
from tests.fakes.tiny_models import TEXTS


class Thing:
    def __init__(self, name: str) -> None:
        self.name = name
        self.closed = False

    def close(self) -> None:
        assert not self.closed
        self.closed = True


def test_the_least_recently_used_thing_goes_first() -> None:
    shelf: Shelf[Thing] = Shelf(2)
    made: dict[str, Thing] = {}
    for name in ("a", "b", "a", "c"):
        with shelf.borrow(name, name, lambda name=name: made.setdefault(name, Thing(name))) as thing:
            assert thing is made[name]
    assert shelf.labels() == ("a", "c")
    assert [name for name, thing in made.items() if thing.closed] == ["b"]


def test_nothing_in_use_is_closed_even_over_the_limit() -> None:
    shelf: Shelf[Thing] = Shelf(1)
    with ExitStack() as stack:
        things = [stack.enter_context(shelf.borrow(name, name, lambda name=name: Thing(name))) for name in "abc"]
        assert not any(thing.closed for thing in things)
        assert shelf.labels() == ("a", "b", "c")
        shelf.clear()
        assert not any(thing.closed for thing in things)
    assert all(thing.closed for thing in things)
    assert shelf.labels() == ()


def test_after_use_the_surplus_goes() -> None:
    shelf: Shelf[Thing] = Shelf(1)
    with shelf.borrow("a", "a", lambda: Thing("a")) as a:
        with shelf.borrow("b", "b", lambda: Thing("b")) as b:
            pass
        assert (a.closed, b.closed) == (False, True)
    assert shelf.labels() == ("a",)


def test_what_is_given_up_goes_when_its_last_user_is_done() -> None:
    shelf: Shelf[Thing] = Shelf(3)
    with shelf.borrow("a", "a", lambda: Thing("a")) as old:
        shelf.give_up("a")
        shelf.give_up("nothing")
        with shelf.borrow("a", "a", lambda: Thing("a")) as new:
            assert new is not old
        assert not old.closed
    assert old.closed
    assert shelf.labels() == ("a",)
    shelf.give_up("a")
    assert new.closed
    assert shelf.labels() == ()


def test_a_failed_making_is_told_and_tried_again() -> None:
    shelf: Shelf[Thing] = Shelf(1)

    def fail() -> Thing:
        raise UnavailableError("not today")

    with pytest.raises(UnavailableError), shelf.borrow("a", "a", fail):
        pass
    assert shelf.labels() == ()
    with shelf.borrow("a", "a", lambda: Thing("a")) as thing:
        assert thing.name == "a"


def test_many_threads_share_one_making() -> None:
    shelf: Shelf[Thing] = Shelf(2)
    made: list[Thing] = []
    start = threading.Barrier(8)

    def make(name: str) -> Thing:
        made.append(Thing(name))
        return made[-1]

    def work(name: str) -> None:
        start.wait()
        for _ in range(50):
            with shelf.borrow(name, name, lambda: make(name)) as thing:
                assert not thing.closed

    threads = [threading.Thread(target=work, args=("ab"[i % 2],)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(thing.name for thing in made) == ["a", "b"]


@pytest.fixture
def pool(database: Database, settings: Settings, folders: dict[str, Path]) -> Iterator[EncoderPool]:
    registry = ModelRegistry(database)
    for name in ("bert-mean", "bert-cls", "static"):
        registry.add(probe_local(ModelSpec(key=name, source=Source.FOLDER, name=str(folders[name])), settings))
    static = registry.get("static")
    registry.remove("static")
    registry.add(ModelSpec.from_json({**static.as_json(), "dimensions": [8, 16]}))
    pool = EncoderPool(registry, settings)
    yield pool
    pool.release_all()


def test_a_model_and_its_cuts_are_one_model_in_memory(pool: EncoderPool, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []
    load = pool_module.load_model
    monkeypatch.setattr(
        pool_module, "load_model", lambda spec, **options: loads.append(spec.key) or load(spec, **options)
    )
    with pool.use("static") as whole, pool.use("static@8") as cut:
        full = whole.encode_documents(TEXTS).vectors
        short = cut.encode_documents(TEXTS).vectors
        assert whole.fingerprint != cut.fingerprint
    np.testing.assert_allclose(short, full[:, :8] / np.linalg.norm(full[:, :8], axis=1, keepdims=True), atol=1e-6)
    with pool.use("static"):
        pass
    assert loads == ["static"]
    assert pool.loaded() == ("static",)


def test_the_pool_keeps_as_many_models_as_it_may(pool: EncoderPool) -> None:
    for key in ("static", "bert-mean", "bert-cls"):
        with pool.use(key) as encoder:
            assert encoder.encode_queries(["the valve"]).failures == {}
    assert pool.loaded() == ("bert-mean", "bert-cls")
    pool.release_all()
    assert pool.loaded() == ()


def test_an_unknown_model_and_a_model_that_is_gone(pool: EncoderPool, folders: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(NotFoundError), pool.use("nothing"):
        pass
    pool._registry.add(ModelSpec(key="gone", source=Source.FOLDER, name=str(tmp_path / "gone")))
    with pytest.raises(UnavailableError), pool.use("gone"):
        pass
    assert pool.loaded() == ()


@pytest.fixture
def own(pool: EncoderPool, folders: dict[str, Path], settings: Settings, tmp_path: Path) -> Path:
    """A folder that a test may change, added as the model "own"."""
    folder = tmp_path / "own"
    shutil.copytree(folders["static"], folder)
    pool._registry.add(probe_local(ModelSpec(key="own", source=Source.FOLDER, name=str(folder)), settings))
    return folder


def _replace_weights(folder: Path, other: Path) -> None:
    shutil.copy(other / "model.safetensors", folder / "model.safetensors.part")
    (folder / "model.safetensors.part").replace(folder / "model.safetensors")


def test_a_folder_whose_files_changed_is_loaded_anew_and_the_old_model_goes(
    pool: EncoderPool, own: Path, folders: dict[str, Path]
) -> None:
    with pool.use("own") as before:
        old = before.encode_documents(TEXTS).vectors
        _replace_weights(own, folders["static-mapped"])
        with pool.use("own") as after:
            new = after.encode_documents(TEXTS).vectors
            assert after.fingerprint != before.fingerprint
            np.testing.assert_array_equal(before.encode_documents(TEXTS).vectors, old)  # in use, so still there
        with pool.use("own") as again:
            assert again.fingerprint == after.fingerprint
    assert np.abs(new - old).max() > 0.01
    assert pool.loaded() == ("own",)
    with pytest.raises(UnavailableError, match="taken out of memory"):
        before.encode_documents(TEXTS)


def test_files_that_change_while_they_are_loaded_give_no_vectors(
    pool: EncoderPool, own: Path, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    load = pool_module.load_model

    def changing(spec: ModelSpec, **options):
        loaded = load(spec, **options)
        _replace_weights(own, folders["static-mapped"])
        return loaded

    with monkeypatch.context() as patched:
        patched.setattr(pool_module, "load_model", changing)
        with pytest.raises(UnavailableError, match="changed while it was loaded"), pool.use("own"):
            pass
    assert pool.loaded() == ()
    with pool.use("own") as encoder:
        assert encoder.encode_queries(["the valve"]).failures == {}
