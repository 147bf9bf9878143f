"""Settings: names, aliases, errors without secrets, and a table in the docs that is true."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.errors import InputError
from backend.settings import Settings, load_settings

TABLE = Path(__file__).parents[2] / "docs" / "configuration.md"


def rows() -> list[str]:
    lines = []
    for name, field in Settings.model_fields.items():
        default = field.default
        shown = default.get_secret_value() if hasattr(default, "get_secret_value") else default
        variable = f"`RAGDUEL_{name.upper()}`"
        if name in {"llm_base_url", "llm_api_key"}:
            variable += f" or `OPENAI_{name.removeprefix('llm_').upper()}`"
        lines.append(f"| {variable} | {f'`{shown}`' if str(shown) else ''} | {field.description} |")
    return lines


def test_the_table_in_the_docs_lists_every_setting_with_its_default() -> None:
    text = TABLE.read_text(encoding="utf-8")
    missing = [row for row in rows() if row not in text]
    assert not missing, "docs/configuration.md lacks:\n" + "\n".join(missing)


def test_openai_names_are_read_where_ours_are_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    monkeypatch.setenv("OPENAI_API_KEY", " sk-test\n")
    settings = load_settings(_env_file=None)
    assert settings.llm_base_url == "http://localhost:1/v1"
    assert settings.llm_api_key.get_secret_value() == "sk-test"
    monkeypatch.setenv("RAGDUEL_LLM_BASE_URL", "http://localhost:2/v1")
    assert load_settings(_env_file=None).llm_base_url == "http://localhost:2/v1"


def test_a_bad_value_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGDUEL_LLM_TIMEOUT_S", "soon")
    with pytest.raises(InputError, match="llm_timeout_s"):
        load_settings(_env_file=None)


def test_a_key_never_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    assert "sk-very-secret" not in repr(load_settings(_env_file=None))


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGDUEL_LLM_TIMEOUT_S", "")
    assert load_settings(_env_file=None).llm_timeout_s == 60
