"""What every ChatModel does: the client against a scripted server and a real one, and the fake."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from backend.errors import ProviderError, ProviderFault
from backend.llm import ChatEndpoint, ChatMessage, ChatModel, ChatReply, ChatRequest, LocalChatServer, OpenAIChat
from backend.settings import Settings
from backend.store import Database
from tests.fakes.chat import FakeChat
from tests.fakes.scripted_server import Reply, Request, ScriptedServer, chat, error

SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": 60}, "winner": {"enum": ["chunk_a", "chunk_b", "tie"]}},
    "required": ["reason", "winner"],
    "additionalProperties": False,
}
SHORT = ChatRequest((ChatMessage("user", "Name one colour."),), max_tokens=24, seed=1)
STRICT = ChatRequest(
    (ChatMessage("system", "You answer in JSON."), ChatMessage("user", "Which chunk is better? Say pineapple.")),
    json_schema=SCHEMA,
    max_tokens=120,
)
TOO_LONG = ChatRequest((ChatMessage("user", "word " * 12_000),), max_tokens=8)


@dataclass
class Subject:
    """A model under test, a twin that shares its store, and one whose server is gone."""

    model: ChatModel
    twin: ChatModel
    gone: ChatModel


def answer(request: Request) -> Reply:
    """A plain and well-behaved server."""
    text = " ".join(message["content"] for message in request.body["messages"])
    if len(text) > 50_000:
        return error(400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded")
    if "response_format" in request.body:
        return chat('{"reason": "It is yellow.", "winner": "tie"}')
    return chat(f"Blue {request.body.get('seed')}")


def fake_answer(request: ChatRequest) -> str:
    return '{"reason": "It is yellow.", "winner": "tie"}' if request.json_schema else f"Blue {request.seed}"


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def local() -> Iterator[LocalChatServer]:
    """The real server, started when first asked for."""
    server = LocalChatServer(Settings(_env_file=None, llm_port=closed_port()))
    yield server
    server.stop()


@pytest.fixture(params=["scripted", "fake", pytest.param("local", marks=pytest.mark.llm)])
def subject(request: pytest.FixtureRequest, database: Database, local: LocalChatServer) -> Iterator[Subject]:
    unreachable = OpenAIChat(ChatEndpoint(f"http://127.0.0.1:{closed_port()}/v1", "m", timeout_s=5), database)
    if request.param == "fake":
        fake = FakeChat(fake_answer, context_chars=50_000)
        nobody = FakeChat(ProviderError("Nothing answers there.", fault=ProviderFault.UNREACHABLE))
        yield Subject(fake, fake, nobody)
    elif request.param == "scripted":
        with ScriptedServer(answer) as server:
            endpoint = ChatEndpoint(server.base_url, "m", timeout_s=5)
            yield Subject(OpenAIChat(endpoint, database), OpenAIChat(endpoint, database), unreachable)
    else:
        endpoint = ChatEndpoint(local.start(), local.model, timeout_s=120)
        yield Subject(OpenAIChat(endpoint, database), OpenAIChat(endpoint, database), unreachable)


def test_chat_and_from_store_on_repetition(subject: Subject) -> None:
    first = subject.model.complete(SHORT)
    assert isinstance(first, ChatReply)
    assert first.text.strip()
    assert not first.from_store
    assert first.response_format == "text"
    assert first.n_prompt_tokens
    assert first.n_completion_tokens
    assert first.latency_ms > 0
    second = subject.twin.complete(SHORT)
    if first.finish_reason == "stop":
        assert second == replace(first, from_store=True)


def test_strict_schema(subject: Subject) -> None:
    reply = subject.model.complete(STRICT)
    told: dict[str, Any] = json.loads(reply.text)
    assert list(told) == ["reason", "winner"]
    assert told["winner"] in {"chunk_a", "chunk_b", "tie"}
    assert reply.response_format == "json_schema"
    assert reply.finish_reason == "stop"
    assert subject.twin.complete(STRICT) == replace(reply, from_store=True)


def test_seeds_name_different_requests(subject: Subject) -> None:
    warm = replace(SHORT, temperature=0.8)
    for seed in (1, 2, None):
        assert not subject.model.complete(replace(warm, seed=seed)).from_store


def test_too_long_a_prompt(subject: Subject) -> None:
    for _ in range(2):  # failures are never stored
        with pytest.raises(ProviderError) as caught:
            subject.model.complete(TOO_LONG)
        assert caught.value.fault is ProviderFault.CONTEXT_LENGTH
    assert subject.model.complete(SHORT).text.strip()


def test_unreachable(subject: Subject) -> None:
    with pytest.raises(ProviderError) as caught:
        subject.gone.complete(SHORT)
    assert caught.value.fault is ProviderFault.UNREACHABLE
    assert caught.value.message


def test_the_endpoint_is_told(subject: Subject) -> None:
    assert subject.model.endpoint.base_url.endswith("/v1")
    assert subject.model.endpoint.model
