"""What every Encoder promises: local transformer, static table, a cut of one, and the fake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from backend.embedding import Encoder, LocalEncoder, ModelSpec, Source
from backend.settings import Settings
from tests.fakes import tiny_models as tiny
from tests.fakes.encoders import FakeEncoder

LIMIT = 32
QUERY, DOCUMENT = "query : ", "passage : "
TEXTS = ["the valve opens at four bar", "late shift begins", "spare keys hang behind the door of the harbour"]


@pytest.fixture(scope="module")
def tiny_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("contract")
    return {
        "transformer": tiny.make_bert(root / "bert", limit=LIMIT),
        "decoder": tiny.make_qwen(root / "qwen", limit=LIMIT),
        "static": tiny.make_static(root / "static"),
    }


@pytest.fixture(params=["transformer", "transformer-cut", "decoder", "static", "static-cut", "fake"])
def make(
    request: pytest.FixtureRequest, tiny_folders: dict[str, Path], settings: Settings
) -> Iterator[Callable[..., Encoder]]:
    name, _, cut = request.param.partition("-")
    made: list[Encoder] = []

    def build(query_prompt: str = QUERY, document_prompt: str = DOCUMENT) -> Encoder:
        if name == "fake":
            encoder: Encoder = FakeEncoder(max_tokens=LIMIT, query_prompt=query_prompt, document_prompt=document_prompt)
        else:
            spec = ModelSpec(
                key=name,
                source=Source.FOLDER,
                name=str(tiny_folders[name]),
                pooling="other",
                query_prompt=query_prompt,
                document_prompt=document_prompt,
            )
            encoder = LocalEncoder(replace(spec, truncate_dimension=8 if cut else None), settings)
        made.append(encoder)
        return encoder

    yield build
    for encoder in made:
        encoder.close()


def test_it_is_an_encoder(make: Callable[..., Encoder]) -> None:
    encoder = make()
    assert isinstance(encoder, Encoder)
    assert encoder.spec.dimension >= encoder.dimension > 0
    assert len(encoder.fingerprint) == 64
    assert encoder.fingerprint == make().fingerprint


def test_rows_are_unit_float32_in_the_order_of_the_texts(make: Callable[..., Encoder]) -> None:
    encoder = make()
    for encode in (encoder.encode_queries, encoder.encode_documents):
        encoded = encode(TEXTS)
        assert encoded.vectors.dtype == np.float32
        assert encoded.vectors.shape == (len(TEXTS), encoder.dimension)
        assert encoded.vectors.flags.c_contiguous
        np.testing.assert_allclose(np.linalg.norm(encoded.vectors, axis=1), 1, atol=1e-5)
        np.testing.assert_allclose(encode(TEXTS[::-1]).vectors, encoded.vectors[::-1], atol=2e-6)
        for row, text in enumerate(TEXTS):
            np.testing.assert_allclose(encode([text]).vectors[0], encoded.vectors[row], atol=2e-6)
        assert (encoded.failures, encoded.n_cut) == ({}, 0)


def test_queries_and_documents_get_their_own_prompts(make: Callable[..., Encoder]) -> None:
    encoder, bare = make(), make(query_prompt="", document_prompt="")
    for encode, prompt in ((encoder.encode_queries, QUERY), (encoder.encode_documents, DOCUMENT)):
        by_hand = bare.encode_documents([prompt + text for text in TEXTS]).vectors
        np.testing.assert_allclose(encode(TEXTS).vectors, by_hand, atol=2e-6)
    assert np.abs(encoder.encode_queries(TEXTS).vectors - encoder.encode_documents(TEXTS).vectors).max() > 1e-3
    assert encoder.fingerprint != bare.fingerprint


def test_blank_texts_are_failures_with_zero_rows(make: Callable[..., Encoder]) -> None:
    encoder = make()
    for encode in (encoder.encode_queries, encoder.encode_documents):
        encoded = encode(["", TEXTS[0], "  \n"])
        assert set(encoded.failures) == {0, 2}
        assert all(encoded.failures.values())
        assert not encoded.vectors[[0, 2]].any()
        np.testing.assert_allclose(encoded.vectors[1], encode([TEXTS[0]]).vectors[0], atol=2e-6)


def test_no_texts_give_no_rows(make: Callable[..., Encoder]) -> None:
    encoder = make()
    assert encoder.encode_queries([]).vectors.shape == (0, encoder.dimension)
    assert encoder.encode_documents([]).vectors.shape == (0, encoder.dimension)


def test_what_is_cut_is_counted(make: Callable[..., Encoder]) -> None:
    encoder = make()
    long = " ".join(["harbour"] * (LIMIT + 1))
    counts = encoder.count_tokens([TEXTS[0], long])
    assert counts is not None
    assert 6 < counts[0] < counts[1]
    expected = 1 if encoder.spec.max_tokens else 0
    assert encoder.encode_documents([TEXTS[0], long]).n_cut == expected
    assert encoder.encode_queries([long, long]).n_cut == 2 * expected
    assert encoder.count_tokens([]) == []
