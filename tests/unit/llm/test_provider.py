"""Repeats, time limits and the words of failures."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from pydantic import SecretStr

import backend.llm.provider as provider_module
from backend.errors import InputError, ProviderError, ProviderFault
from backend.llm import Provider, check_endpoint
from backend.llm.faults import scrub
from tests.fakes.scripted_server import Behaviour, Reply, ScriptedServer, chat, error, models

OK = Reply(body={"fine": True})


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_module, "FIRST_WAIT_S", 0.01)


def ask(
    *behaviours: Behaviour, timeout_s: float = 5, max_retries: int = 2, key: str = "", model: str = "m"
) -> tuple[Any, ScriptedServer]:
    """One POST: what came back (or the error), and the server with its log."""
    with ScriptedServer(*behaviours) as server:
        provider = Provider(
            server.base_url, SecretStr(key), timeout_s=timeout_s, max_retries=max_retries, what="The endpoint"
        )
        try:
            return provider.post("/chat/completions", {"model": model}), server
        except ProviderError as failure:
            return failure, server
        finally:
            provider.close()


@pytest.mark.parametrize(
    "failure",
    [
        error(429, "Rate limit reached"),
        Reply(status=500, body="boom"),
        Reply(status=503, body={"error": "loading"}),
        Reply(drop="before"),
        Reply(body={"long": "x" * 1000}, drop="middle"),
    ],
    ids=["429", "500", "503", "dropped", "dropped in the middle"],
)
def test_passing_failures_are_repeated(failure: Reply) -> None:
    result, server = ask(failure, failure, OK)
    assert result == {"fine": True}
    assert len(server.log) == 3


def test_repeats_end_and_the_last_failure_is_told() -> None:
    result, server = ask(Reply(status=500, body={"error": {"message": "internal error"}}), max_retries=1)
    assert result.fault is ProviderFault.SERVER_ERROR
    assert result.status == 500
    assert '"internal error"' in str(result)
    assert len(server.log) == 2


@pytest.mark.parametrize(
    ("failure", "fault", "hint"),
    [
        (error(401, "Incorrect API key provided"), ProviderFault.AUTHENTICATION, "wants an API key"),
        (error(403, "Country not supported"), ProviderFault.AUTHENTICATION, "API key"),
        (error(402, "Insufficient Balance"), ProviderFault.QUOTA, "credit"),
        (
            error(429, "You exceeded your current quota, please check your plan", code="insufficient_quota"),
            ProviderFault.QUOTA,
            "credit",
        ),
        (Reply(404, "404 page not found"), ProviderFault.NOT_FOUND, "/v1"),
        (
            Reply(404, {"error": {"message": 'model "m" not found, try pulling it first'}}),
            ProviderFault.NOT_FOUND,
            "ollama pull m",
        ),
        (error(404, "The model `m` does not exist", code="model_not_found"), ProviderFault.NOT_FOUND, "name"),
        (
            error(400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded"),
            ProviderFault.CONTEXT_LENGTH,
            "smaller chunks",
        ),
        (
            Reply(400, {"error": {"code": 400, "message": "request exceeds", "type": "exceed_context_size_error"}}),
            ProviderFault.CONTEXT_LENGTH,
            "smaller chunks",
        ),
        (
            error(400, "The response was filtered due to the prompt", code="content_filter"),
            ProviderFault.CONTENT_FILTER,
            "filter",
        ),
        (error(400, "Bad thing"), ProviderFault.BAD_REQUEST, ""),
        (Reply(422, {"detail": [{"loc": ["body", "x"], "msg": "Extra inputs"}]}), ProviderFault.BAD_REQUEST, ""),
        (Reply(200, "<html><title>Welcome</title></html>"), ProviderFault.BAD_REPLY, "/v1"),
        (Reply(200, ""), ProviderFault.BAD_REPLY, "/v1"),
        (Reply(501, "no"), ProviderFault.BAD_REQUEST, ""),
    ],
)  # fmt: skip
def test_lasting_failures_are_told_at_once(failure: Reply, fault: ProviderFault, hint: str) -> None:
    result, server = ask(failure)
    assert result.fault is fault
    assert hint in result.hint
    assert len(server.log) == 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": "a plain string"}, '"a plain string"'),
        ({"error": {"message": "an object"}}, '"an object"'),
        ({"message": "at the top"}, '"at the top"'),
        ({"detail": "FastAPI says"}, '"FastAPI says"'),
        ({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs"}]}, '"body.seed: Extra inputs"'),
        ([{"error": {"message": "in a list"}}], '"in a list"'),
        ("<html><head><title>502 Bad  Gateway</title></head><body>nginx</body></html>", '"502 Bad Gateway"'),
        ("<p>No title</p>", '"No title"'),
        ("plain text", '"plain text"'),
        ("", "no explanation"),
        ({}, "no explanation"),
        (None, "no explanation"),
        (b"\xff\xfe broken", "broken"),
        ({"error": None, "code": 7}, '"code"'),
    ],
)
def test_the_servers_own_words_are_quoted(body: Any, words: str) -> None:
    result, _ = ask(Reply(status=400, body=body))
    assert words in str(result)
    assert "HTTP 400" in str(result)


def test_long_words_are_cut() -> None:
    result, _ = ask(Reply(status=400, body={"error": "x" * 5000}))
    assert len(str(result)) < 600


def test_retry_after_is_kept() -> None:
    started = time.monotonic()
    result, server = ask(error(429, "slow down", retry_after="0.3"), OK)
    assert result == {"fine": True}
    assert time.monotonic() - started >= 0.3
    assert server.log[1].at_s - server.log[0].at_s >= 0.3


def test_retry_after_forms() -> None:
    assert provider_module._retry_after_s({"retry-after": "7"}) == 7
    assert provider_module._retry_after_s({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30))
    assert provider_module._retry_after_s({"retry-after": date}) == pytest.approx(30, abs=3)
    assert provider_module._retry_after_s({"retry-after": "soon"}) is None
    assert provider_module._retry_after_s({"retry-after": "-5"}) is None
    assert provider_module._retry_after_s({}) is None


def test_long_retry_after_is_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_module, "LONGEST_RETRY_AFTER_S", 0.05)
    started = time.monotonic()
    result, _ = ask(error(429, "slow down", retry_after="3600"), OK)
    assert result == {"fine": True}
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    "hang",
    [
        Reply(body={"late": 1}, delay_s=30),
        Reply(body={"slow": "x" * 500}, drip_s=0.1),
        Reply(body={"slow": "x" * 500}, delay_s=0.3, drip_s=0.25),
        Reply(raw=b"HTTP/1.1 200 OK\r\n" + b"X-Slow: 1\r\n" * 100, drip_s=0.05),
    ],
    ids=["silent", "dripping", "late and dripping", "dripping headers"],
)
def test_a_hang_ends_at_the_limit_and_is_not_repeated(hang: Reply) -> None:
    started = time.monotonic()
    result, server = ask(hang, timeout_s=0.6)
    assert result.fault is ProviderFault.TIMEOUT
    assert "0.6 s" in str(result)
    assert time.monotonic() - started < 2
    assert len(server.log) == 1


def test_a_status_line_and_nothing_more() -> None:
    result, server = ask(Reply(raw=b"HTTP/1.1 200 OK\r\n"), max_retries=1)
    assert result.fault is ProviderFault.UNREACHABLE
    assert len(server.log) == 2


def test_threads_of_ended_hangs_end() -> None:
    ask(Reply(body={"slow": "x" * 500}, drip_s=0.05), timeout_s=0.3)
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline and any(t.name == "provider-call" for t in threading.enumerate()):
        time.sleep(0.05)
    assert not [t for t in threading.enumerate() if t.name == "provider-call"]


def test_nothing_listening_is_told_at_once() -> None:
    with ScriptedServer(OK) as server:
        gone = server.base_url
    started = time.monotonic()
    provider = Provider(gone, SecretStr(""), timeout_s=5, max_retries=5, what="The endpoint")
    with pytest.raises(ProviderError, match="nothing answers there") as caught:
        provider.get("/models")
    assert caught.value.fault is ProviderFault.UNREACHABLE
    assert time.monotonic() - started < 2


def test_garbage_instead_of_http() -> None:
    result, _ = ask(Reply(raw=b"SSH-2.0-OpenSSH_9.2\r\n"), max_retries=0)
    assert result.fault is ProviderFault.UNREACHABLE


def test_no_key_sends_a_placeholder_and_a_key_is_trimmed() -> None:
    _, server = ask(OK)
    assert server.log[0].headers["authorization"] == "Bearer no-key"
    _, server = ask(OK, key=" sk-test-1234\n")
    assert server.log[0].headers["authorization"] == "Bearer sk-test-1234"


@pytest.mark.parametrize("key", ["sk-test 1234", "sk-tést-1234", "sk-test\n1234", "sk-…1234"])
def test_keys_that_no_header_can_hold(key: str) -> None:
    with pytest.raises(InputError) as caught:
        Provider("http://localhost/v1", SecretStr(key), timeout_s=1, max_retries=0, what="The endpoint")
    assert key not in str(caught.value)
    assert "1234" not in repr(caught.value)


def test_proxies_do_not_stand_before_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    result, _ = ask(OK)
    assert result == {"fine": True}


def test_numbers_that_json_does_not_have_pass() -> None:
    result, _ = ask(Reply(body='{"x": NaN}'))
    assert result["x"] != result["x"]


def test_scrub_leaves_ordinary_words() -> None:
    assert scrub("use key sk-test-1234!", "sk-test-1234") == "use key [key]!"
    assert scrub("ollama pull x", "ollama") == "ollama pull x"
    assert scrub("lm-studio says", "lm-studio") == "lm-studio says"
    assert scrub("empty", "") == "empty"


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"data": [{"id": "a"}, {"id": "b"}, {"id": "a"}]}, ["a", "b"]),
        ({"models": [{"name": "x"}, {"model": "y"}]}, ["x", "y"]),
        (["p", {"id": "q"}, 5, {}], ["p", "q"]),
        ({"data": []}, []),
    ],
)
def test_model_names(body: Any, names: list[str]) -> None:
    with ScriptedServer(Reply(body=body)) as server:
        assert check_endpoint(server.base_url + "/chat/completions", SecretStr(""), 5) == names


def test_check_endpoint_failures() -> None:
    with (
        ScriptedServer(Reply(404, "404 page not found")) as server,
        pytest.raises(ProviderError, match="no list") as caught,
    ):
        check_endpoint(server.base_url, SecretStr(""), 5)
    assert caught.value.fault is ProviderFault.NOT_FOUND
    with ScriptedServer(Reply(body={"hello": 1})) as server, pytest.raises(ProviderError, match="no list"):
        check_endpoint(server.base_url, SecretStr(""), 5)
    with (
        ScriptedServer(error(401, "who are you")) as server,
        pytest.raises(ProviderError, match="who are you") as caught,
    ):
        check_endpoint(server.base_url, SecretStr("sk-wrong-1234"), 5)
    assert caught.value.fault is ProviderFault.AUTHENTICATION
    with pytest.raises(InputError):
        check_endpoint("not an address", SecretStr(""), 5)
    with ScriptedServer(models("m")) as server:
        assert check_endpoint(f"127.0.0.1:{server.port}", SecretStr(""), 5) == ["m"]


def test_one_connection_serves_several_calls() -> None:
    with ScriptedServer(chat("a")) as server:
        provider = Provider(server.base_url, SecretStr(""), timeout_s=5, max_retries=0, what="The endpoint")
        for _ in range(3):
            provider.post("/chat/completions", {})
        assert len(provider._idle) == 1
        provider.close()
        assert provider._idle == []
