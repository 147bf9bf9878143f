"""Tiny models of every architecture, built once a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import tiny_models as tiny


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("tiny")
    return {
        "bert-mean": tiny.make_bert(root / "bert-mean"),
        "bert-cls": tiny.make_bert(root / "bert-cls", pooling="cls"),
        "nomic": tiny.make_nomic(root / "nomic"),
        "nomic-hub": tiny.make_nomic(root / "nomic-hub", hub_names=True),
        "qwen-left": tiny.make_qwen(root / "qwen-left", padding_side="left"),
        "qwen-right": tiny.make_qwen(root / "qwen-right", padding_side="right"),
        "static": tiny.make_static(root / "static"),
        "static-half": tiny.make_static(root / "static-half", half=True),
        "static-mapped": tiny.make_static(root / "static-mapped", mapped=True),
    }
