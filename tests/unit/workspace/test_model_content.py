"""A duel's id names what a model's files hold, and what an endpoint was paid for is never paid again."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.corpus import SourceFile
from backend.embedding import OFFLINE_DEFAULTS, ModelSpec, Source, probe_local
from backend.errors import UnavailableError
from backend.retrieval import HydeSettings
from backend.settings import Settings
from backend.workspace import ChatSettings, DuelRequest, Workspace
from tests.fakes.scripted_server import Reply, Request, ScriptedServer, chat, embeddings
from tests.fakes.tiny_models import TEXTS, make_static

ASKED = "the valve"


@pytest.fixture
def workspace(settings: Settings) -> Iterator[Workspace]:
    workspace = Workspace(settings)
    workspace.corpora.add("c", [SourceFile(f"{n}.txt", text.encode()) for n, text in enumerate(TEXTS) if text.strip()])
    yield workspace
    workspace.close()


@pytest.fixture
def folder(workspace: Workspace, tmp_path: Path) -> Path:
    folder = make_static(tmp_path / "own")
    for key in ("own", "twin"):
        spec = ModelSpec(key=key, source=Source.FOLDER, name=str(folder))
        workspace.registry.add(probe_local(spec, workspace.settings))
    return folder


def _put(source: Path, target: Path) -> None:
    shutil.copy(source, target.with_suffix(".part"))
    target.with_suffix(".part").replace(target)


def test_a_changed_folder_gets_another_duel_and_the_old_files_the_old_one(
    workspace: Workspace, folder: Path, tmp_path: Path
) -> None:
    weights, old_weights = folder / "model.safetensors", tmp_path / "old"
    shutil.copy(weights, old_weights)
    request = DuelRequest("c", ASKED, "own", "twin")
    first = workspace.duel(request)
    assert workspace.duel(request) == first
    _put(make_static(tmp_path / "other", mapped=True) / "model.safetensors", weights)
    second = workspace.duel(request)
    assert second.duel_id != first.duel_id
    assert second.a.model_fingerprint != first.a.model_fingerprint
    assert [hit.score for hit in second.a.hits] != [hit.score for hit in first.a.hits]
    assert workspace.duel(request) == second
    assert workspace.encoders.loaded() == ("own",)
    _put(old_weights, weights)
    assert workspace.duel(request) == first


def test_files_that_change_during_a_duel_make_none(
    workspace: Workspace, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_static(tmp_path / "other", mapped=True) / "model.safetensors"
    ranked_list = workspace._ranked_list

    def changing(*args):
        found = ranked_list(*args)
        _put(other, folder / "model.safetensors")
        return found

    request = DuelRequest("c", ASKED, "own", "twin")
    with monkeypatch.context() as patched:
        patched.setattr(workspace, "_ranked_list", changing)
        with pytest.raises(UnavailableError, match="changed during the duel"):
            workspace.duel(request)
    assert workspace.duels.recent() == []
    duel = workspace.duel(request)
    assert duel.a.model_fingerprint == workspace.duels.get(duel.duel_id).a.model_fingerprint


def test_a_stored_duel_of_unchanged_files_loads_no_model(workspace: Workspace, folder: Path) -> None:
    request = DuelRequest("c", ASKED, "own", "twin")
    first = workspace.duel(request)
    workspace.encoders.release_all()
    assert workspace.duel(request) == first
    assert workspace.encoders.loaded() == ()


def _vectors_by(request: Request) -> Reply:
    model = request.body["model"]
    return embeddings(lambda text: [byte - 127.5 for byte in hashlib.sha256((model + text).encode()).digest()[:8]])(
        request
    )


@pytest.mark.parametrize("hyde", [None, HydeSettings(n_passages=2)])
def test_a_query_is_paid_once_under_another_cutoff_or_partner(
    workspace: Workspace, folder: Path, hyde: HydeSettings | None
) -> None:
    def answer(request: Request) -> Reply:
        if request.path.endswith("/embeddings"):
            return _vectors_by(request)
        return chat("A passage about a valve.")

    with ScriptedServer(answer) as server:
        for key in ("ea", "eb"):
            spec = ModelSpec(key, Source.ENDPOINT, key, base_url=server.base_url, pooling="endpoint", dimension=8)
            workspace.registry.add(spec)
        workspace.save_chat_settings(ChatSettings(server.base_url, "writer"))
        first = workspace.duel(DuelRequest("c", ASKED, "ea", "eb", 3, hyde))
        n_requests = len(server.log)
        found = [
            workspace.duel(DuelRequest("c", ASKED, *models, k, hyde)).a.hits[:2]
            for models, k in ((("ea", "eb"), 2), (("ea", "own"), 3), (("ea", "ea"), 3))
        ]
        assert found == [first.a.hits[:2]] * 3
        assert len(server.log) == n_requests
        sent = [text for request in server.log for text in request.body.get("input", ())]
        assert len(sent) == 2 * len(set(sent))  # once each model
        workspace.duel(DuelRequest("c", "another question", "ea", "eb", 3, hyde))
        assert len(server.log) > n_requests


def test_the_offline_models_ids_are_as_before(workspace: Workspace) -> None:
    from backend.workspace.workspace import _model_name

    for key in OFFLINE_DEFAULTS:
        spec = workspace.registry.get(key)
        assert _model_name(spec) == f"{key} {spec.fingerprint}"
