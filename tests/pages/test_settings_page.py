"""The settings page: models, chat endpoint, keys that stay in the session, storage, the doctor."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from pydantic import SecretStr

from backend.embedding import Availability, AvailabilityState, ModelSpec
from backend.errors import ProviderError, ProviderFault
from backend.settings import Settings
from backend.ui import state
from backend.workspace import ChatSettings, Check, SessionKeys, Workspace
from tests.pages.conftest import Open, click, linked, shown

KEY = "sk-very-secret"


def test_models_show_their_state_and_the_way_to_get_them(notes: Workspace, open_page: Open) -> None:
    at = open_page("settings")
    assert not at.exception
    table = at.dataframe[0].value.set_index("Model")
    assert table.loc["fake-a", "State"] == "in memory"
    assert table.loc["fake-b", "State"] == "ready"
    assert table.loc["wordllama", "State"] == "unavailable"
    assert table.loc["wordllama", "How to get it"] == "Run make install."
    assert len(table) == len(notes.registry.list())


def test_the_endpoint_is_saved_and_the_key_stays_in_the_session(workspace: Workspace, open_page: Open) -> None:
    at = open_page("settings")
    at.text_input(key="settings_chat_url").set_value("http://localhost:8/v1")
    click(at, "settings_chat_save")
    at.text_input(key="settings_chat_key_typed").set_value(f" {KEY} \n")
    click(at, "settings_chat_key_use")
    assert at.session_state[state.CHAT_KEY] == KEY
    assert at.session_state[state.CHAT_KEY_URL] == "http://localhost:8/v1"
    at.text_input(key="settings_chat_url").set_value("http://localhost:9/v1")
    at.text_input(key="settings_chat_model").set_value("tiny")
    at.number_input(key="settings_price_in").set_value(0.5)
    click(at, "settings_chat_save")
    assert workspace.chat_settings() == ChatSettings("http://localhost:9/v1", "tiny", 0.5, 0.0)
    # Another endpoint must not get the key that was typed for the one before.
    assert state.CHAT_KEY not in at.session_state
    at.text_input(key="settings_chat_key_typed").set_value(KEY)
    click(at, "settings_chat_key_use")
    assert KEY not in shown(at)
    assert KEY not in json.dumps([str(widget.value) for widget in at.text_input])
    assert KEY not in str(dict(at.query_params))
    assert KEY.encode() not in b"".join(f.read_bytes() for f in workspace.settings.data_dir.glob("*sqlite3*"))
    click(at, "settings_chat_key_forget")
    assert state.CHAT_KEY not in at.session_state


def test_the_check_lists_models_or_says_what_failed(
    workspace: Workspace, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.save_chat_settings(ChatSettings("http://localhost:9/v1", "tiny"))
    asked: list[SessionKeys] = []
    monkeypatch.setattr(workspace, "check_chat", lambda keys: asked.append(keys) or ["big", "small"])
    at = click(open_page("settings"), "settings_chat_check")
    assert "2 models" in at.success[0].value
    assert "does not list tiny" in at.warning[0].value

    def fail(_: SessionKeys) -> list[str]:
        raise ProviderError("It answered 401.", fault=ProviderFault.AUTHENTICATION, hint="Check the key.")

    monkeypatch.setattr(workspace, "check_chat", fail)
    click(at, "settings_chat_check")
    assert "401" in at.error[0].value
    assert "Check the key" in at.error[0].value


def test_a_wrong_base_url_is_told(workspace: Workspace, open_page: Open) -> None:
    at = open_page("settings")
    at.text_input(key="settings_chat_url").set_value("not a url")
    click(at, "settings_chat_save")
    assert at.error
    assert workspace.chat_settings().base_url == ""


def test_the_local_server_is_called_unfit_and_switched(
    workspace: Workspace, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    monkeypatch.setattr(workspace.local_chat, "start", lambda: calls.append("start"))
    monkeypatch.setattr(workspace.local_chat, "stop", lambda: calls.append("stop"))
    at = open_page("settings")
    assert "is not fit to judge" in shown(at)
    at.toggle(key="settings_use_local").set_value(True).run()
    assert calls == ["start"]
    assert workspace.chat_settings().use_local
    at.toggle(key="settings_use_local").set_value(False).run()
    assert calls == ["start", "stop"]
    assert not workspace.chat_settings().use_local


def test_a_model_is_tried_before_it_is_added_and_can_be_removed(
    workspace: Workspace, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[ModelSpec] = []

    def probe(draft: ModelSpec, _: SecretStr) -> ModelSpec:
        tried.append(draft)
        return replace(draft, dimension=8)

    monkeypatch.setattr(workspace, "probe_model", probe)
    at = open_page("settings")
    at.segmented_control[0].set_value("Endpoint").run()
    at.text_input(key="settings_add_key").set_value("mine")
    at.text_input(key="settings_add_url").set_value("http://localhost:9/v1")
    at.text_input(key="settings_add_name").set_value("nomic")
    at.text_input(key="settings_add_query_prompt").set_value("query: ")
    click(at, "settings_add")
    assert not at.error
    assert (tried[0].source, tried[0].query_prompt, tried[0].pooling) == ("endpoint", "query: ", "endpoint")
    assert workspace.registry.get("mine").dimension == 8
    click(at, "settings_remove")
    assert "mine" not in [spec.key for spec in workspace.registry.list()]


def test_a_probe_that_fails_adds_nothing(
    workspace: Workspace, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> ModelSpec:
        raise ProviderError("Nobody answers at http://localhost:9.", fault=ProviderFault.UNREACHABLE)

    monkeypatch.setattr(workspace, "probe_model", fail)
    before = workspace.registry.list()
    at = open_page("settings")
    at.text_input(key="settings_add_key").set_value("mine")
    at.text_input(key="settings_add_name").set_value("some/model")
    click(at, "settings_add")
    assert "Nobody answers" in at.error[0].value
    assert workspace.registry.list() == before


def test_a_download_runs_as_a_job(workspace: Workspace, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def hub_is_there(spec: ModelSpec, _: Settings) -> Availability:
        on_hub = spec.key == "bge-small-en"
        return Availability(AvailabilityState.DOWNLOADABLE if on_hub else AvailabilityState.UNAVAILABLE, "Download it.")

    fetched: list[str] = []
    monkeypatch.setattr("backend.ui.model_facts.availability", hub_is_there)
    monkeypatch.setattr(workspace, "download", fetched.append)
    at = click(open_page("settings"), "settings_download")
    workspace.jobs.wait(linked(at, "job"), 20)
    assert "The model is here" in at.run().success[0].value
    assert fetched == ["bge-small-en"]


def test_storage_and_doctor(workspace: Workspace, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = [Check("Data folder", "ok", "fine"), Check("Judge", "failed", "weights are missing", "Run make install.")]
    monkeypatch.setattr(workspace, "doctor", lambda keys: checks)
    at = open_page("settings")
    assert "in the data folder" in shown(at)
    click(at, "settings_doctor")
    table = at.dataframe[-1].value
    assert list(table["State"]) == ["✓ ok", "✗ failed"]
    assert "1 of 2 checks failed" in at.warning[-1].value
