"""Formats and parameters found out once, replies from the store, equal requests asked once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

import backend.llm.provider as provider_module
from backend.errors import InputError, ProviderError, ProviderFault
from backend.llm import ChatEndpoint, ChatMessage, ChatReply, ChatRequest, OpenAIChat
from backend.llm.calls import request_sha256
from backend.store import Database
from backend.store.tables import ChatCallRow
from tests.fakes.scripted_server import Behaviour, Reply, Request, ScriptedServer, chat, error

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
JSON = ChatRequest((ChatMessage("user", "Reply in JSON."),), json_schema=SCHEMA)
PLAIN = ChatRequest((ChatMessage("user", "Say hello."),))


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_module, "FIRST_WAIT_S", 0.01)


def model(server: ScriptedServer, database: Database, **fields: Any) -> OpenAIChat:
    return OpenAIChat(ChatEndpoint(server.base_url, "m", timeout_s=5, **fields), database)


def numbered(n: int) -> ChatRequest:
    return replace(JSON, messages=(ChatMessage("user", f"Reply in JSON to {n}."),))


def format_of(body: Any) -> str:
    return str((body.get("response_format") or {"type": "text"})["type"])


def refusing(*formats: str, words: str = "response_format is not supported", status: int = 400) -> Behaviour:
    """A server that refuses these formats."""

    def answer(request: Request) -> Reply:
        if format_of(request.body) in formats:
            return error(status, f"{words} ({format_of(request.body)})")
        return chat('{"a": "b"}')

    return answer


@pytest.mark.parametrize(
    ("refused", "taken"),
    [((), "json_schema"), (("json_schema",), "json_object"), (("json_schema", "json_object"), "text")],
)
@pytest.mark.parametrize("words", ["response_format is not supported", "Bad Request"], ids=["named", "unnamed"])
def test_formats_are_found_out_once(refused: tuple[str, ...], taken: str, words: str, database: Database) -> None:
    with ScriptedServer(refusing(*refused, words=words)) as server:
        for n in range(4):
            reply = model(server, database).complete(numbered(n))  # a new object each: the database remembers
            assert reply.response_format == taken
            assert reply.text == '{"a": "b"}'
    assert len(server.log) == 4 + len(refused)
    assert [format_of(body) for body in server.bodies()[len(refused) :]] == [taken] * 4


def test_the_schema_is_sent_strict_and_in_order(database: Database) -> None:
    with ScriptedServer(chat("{}")) as server:
        model(server, database).complete(replace(JSON, schema_name="verdict", seed=7, max_tokens=99, temperature=0.5))
    body = server.log[0].body
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
    }
    assert (body["model"], body["seed"], body["max_tokens"], body["temperature"]) == ("m", 7, 99, 0.5)


def test_plain_requests_name_no_format_and_no_seed(database: Database) -> None:
    with ScriptedServer(chat("hello")) as server:
        assert model(server, database).complete(PLAIN).response_format == "text"
    assert "response_format" not in server.log[0].body
    assert "seed" not in server.log[0].body


def test_two_threads_at_once_are_refused_only_once_each(database: Database) -> None:
    with ScriptedServer(refusing("json_schema", "json_object")) as server:
        shared = model(server, database)
        with ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda n: shared.complete(numbered(n)), range(8)))
    assert {reply.response_format for reply in replies} == {"text"}
    assert len(server.log) == 10


@pytest.mark.parametrize(
    ("failure", "fault"),
    [
        (
            error(400, "content filter triggered by response_format", code="content_filter"),
            ProviderFault.CONTENT_FILTER,
        ),
        (
            error(400, "maximum context length is 10 tokens, response_format included", code="context_length_exceeded"),
            ProviderFault.CONTEXT_LENGTH,
        ),
        (error(401, "response_format needs a key"), ProviderFault.AUTHENTICATION),
        (error(429, "quota", code="insufficient_quota"), ProviderFault.QUOTA),
        (error(404, "model m not found", code="model_not_found"), ProviderFault.NOT_FOUND),
    ],
)
def test_other_failures_are_no_refusals(failure: Reply, fault: ProviderFault, database: Database) -> None:
    with ScriptedServer(failure, chat("{}")) as server:
        asked = model(server, database)
        with pytest.raises(ProviderError) as caught:
            asked.complete(JSON)
        assert caught.value.fault is fault
        assert len(server.log) == 1
        assert asked.complete(JSON).response_format == "json_schema"


def test_unexplained_refusals_of_everything_teach_nothing(database: Database) -> None:
    with ScriptedServer(error(400, "first"), error(400, "second"), error(400, "third"), chat("{}")) as server:
        asked = model(server, database)
        with pytest.raises(ProviderError, match="first"):
            asked.complete(JSON)
        assert len(server.log) == 3
        assert asked.complete(JSON).response_format == "json_schema"


def test_what_was_refused_stays_known_though_the_call_failed(database: Database) -> None:
    with ScriptedServer(error(400, "json_schema unsupported"), Reply(status=500, body="x"), chat("{}")) as server:
        asked = model(server, database, max_retries=0)
        with pytest.raises(ProviderError):
            asked.complete(JSON)
        assert asked.complete(JSON).response_format == "json_object"
    assert [format_of(body) for body in server.bodies()] == ["json_schema", "json_object", "json_object"]


def test_json_mode_is_skipped_where_the_messages_do_not_say_json(database: Database) -> None:
    with ScriptedServer(refusing("json_schema")) as server:
        request = replace(JSON, messages=(ChatMessage("user", "Reply."),))
        assert model(server, database).complete(request).response_format == "text"
    assert len(server.log) == 2


def reasoning_server(request: Request) -> Reply:
    """Takes what OpenAI's reasoning models take."""
    body = request.body
    if "max_tokens" in body:
        return error(
            400,
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            code="unsupported_parameter",
            param="max_tokens",
        )
    if body.get("temperature", 1) != 1:
        return error(
            400,
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is supported.",
            code="unsupported_value",
            param="temperature",
        )
    if "seed" in body:
        return Reply(422, {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]})
    return chat('{"a": "b"}', reasoning_content="I think.")


def test_parameters_are_found_out_once(database: Database) -> None:
    with ScriptedServer(reasoning_server) as server:
        for n in range(3):
            reply = model(server, database).complete(replace(numbered(n), seed=n))
            assert reply.reasoning == "I think."
            assert reply.response_format == "json_schema"
    assert len(server.log) == 3 + 3
    last = server.log[-1].body
    assert last["max_completion_tokens"] == 2048
    assert not {"max_tokens", "temperature", "seed"} & set(last)


def test_a_value_out_of_range_is_not_a_refused_parameter(database: Database) -> None:
    with ScriptedServer(error(400, "max_tokens is too large: 99999. This model gives at most 4096.")) as server:
        with pytest.raises(ProviderError, match="too large") as caught:
            model(server, database).complete(PLAIN)
        assert caught.value.fault is ProviderFault.BAD_REQUEST
    assert len(server.log) == 1


def test_an_equal_request_comes_from_the_store(database: Database) -> None:
    with ScriptedServer(chat("hello", usage=(1000, 500))) as server:
        asked = model(server, database, price_input_usd=2.0, price_output_usd=4.0)
        first = asked.complete(PLAIN)
        second = model(server, database).complete(PLAIN)
    assert len(server.log) == 1
    assert (first.from_store, second.from_store) == (False, True)
    assert first.cost_usd == pytest.approx(0.004)
    assert replace(second, from_store=False) == first
    assert first.latency_ms > 0


def test_a_forgotten_reply_is_asked_anew(database: Database) -> None:
    with ScriptedServer(chat("one"), chat("two")) as server:
        asked = model(server, database)
        asked.complete(PLAIN)
        asked.forget(PLAIN)
        assert asked.complete(PLAIN).text == "two"


@pytest.mark.parametrize(
    "change",
    [
        {"messages": (ChatMessage("system", "Say hello."),)},
        {"json_schema": SCHEMA},
        {"temperature": 0.1},
        {"max_tokens": 5},
        {"seed": 1},
    ],
)
def test_what_names_a_request(change: dict[str, Any]) -> None:
    here = ChatEndpoint("http://h/v1", "m")
    assert request_sha256(here, PLAIN) != request_sha256(here, replace(PLAIN, **change))


def test_what_does_not_name_a_request() -> None:
    here = ChatEndpoint("http://h/v1", "m")
    other = replace(here, api_key=SecretStr("sk-1"), timeout_s=9, max_retries=0, price_input_usd=1)
    assert request_sha256(here, PLAIN) == request_sha256(other, PLAIN)
    assert request_sha256(here, PLAIN) != request_sha256(replace(here, model="n"), PLAIN)
    assert request_sha256(here, PLAIN) != request_sha256(replace(here, base_url="http://g/v1"), PLAIN)
    turned = {"type": "object", "properties": {"b": {}, "a": {}}}
    straight = {"type": "object", "properties": {"a": {}, "b": {}}}
    assert request_sha256(here, replace(PLAIN, json_schema=turned)) != request_sha256(
        here, replace(PLAIN, json_schema=straight)
    )


@pytest.mark.parametrize(
    "unusable",
    [
        chat("cut", finish_reason="length"),
        chat(""),
        chat(None, refusal="No."),
        chat("", finish_reason="content_filter"),
    ],
    ids=["length", "empty", "refusal", "filtered"],
)
def test_replies_that_are_no_answer_are_given_but_not_kept(unusable: Reply, database: Database) -> None:
    with ScriptedServer(unusable, chat("whole")) as server:
        asked = model(server, database)
        assert asked.complete(PLAIN).text in {"cut", ""}
        assert asked.complete(PLAIN).text == "whole"
        assert asked.complete(PLAIN).from_store
    assert len(server.log) == 2


@pytest.mark.parametrize(
    "body",
    [
        {"choices": None},
        {"choices": []},
        {"choices": [None]},
        {"choices": [{"finish_reason": "stop"}]},
        {"choices": [{"message": None}]},
        {"error": {"message": "overloaded", "code": 529}},
        {"error": "plain"},
        [],
        "text",
        5,
        None,
    ],
)
def test_replies_without_a_message(body: Any, database: Database) -> None:
    with ScriptedServer(Reply(body=body) if not isinstance(body, str) else Reply(body='"text"')) as server:
        with pytest.raises(ProviderError) as caught:
            model(server, database).complete(PLAIN)
        assert caught.value.fault is ProviderFault.BAD_REPLY
        assert len(server.log) == 1
    if isinstance(body, dict) and "error" in body:
        assert '"overloaded"' in str(caught.value) or '"plain"' in str(caught.value)


@pytest.mark.parametrize(
    ("message", "usage", "wanted"),
    [
        ({"content": None}, None, ChatReply("")),
        ({}, {}, ChatReply("")),
        ({"content": [{"type": "text", "text": "a"}, {"type": "image"}, "b"]}, {"prompt_tokens": "x"}, ChatReply("ab")),
        (
            {"content": "a", "reasoning": "why"},
            {"prompt_tokens": 3},
            ChatReply("a", reasoning="why", n_prompt_tokens=3),
        ),
        ({"content": 7, "refusal": 8, "reasoning": {"x": 1}}, [1], ChatReply("")),
        ({"content": "a"}, {"prompt_tokens": True, "completion_tokens": -1}, ChatReply("a")),
    ],
)
def test_replies_that_lack_parts(message: Any, usage: Any, wanted: ChatReply, database: Database) -> None:
    body = {"choices": [{"message": message, "finish_reason": None}], "usage": usage}
    with ScriptedServer(Reply(body=body)) as server:
        reply = model(server, database, price_input_usd=1).complete(PLAIN)
    assert replace(reply, latency_ms=0.0) == wanted


def test_equal_requests_under_way_are_asked_once(database: Database) -> None:
    with ScriptedServer(replace(chat("hello"), delay_s=0.4)) as server:
        with ThreadPoolExecutor(6) as pool:
            replies = list(pool.map(lambda _: model(server, database).complete(PLAIN), range(6)))
        assert len(server.log) == 1
    assert sorted(reply.from_store for reply in replies) == [False, True, True, True, True, True]


def test_a_failure_under_way_is_shared_too(database: Database) -> None:
    failing = replace(error(400, "no good"), delay_s=0.4)
    barrier = threading.Barrier(3)
    with ScriptedServer(failing) as server:
        asked = model(server, database)

        def go(_: int) -> ProviderFault:
            barrier.wait()
            with pytest.raises(ProviderError, match="no good") as caught:
                asked.complete(PLAIN)
            return caught.value.fault

        with ThreadPoolExecutor(3) as pool:
            assert set(pool.map(go, range(3))) == {ProviderFault.BAD_REQUEST}
        assert len(server.log) == 1
        with pytest.raises(ProviderError):  # failures are not kept
            asked.complete(PLAIN)
        assert len(server.log) == 2


def test_another_key_asks_for_itself(database: Database) -> None:
    def by_key(request: Request) -> Reply:
        fits = request.headers["authorization"] == "Bearer sk-right-1234"
        return replace(chat("hello") if fits else error(401, "no"), delay_s=0.3)

    with ScriptedServer(by_key) as server, ThreadPoolExecutor(2) as pool:
        wrong = pool.submit(model(server, database, api_key=SecretStr("sk-wrong-1234")).complete, PLAIN)
        right = pool.submit(model(server, database, api_key=SecretStr("sk-right-1234")).complete, PLAIN)
        assert right.result().text == "hello"
        assert isinstance(wrong.exception(), ProviderError)


def test_different_requests_run_side_by_side_once_the_endpoint_is_known(database: Database) -> None:
    with ScriptedServer(chat("{}"), replace(chat("{}"), delay_s=0.4)) as server:
        asked = model(server, database)
        asked.complete(JSON)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: asked.complete(numbered(n)), range(4)))
        assert server.most_at_once >= 3


def test_a_hanging_first_call_does_not_hold_up_the_others(database: Database) -> None:
    def first_hangs(request: Request) -> Reply:
        return replace(chat("{}"), delay_s=30.0 if request.n == 1 else 0.0)

    with ScriptedServer(first_hangs) as server:
        asked = OpenAIChat(ChatEndpoint(server.base_url, "m", timeout_s=0.5), database)
        with ThreadPoolExecutor(3) as pool:
            futures = [pool.submit(asked.complete, numbered(n)) for n in range(3)]
            faults = [future.exception(timeout=10) for future in futures]
    failed = [fault for fault in faults if fault is not None]
    assert [fault.fault for fault in failed if isinstance(fault, ProviderError)] == [ProviderFault.TIMEOUT]


def test_text_that_utf8_cannot_carry_is_sent_and_stored(database: Database) -> None:
    odd = ChatRequest((ChatMessage("user", "a\ud800b \x00 {x} %s"),))
    with ScriptedServer(chat("fine")) as server:
        asked = model(server, database)
        asked.complete(odd)
        assert asked.complete(odd).from_store
    assert "{x} %s" in server.log[0].body["messages"][0]["content"]


def test_names_and_addresses(database: Database) -> None:
    assert OpenAIChat(ChatEndpoint("localhost:1", " m "), database).endpoint == ChatEndpoint(
        "http://localhost:1/v1", "m"
    )
    with pytest.raises(InputError, match="model"):
        OpenAIChat(ChatEndpoint("localhost:1", "  "), database)
    with pytest.raises(InputError, match="address"):
        OpenAIChat(ChatEndpoint("not an address", "m"), database)


def test_the_stored_row_tells_what_was_asked(database: Database) -> None:
    with ScriptedServer(chat("hello")) as server:
        model(server, database, api_key=SecretStr("sk-test-1234")).complete(PLAIN)
    with database.session() as session:
        rows = session.query(ChatCallRow).all()
    assert len(rows) == 1
    assert rows[0].model == "m"
    assert rows[0].request["messages"] == [["user", "Say hello."]]
    assert rows[0].reply["text"] == "hello"
    assert "sk-test" not in str(rows[0].request) + str(rows[0].reply)


def test_openai_is_not_imported_with_the_room() -> None:
    import subprocess
    import sys

    code = "import sys, backend.llm; print({'openai', 'httpx2', 'torch', 'xllamacpp'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
