"""EndpointEncoder against a scripted server."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

import backend.llm.provider as provider_module
from backend.embedding.endpoint import EndpointEncoder, probe_endpoint
from backend.embedding.endpoint_reply import cut, read_rows, read_vector, unit
from backend.embedding.types import Encoder, ModelSpec, Source
from backend.errors import InputError, ProviderError, ProviderFault
from backend.settings import Settings
from tests.fakes.scripted_server import Behaviour, Reply, Request, ScriptedServer, embeddings, error


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_module, "FIRST_WAIT_S", 0.01)


def vector_of(text: str) -> list[float]:
    """Of no special length; equal texts, equal vectors."""
    return [float(len(text)), 3.0, -1.5, float(sum(map(ord, text)) % 97)]


def spec(server: ScriptedServer, **fields: Any) -> ModelSpec:
    plain = ModelSpec("k", Source.ENDPOINT, "m", base_url=server.base_url, dimension=4)
    return replace(plain, **fields)


def encoder(server: ScriptedServer, settings: Settings, **fields: Any) -> EndpointEncoder:
    return EndpointEncoder(spec(server, **fields), None, settings)


def failing_for(word: str, failure: Reply) -> Behaviour:
    """Fails whole requests that hold a text with this word."""
    good = embeddings(vector_of)

    def answer(request: Request) -> Reply:
        return failure if any(word in text for text in request.body["input"]) else good(request)

    return answer


def inputs(server: ScriptedServer) -> list[list[str]]:
    return [body["input"] for body in server.bodies("/embeddings")]


def test_batches_prompts_and_unit_rows(settings: Settings) -> None:
    settings = settings.model_copy(update={"encode_batch_size": 2})
    with ScriptedServer(embeddings(vector_of)) as server:
        model = encoder(server, settings, query_prompt="query: ", document_prompt="passage: ")
        assert isinstance(model, Encoder)
        documents = model.encode_documents(["a", "bb", "ccc"])
        queries = model.encode_queries(["a"])
    assert inputs(server) == [["passage: a", "passage: bb"], ["passage: ccc"], ["query: a"]]
    assert server.log[0].body == {"model": "m", "input": ["passage: a", "passage: bb"]}
    wanted = np.array([vector_of(f"passage: {text}") for text in ("a", "bb", "ccc")])
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    assert documents.vectors == pytest.approx(wanted, abs=1e-6)
    assert documents.vectors.dtype == np.float32
    assert documents.failures == {}
    assert queries.vectors.shape == (1, 4)
    assert model.count_tokens(["a"]) is None


def test_the_order_is_told_by_index(settings: Settings) -> None:
    texts = ["a", "bb", "ccc", "dddd"]
    with (
        ScriptedServer(embeddings(vector_of, shuffled=True)) as shuffled,
        ScriptedServer(embeddings(vector_of)) as plain,
    ):
        one = encoder(shuffled, settings).encode_documents(texts).vectors
        other = encoder(plain, settings).encode_documents(texts).vectors
    assert np.array_equal(one, other)


def test_blank_texts_are_never_sent(settings: Settings) -> None:
    with ScriptedServer(embeddings(vector_of)) as server:
        model = encoder(server, settings, document_prompt="passage: ")
        encoded = model.encode_documents(["", "a", " \n\t", "b", "\u3000"])
        only_blank = model.encode_documents(["", " "])
        nothing = model.encode_queries([])
    assert sorted(encoded.failures) == [0, 2, 4]
    assert inputs(server) == [["passage: a", "passage: b"]]
    assert not encoded.vectors[[0, 2, 4]].any()
    assert len(only_blank.failures) == 2
    assert nothing.vectors.shape == (0, 4)


@pytest.mark.parametrize(
    "bad", [[math.nan] * 4, [1, None, 2, 3], None, [math.inf, 0, 0, 0], [0, 0, 0, 0], ["x"] * 4, [[1, 2, 3, 4]], []]
)
def test_a_bad_vector_is_that_texts_failure(bad: Any, settings: Settings) -> None:
    with ScriptedServer(embeddings(lambda text: bad if text == "bad" else vector_of(text))) as server:
        encoded = encoder(server, settings).encode_documents(["a", "bad", "c"])
        query = encoder(server, settings).encode_queries(["bad"])
    assert list(encoded.failures) == [1]
    assert not encoded.vectors[1].any()
    assert np.linalg.norm(encoded.vectors[[0, 2]], axis=1) == pytest.approx([1, 1])
    assert list(query.failures) == [0]
    assert len(server.log) == 2


@pytest.mark.parametrize(
    "failure",
    [Reply(500, {"error": "NaN"}), error(400, "bad input"), error(400, "maximum context length is 512 tokens")],
)
def test_a_failing_batch_is_split(failure: Reply, settings: Settings) -> None:
    texts = [f"text {n}" for n in range(20)]
    texts[13] = "poison"
    with ScriptedServer(failing_for("poison", failure)) as server:
        encoded = encoder(server, settings).encode_documents(texts)
    assert list(encoded.failures) == [13]
    assert str(failure.status) in encoded.failures[13]
    assert (np.linalg.norm(encoded.vectors, axis=1) > 0.99).sum() == 19
    assert len(server.log) <= 2 * 5 + 2


def test_every_second_text_bad_costs_a_bounded_number_of_requests(settings: Settings) -> None:
    texts = [f"{'poison' if n % 2 else 'fine'} {n}" for n in range(64)]
    with ScriptedServer(failing_for("poison", Reply(500, "x"))) as server:
        encoded = encoder(server, settings).encode_documents(texts)
    assert list(encoded.failures) == list(range(1, 64, 2))
    assert len(server.log) <= 2 * 64


def test_a_server_that_fails_for_all_is_told_soon(settings: Settings) -> None:
    with (
        ScriptedServer(Reply(500, {"error": "out of memory"})) as server,
        pytest.raises(ProviderError, match="out of memory"),
    ):
        encoder(server, settings).encode_documents([f"text {n}" for n in range(1000)])
    assert len(server.log) < 12


def test_a_server_that_breaks_half_way_is_told(settings: Settings) -> None:
    good = embeddings(vector_of)
    with ScriptedServer(lambda r: good(r) if r.n <= 2 else Reply(500, {"error": "gone"})) as server:
        model = encoder(server, settings)
        with pytest.raises(ProviderError, match="gone"):
            model.encode_documents([f"text {n}" for n in range(1000)])
    assert len(server.log) < 60


@pytest.mark.parametrize(
    ("failure", "fault", "n_requests"),
    [
        (error(401, "no key"), ProviderFault.AUTHENTICATION, 1),
        (error(429, "empty", code="insufficient_quota"), ProviderFault.QUOTA, 1),
        (error(429, "slow down"), ProviderFault.RATE_LIMIT, 3),
        (Reply(503, "loading"), ProviderFault.SERVER_ERROR, 3),
        (error(404, "model not found"), ProviderFault.NOT_FOUND, 1),
        (error(400, "model does not support matryoshka: dimensions"), ProviderFault.BAD_REQUEST, 1),
        (Reply(delay_s=20), ProviderFault.TIMEOUT, 1),
    ],
)
def test_what_is_no_texts_fault_is_not_split(
    failure: Reply, fault: ProviderFault, n_requests: int, settings: Settings
) -> None:
    settings = settings.model_copy(update={"llm_timeout_s": 0.5})
    with ScriptedServer(failure) as server:
        with pytest.raises(ProviderError) as caught:
            encoder(server, settings).encode_documents(["a", "b", "c"])
        assert caught.value.fault is fault
    assert len(server.log) == n_requests


def test_passing_failures_cost_nothing(settings: Settings) -> None:
    with ScriptedServer(Reply(503, "loading"), embeddings(vector_of)) as server:
        assert encoder(server, settings).encode_documents(["a", "b"]).failures == {}
    with ScriptedServer(Reply(500, "hiccup"), embeddings(vector_of)) as server:
        assert encoder(server, settings).encode_queries(["a"]).failures == {}


def test_another_dimension_is_an_input_error_that_names_both(settings: Settings) -> None:
    with ScriptedServer(embeddings(lambda _text: [1.0] * 8)) as server, pytest.raises(InputError, match=r"8 .*4"):
        encoder(server, settings).encode_documents(["a"])
    uneven = embeddings(lambda text: [1.0] * (4 + (text == "odd")))
    with ScriptedServer(uneven) as server, pytest.raises(InputError, match=r"5 .*4"):
        encoder(server, settings).encode_documents(["a", "odd"])


def test_base64_vectors(settings: Settings) -> None:
    def answer(request: Request) -> Reply:
        request.body["encoding_format"] = "base64"
        return embeddings(vector_of)(request)

    with ScriptedServer(answer) as coded, ScriptedServer(embeddings(vector_of)) as plain:
        one = encoder(coded, settings).encode_documents(["a", "bb"]).vectors
        other = encoder(plain, settings).encode_documents(["a", "bb"]).vectors
    assert np.array_equal(one, other)


@pytest.mark.parametrize("knows_parameter", [True, False])
@pytest.mark.parametrize("layer_norm", [True, False])
def test_matryoshka(knows_parameter: bool, layer_norm: bool, settings: Settings) -> None:
    full = [1.0, 2.0, 3.0, 4.0]

    def answer(request: Request) -> Reply:
        assert request.body["dimensions"] == 2
        n = 2 if knows_parameter else 4
        return embeddings(lambda _text: full[:n])(request)

    with ScriptedServer(answer) as server:
        model = encoder(server, settings, truncate_dimension=2, layer_norm_before_cut=layer_norm)
        assert model.dimension == 2
        vectors = model.encode_documents(["a"]).vectors
    before = (np.array(full) - 2.5) / math.sqrt(1.25 + 1e-5) if layer_norm and not knows_parameter else np.array(full)
    assert vectors[0] == pytest.approx(before[:2] / np.linalg.norm(before[:2]), abs=1e-6)


def test_probe_fills_the_dimension(settings: Settings) -> None:
    with ScriptedServer(embeddings(vector_of)) as server:
        draft = spec(server, base_url=f"127.0.0.1:{server.port}/v1/embeddings", dimension=0, name=" m ")
        probed = probe_endpoint(draft, SecretStr(""), settings)
        model = EndpointEncoder(draft, None, settings)
    assert (probed.dimension, probed.base_url, probed.pooling, probed.name) == (4, server.base_url, "endpoint", "m")
    assert probed.facts_from
    assert model.dimension == 4
    assert model.spec == probed
    assert len(server.log[0].body["input"]) == 2
    assert model.fingerprint != EndpointEncoder(replace(probed, query_prompt="q: "), None, settings).fingerprint
    assert model.fingerprint == EndpointEncoder(replace(probed, key="other"), None, settings).fingerprint


def test_probe_with_a_cut(settings: Settings) -> None:
    def answer(request: Request) -> Reply:
        return embeddings(lambda text: vector_of(text)[: request.body.get("dimensions", 4)])(request)

    with ScriptedServer(answer) as server:
        probed = probe_endpoint(spec(server, dimension=0, truncate_dimension=3), None, settings)
        assert (probed.dimension, probed.truncate_dimension) == (4, 3)
        with pytest.raises(InputError, match="cut to 5"):
            probe_endpoint(spec(server, dimension=0, truncate_dimension=5), None, settings)


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (Reply(404, "404 page not found"), "404 page not found"),
        (error(404, 'model "m" not found, try pulling it first'), "ollama pull m"),
        (error(401, "who are you"), "who are you"),
        (Reply(200, {"data": []}), "0 vectors for 2 texts"),
        (Reply(200, {"object": "list"}), "without vectors"),
        (Reply(200, "<html>hello</html>"), "hello"),
        (embeddings(lambda _text: [math.nan] * 4), "NaN"),
        (embeddings(lambda text: [1.0] * len(text)), "different lengths"),
    ],
)
def test_probe_failures_have_clear_words(behaviour: Behaviour, words: str, settings: Settings) -> None:
    with ScriptedServer(behaviour) as server, pytest.raises(ProviderError) as caught:
        probe_endpoint(spec(server, dimension=0), None, settings)
    assert words in str(caught.value)


def test_probe_of_nonsense(settings: Settings) -> None:
    with pytest.raises(InputError, match="address"):
        probe_endpoint(ModelSpec("k", Source.ENDPOINT, "m", base_url="not an address"), None, settings)
    with pytest.raises(InputError, match="Which model"):
        probe_endpoint(ModelSpec("k", Source.ENDPOINT, " ", base_url="http://localhost:1"), None, settings)
    with pytest.raises(InputError, match="no model is named"):
        EndpointEncoder(ModelSpec("k", Source.ENDPOINT, "", base_url="http://localhost:1"), None, settings)


def test_text_that_utf8_cannot_carry(settings: Settings) -> None:
    with ScriptedServer(embeddings(vector_of)) as server:
        assert encoder(server, settings).encode_documents(["a\ud800b"]).failures == {}


def rows(*values: Any) -> Any:
    return {"data": [{"index": index, "embedding": value} for index, value in values]}


def test_read_rows() -> None:
    assert read_rows(rows((1, "b"), (0, "a")), 2, "It") == ["a", "b"]
    assert read_rows(rows((2, "c"), (0, "a")), 3, "It") == ["a", None, "c"]
    assert read_rows(rows((0, "a"), (0, "b")), 2, "It") == ["a", "b"]  # numbers everything 0
    assert read_rows(rows((None, "a"), (None, "b")), 2, "It") == ["a", "b"]
    assert read_rows({"embeddings": [[1.0], [2.0]]}, 2, "It") == [[1.0], [2.0]]
    assert read_rows({"data": [None, 5]}, 2, "It") == [None, 5]
    for body in (rows((0, "a"), (0, "b")), {"data": None}, [], None, {}):
        with pytest.raises(ProviderError) as caught:
            read_rows(body, 3, "It")
        assert caught.value.fault is ProviderFault.BAD_REPLY


def test_vectors() -> None:
    assert isinstance(read_vector("not base64!"), str)
    assert isinstance(read_vector({"a": 1}), str)
    assert isinstance(read_vector(True), str)
    assert isinstance(read_vector([10**400]), str)
    huge = unit(np.array([1e300, 1e300]))
    assert not isinstance(huge, str)
    assert huge == pytest.approx([math.sqrt(0.5)] * 2)
    assert isinstance(unit(np.zeros(3)), str)
    assert list(cut(np.array([1.0, 2.0, 3.0]), 2, layer_norm=False)) == [1.0, 2.0]
