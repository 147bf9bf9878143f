"""A key is in no error, log line, repr, stored reply or database file, though the server echoes it everywhere."""

from __future__ import annotations

import logging
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from backend.embedding.endpoint import EndpointEncoder, probe_endpoint
from backend.embedding.types import ModelSpec, Source
from backend.errors import ProviderError, RagduelError
from backend.llm import ChatEndpoint, ChatMessage, ChatRequest, OpenAIChat, Provider, check_endpoint
from backend.settings import Settings
from backend.store import Database
from tests.fakes.scripted_server import Reply, ScriptedServer, chat, error

KEY = "sk-test-1234-never-shown"
ECHO = f"Incorrect API key provided: {KEY}."
SCHEMA = {"type": "object", "properties": {}}
FAILURES = [
    error(401, ECHO, code=KEY, param=KEY),
    error(400, ECHO),
    Reply(400, {"error": ECHO}),
    Reply(403, f"<html><title>{ECHO}</title></html>"),
    Reply(500, ECHO),
    Reply(429, {"detail": [{"loc": ["header", KEY], "msg": ECHO}]}),
    Reply(200, ECHO),
    Reply(200, {"error": {"message": ECHO}}),
    Reply(raw=f"{KEY} is no HTTP\r\n".encode()),
]


def told(error_: BaseException) -> str:
    """Everything that printing an exception, or looking into it, may show."""
    seen: list[BaseException] = []
    following: BaseException | None = error_
    while following is not None and following not in seen:
        seen.append(following)
        following = following.__cause__ or following.__context__
    parts = ["".join(traceback.format_exception(error_))]
    return "\n".join(parts + [f"{e!r} {e} {e.args!r} {vars(e)!r}" for e in seen])


def endpoint(server: ScriptedServer) -> ChatEndpoint:
    return ChatEndpoint(server.base_url, "m", api_key=SecretStr(f" {KEY}\n"), max_retries=0, timeout_s=5)


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["text", "json"])
def test_failures(
    failure: Reply, schema: Any, database: Database, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with ScriptedServer(failure) as server:
        model = OpenAIChat(endpoint(server), database)
        with pytest.raises(ProviderError) as caught:
            model.complete(ChatRequest((ChatMessage("user", "JSON please"),), json_schema=schema))
        assert server.log[0].headers["authorization"] == f"Bearer {KEY}"
        with pytest.raises(RagduelError) as caught_too:
            check_endpoint(server.base_url, SecretStr(KEY), 5)
    for text in (told(caught.value), told(caught_too.value), repr(model), repr(model.endpoint), caplog.text):
        assert KEY not in text
    database.close()
    assert_no_key_in(settings.data_dir)


def test_a_reply_that_echoes_the_key(database: Database, settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with ScriptedServer(chat(f"Your key is {KEY}", reasoning=f"They use {KEY}", refusal="")) as server:
        model = OpenAIChat(endpoint(server), database)
        reply = model.complete(ChatRequest((ChatMessage("user", "x"),)))
    assert reply.text == "Your key is [key]"
    assert KEY not in repr(reply) + caplog.text
    database.close()
    assert_no_key_in(settings.data_dir)


@pytest.mark.parametrize("failure", FAILURES)
def test_embedding_failures(failure: Reply, settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    settings = settings.model_copy(update={"llm_max_retries": 0})
    with ScriptedServer(failure) as server:
        spec = ModelSpec("k", Source.ENDPOINT, "m", base_url=server.base_url, dimension=2)
        with pytest.raises(ProviderError) as caught:
            EndpointEncoder(spec, SecretStr(KEY), settings).encode_documents(["a", "b"])
        with pytest.raises(ProviderError) as caught_too:
            probe_endpoint(spec, SecretStr(KEY), settings)
    assert KEY not in told(caught.value) + told(caught_too.value) + caplog.text


def assert_no_key_in(folder: Path) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert KEY.encode() not in path.read_bytes()


def test_the_check_itself_would_see_a_key() -> None:
    try:
        try:
            raise ValueError(KEY)
        except ValueError:
            raise RagduelError("x") from None
    except RagduelError:
        inner = sys.exc_info()[1]
    assert inner is not None
    assert KEY in told(inner)


def test_the_environments_own_headers_go_to_no_other_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-own")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-own")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: token-own")
    with ScriptedServer(chat("x")) as server:
        for own in ("", server.base_url):
            monkeypatch.setenv("OPENAI_BASE_URL", own)
            provider = Provider(server.base_url, SecretStr(KEY), timeout_s=5, max_retries=0, what="It")
            provider.post("/chat/completions", {"model": "m", "messages": []})
            provider.close()
        elsewhere, at_home = (
            {value for value in request.headers.values() if value.endswith("-own")} for request in server.log
        )
    assert elsewhere == set()
    assert at_home == {"org-own", "project-own", "token-own"}
