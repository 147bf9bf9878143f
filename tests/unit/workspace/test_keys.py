"""A key goes to the address it was given for, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from backend.settings import Settings, load_settings
from backend.workspace import ChatSettings, SessionKeys, Workspace
from backend.workspace.work import _keys, secrets_of

OURS, THEIRS = "https://ours.example/v1", "https://theirs.example/v1"


@pytest.fixture
def open_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    opened: list[Workspace] = []

    def make(**environment: str) -> Workspace:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        settings: Settings = load_settings(_env_file=None, data_dir=tmp_path / "data")
        opened.append(Workspace(settings))
        return opened[-1]

    yield make
    for workspace in opened:
        workspace.close()


def chat_key(workspace: Workspace, url: str, keys: SessionKeys) -> str:
    return workspace.endpoints.key_for(url, keys).get_secret_value()


def embedding_key(workspace: Workspace, url: str, keys: SessionKeys) -> str:
    return workspace.endpoints.embedding_key_for(url, keys).get_secret_value()


def test_the_environments_keys_stay_at_the_environments_addresses(open_workspace) -> None:
    workspace = open_workspace(
        OPENAI_BASE_URL=OURS, OPENAI_API_KEY="chat", RAGDUEL_EMBEDDING_BASE_URL="https://vectors.example",
        RAGDUEL_EMBEDDING_API_KEY="vectors",
    )  # fmt: skip
    nobody = SessionKeys()
    workspace.save_chat_settings(ChatSettings(THEIRS, "m"))
    assert chat_key(workspace, OURS, nobody) == "chat"
    assert chat_key(workspace, THEIRS, nobody) == ""
    assert embedding_key(workspace, "https://vectors.example/v1", nobody) == "vectors"
    assert embedding_key(workspace, OURS, nobody) == "chat"  # one address, one key
    assert embedding_key(workspace, THEIRS, nobody) == ""
    assert embedding_key(workspace, "", nobody) == ""


def test_typed_keys_stay_at_the_addresses_they_were_typed_for(open_workspace) -> None:
    workspace = open_workspace()
    keys = SessionKeys(SecretStr("chat"), OURS, {OURS + "/": SecretStr("vectors")})
    assert chat_key(workspace, OURS, keys) == "chat"
    assert chat_key(workspace, THEIRS, keys) == ""
    assert embedding_key(workspace, OURS, keys) == "vectors"
    assert embedding_key(workspace, THEIRS, keys) == ""
    assert "vectors" not in repr(keys)


def test_a_job_gets_the_same_keys() -> None:
    keys = SessionKeys(SecretStr("chat"), OURS, {OURS: SecretStr("vectors")})
    assert _keys(secrets_of(keys)) == keys
    assert _keys({}) == SessionKeys()
