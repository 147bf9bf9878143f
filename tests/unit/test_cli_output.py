"""What the command line prints."""

from __future__ import annotations

import json

import pytest

from backend.cli.output import print_json, printable


def test_json_is_one_document_with_any_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": "ünïcode 😀 \ud800"})
    assert json.loads(capsys.readouterr().out) == {"text": "ünïcode 😀 \ud800"}


def test_nan_never_leaves() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_json({"x": float("nan")})


def test_a_document_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in printable("a\x1b[31mred\x07\n\tb")
    assert printable("plain ü\n") == "plain ü\n"
