"""One upload limit: the setting, Streamlit's own, and what the page says of it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from backend.settings import Settings
from backend.ui.server import with_upload_limit
from backend.ui.upload_box import limits_in_words

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"


def test_streamlits_file_agrees_with_the_setting() -> None:
    config = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    assert config["server"]["maxUploadSize"] == Settings.model_fields["max_upload_mb"].default


def test_the_server_takes_the_setting_however_it_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGDUEL_MAX_UPLOAD_MB", "7")
    assert with_upload_limit(["--server.port=1"]) == ["--server.port=1", "--server.maxUploadSize=7"]
    assert with_upload_limit(["--server.maxUploadSize=9"]) == ["--server.maxUploadSize=9"]


def test_the_limits_are_told_in_words(settings: Settings) -> None:
    words = limits_in_words(settings.model_copy(update={"max_upload_mb": 60, "max_files": 1_500}))
    assert "60 MB a file" in words
    assert "1,500 files" in words
