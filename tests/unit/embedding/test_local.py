"""What can go wrong with a text or a model, and what the encoder makes of it."""

from __future__ import annotations

import json
import logging
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.embedding import LocalEncoder, ModelSpec, Source
from backend.embedding.local import BLANK, NO_DIRECTION, NOT_A_NUMBER
from backend.errors import InputError, UnavailableError
from backend.settings import Settings
from tests.fakes.tiny_models import TEXTS


def spec_of(folder: Path, **changes: Any) -> ModelSpec:
    return replace(ModelSpec(key="tiny", source=Source.FOLDER, name=str(folder), pooling="other"), **changes)


def test_blank_texts_are_failures_and_never_encoded(
    folders: dict[str, Path], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = LocalEncoder(spec_of(folders["bert-mean"]), settings)
    seen: list[str] = []
    encode = encoder._loaded._model.encode
    monkeypatch.setattr(
        encoder._loaded._model, "encode", lambda texts, **options: seen.extend(texts) or encode(texts, **options)
    )
    encoded = encoder.encode_documents(["", "the valve", " \n\t", "\u3000"])
    assert encoded.failures == {0: BLANK, 2: BLANK, 3: BLANK}
    assert seen == ["the valve"]
    assert not encoded.vectors[[0, 2, 3]].any()
    assert encoder.encode_queries([" "]).failures == {0: BLANK}
    assert encoder.encode_queries([]).vectors.shape == (0, encoder.dimension)


@pytest.mark.parametrize("poison", [float("nan"), float("inf")])
def test_a_text_that_gives_nan_is_tried_alone_once_and_then_named(
    poison: float, folders: dict[str, Path], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = LocalEncoder(spec_of(folders["bert-mean"]), settings)
    plain = encoder.encode_documents(TEXTS)
    calls: list[list[str]] = []
    encode = encoder._loaded._model.encode

    def poisoned(texts: list[str], **options: Any) -> Any:
        calls.append(list(texts))
        vectors = encode(texts, **options).clone()
        for row, text in enumerate(texts):
            if text == TEXTS[3] or (text == TEXTS[1] and len(texts) > 1):  # the second only fails in company
                vectors[row, 0] = poison
        return vectors

    monkeypatch.setattr(encoder._loaded._model, "encode", poisoned)
    encoded = encoder.encode_documents(TEXTS)
    assert encoded.failures == {3: NOT_A_NUMBER}
    assert not encoded.vectors[3].any()
    kept = [0, 1, 2, 4]
    np.testing.assert_allclose(encoded.vectors[kept], plain.vectors[kept], atol=2e-6)
    assert calls[1:] == [[TEXTS[1]], [TEXTS[3]]]


def test_half_precision_output_comes_out_as_float32(
    folders: dict[str, Path], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = LocalEncoder(spec_of(folders["bert-mean"]), settings)
    plain = encoder.encode_documents(TEXTS).vectors
    encode = encoder._loaded._model.encode
    monkeypatch.setattr(encoder._loaded._model, "encode", lambda texts, **options: encode(texts, **options).bfloat16())
    halved = encoder.encode_documents(TEXTS).vectors
    assert halved.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(halved, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(halved, plain, atol=0.01)


def test_a_static_table_that_knows_no_token_has_no_vector(folders: dict[str, Path], settings: Settings) -> None:
    encoder = LocalEncoder(spec_of(folders["static"]), settings)
    from safetensors.numpy import load_file

    assert load_file(folders["static"] / "model.safetensors")["embeddings"].shape == (len(_vocabulary(folders)), 16)
    table = encoder._loaded._model[0].embedding.weight
    table.data[1] = 0.0  # the unknown token's row
    assert encoder.encode_documents(["zzz", "valve"]).failures == {0: NO_DIRECTION}


def _vocabulary(folders: dict[str, Path]) -> dict[str, int]:
    return dict(json.loads((folders["static"] / "tokenizer.json").read_text())["model"]["vocab"])


def test_lone_surrogates_and_nul_are_encoded(folders: dict[str, Path], settings: Settings) -> None:
    encoder = LocalEncoder(spec_of(folders["bert-mean"]), settings)
    encoded = encoder.encode_documents(["the \ud800 valve", "the \x00 valve"])
    assert encoded.failures == {}
    assert np.isfinite(encoded.vectors).all()


def test_the_models_own_default_prompt_never_steps_in(folders: dict[str, Path], settings: Settings) -> None:
    encoder = LocalEncoder(spec_of(folders["qwen-left"]), settings)
    assert encoder.own_prompts == {"query": "instruct : retrieve\nquery :"}
    np.testing.assert_array_equal(encoder.encode_queries(TEXTS).vectors, encoder.encode_documents(TEXTS).vectors)
    prompted = LocalEncoder(spec_of(folders["qwen-left"], query_prompt="instruct : retrieve\nquery :"), settings)
    assert np.abs(prompted.encode_queries(TEXTS).vectors - encoder.encode_queries(TEXTS).vectors).max() > 0.01


def test_long_texts_go_in_small_batches(
    folders: dict[str, Path], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = LocalEncoder(spec_of(folders["bert-mean"]), settings.model_copy(update={"encode_batch_size": 4}))
    monkeypatch.setattr("backend.embedding.loaded_model._TOKENS_A_TEXT", 8)  # 4 × 8 tokens fill a batch
    sizes: list[int] = []
    encode = encoder._loaded._model.encode
    monkeypatch.setattr(
        encoder._loaded._model, "encode", lambda texts, **options: sizes.append(len(texts)) or encode(texts, **options)
    )
    encoder.encode_documents([TEXTS[4], "basalt", TEXTS[4], "tide", "keys", "door", "valve"])
    assert sizes == [1, 1, 4, 1]


def test_the_fingerprint_names_content(folders: dict[str, Path], settings: Settings, tmp_path: Path) -> None:
    copy = shutil.copytree(folders["static"], tmp_path / "copy")
    spec = spec_of(copy)
    before = LocalEncoder(spec, settings).fingerprint
    assert LocalEncoder(spec, settings).fingerprint == before
    assert LocalEncoder(replace(spec, key="other name", caution="x"), settings).fingerprint == before
    assert LocalEncoder(replace(spec, document_prompt="passage : "), settings).fingerprint != before
    assert LocalEncoder(replace(spec, truncate_dimension=8), settings).fingerprint != before
    shutil.copy(folders["static-half"] / "model.safetensors", copy / "model.safetensors")
    assert LocalEncoder(spec, settings).fingerprint != before


def test_a_cut_longer_than_the_vector_is_refused(folders: dict[str, Path], settings: Settings) -> None:
    with pytest.raises(InputError, match="can't be cut to 999"):
        LocalEncoder(spec_of(folders["static"], truncate_dimension=999), settings)


def test_other_dimensions_than_described_are_refused(folders: dict[str, Path], settings: Settings) -> None:
    with pytest.raises(UnavailableError, match="16 dimensions where 1024"):
        LocalEncoder(spec_of(folders["static"], dimension=1024), settings)


def test_a_model_that_needs_remote_code_is_refused_with_a_way_out(
    folders: dict[str, Path], settings: Settings, tmp_path: Path
) -> None:
    copy = shutil.copytree(folders["bert-mean"], tmp_path / "remote")
    config = json.loads((copy / "config.json").read_text())
    config |= {"model_type": "own-thing", "auto_map": {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}}
    (copy / "config.json").write_text(json.dumps(config))
    (copy / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(UnavailableError, match="never runs"):
        LocalEncoder(spec_of(copy), settings)
    assert not (tmp_path / "ran").exists()


def test_a_folder_that_is_gone_or_broken_says_so(folders: dict[str, Path], settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="there is no such folder"):
        LocalEncoder(spec_of(tmp_path / "gone"), settings)
    copy = shutil.copytree(folders["bert-mean"], tmp_path / "broken")
    (copy / "model.safetensors").write_bytes(b"\x08\x00\x00\x00\x00\x00\x00\x00{}")
    with pytest.raises(UnavailableError, match="can't be loaded"):
        LocalEncoder(spec_of(copy), settings)


@pytest.mark.parametrize("verbosity", ["WARNING", "ERROR"])
def test_weights_that_are_missing_are_never_made_up(
    verbosity: str, folders: dict[str, Path], settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from safetensors.torch import load_file, save_file

    copy = shutil.copytree(folders["bert-mean"], tmp_path / "partial")
    weights = load_file(copy / "model.safetensors")
    without_pooler = {name: tensor for name, tensor in weights.items() if "pooler" not in name}
    save_file(without_pooler, copy / "model.safetensors", metadata={"format": "pt"})
    logging.getLogger("transformers").setLevel(verbosity)
    try:
        assert LocalEncoder(spec_of(copy), settings).encode_queries(["valve"]).failures == {}  # no use for it
        del without_pooler["encoder.layer.1.output.dense.weight"]
        save_file(without_pooler, copy / "model.safetensors", metadata={"format": "pt"})
        with pytest.raises(UnavailableError, match=r"1 in all: encoder\.layer\.1\.output"):
            LocalEncoder(spec_of(copy), settings)
    finally:
        logging.getLogger("transformers").setLevel("WARNING")
    assert caplog.text == ""


def test_pickled_weights_are_never_read(folders: dict[str, Path], settings: Settings, tmp_path: Path) -> None:
    copy = shutil.copytree(folders["bert-mean"], tmp_path / "pickled")
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(UnavailableError, match="pickled weights are never read"):
        LocalEncoder(spec_of(copy), settings)


def test_after_close_the_encoder_says_so(folders: dict[str, Path], settings: Settings) -> None:
    encoder = LocalEncoder(spec_of(folders["static"]), settings)
    encoder.close()
    with pytest.raises(UnavailableError, match="out of memory"):
        encoder.encode_queries(["valve"])
