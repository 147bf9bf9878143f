"""A model that a person adds is tried out first, and its facts come from its own files."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from backend.embedding import ModelSpec, Source, probe_local, probe_model
from backend.errors import InputError, UnavailableError
from backend.settings import Settings
from tests.fakes import tiny_models as tiny


def draft(folder: Path | str) -> ModelSpec:
    return ModelSpec(key="mine", source=Source.FOLDER, name=str(folder))


@pytest.mark.parametrize(
    ("name", "pooling", "dimension", "limit"),
    [
        ("bert-cls", "cls", 32, 32),
        ("nomic", "mean", 32, 48),
        ("qwen-left", "lasttoken", 32, 48),
        ("static", "static", 16, 0),
    ],
)
def test_facts_come_from_the_models_own_files(
    name: str, pooling: str, dimension: int, limit: int, folders: dict[str, Path], settings: Settings
) -> None:
    spec = probe_model(draft(folders[name]), None, settings)
    assert (spec.pooling, spec.dimension, spec.max_tokens) == (pooling, dimension, limit)
    assert len(spec.revision) == 64
    assert spec.facts_from


def test_prompts_are_the_models_own_unless_the_person_gave_some(folders: dict[str, Path], settings: Settings) -> None:
    own = probe_local(draft(folders["qwen-left"]), settings)
    assert (own.query_prompt, own.document_prompt) == ("instruct : retrieve\nquery :", "")
    given = probe_local(replace(draft(folders["qwen-left"]), document_prompt="passage : "), settings)
    assert (given.query_prompt, given.document_prompt) == ("", "passage : ")


@pytest.mark.parametrize("name", ["document", "passage", "corpus"])
def test_document_prompts_go_by_several_names(name: str, settings: Settings, tmp_path: Path) -> None:
    folder = tiny.make_bert(tmp_path / name, prompts={"query": "query : ", name: "passage : "})
    assert probe_local(draft(folder), settings).document_prompt == "passage : "


def test_a_lower_limit_is_kept_and_a_higher_one_refused(folders: dict[str, Path], settings: Settings) -> None:
    assert probe_local(replace(draft(folders["bert-mean"]), max_tokens=16), settings).max_tokens == 16
    with pytest.raises(InputError, match="at most 32 tokens"):
        probe_local(replace(draft(folders["bert-mean"]), max_tokens=512), settings)


def test_the_revision_follows_the_files(folders: dict[str, Path], settings: Settings, tmp_path: Path) -> None:
    copy = shutil.copytree(folders["static"], tmp_path / "copy")
    before = probe_local(draft(copy), settings).revision
    assert before == probe_local(draft(folders["static"]), settings).revision  # content, not place
    shutil.copy(folders["static-half"] / "model.safetensors", copy / "model.safetensors")
    assert probe_local(draft(copy), settings).revision != before


def test_a_plain_transformers_folder_pools_as_the_person_says(
    folders: dict[str, Path], settings: Settings, tmp_path: Path
) -> None:
    plain = shutil.copytree(folders["bert-mean"], tmp_path / "plain")
    for name in ("modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"):
        (plain / name).unlink()
    shutil.rmtree(plain / "1_Pooling")
    assert probe_local(draft(plain), settings).pooling == "mean"
    spec = probe_local(replace(draft(plain), pooling="cls"), settings)
    assert (spec.pooling, spec.max_tokens) == ("cls", 64)


def test_what_is_no_model_is_refused_with_the_reason(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        probe_local(draft(tmp_path / "gone"), settings)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"neither modules\.json nor config\.json"):
        probe_local(draft(tmp_path / "empty"), settings)
    with pytest.raises(InputError, match="Which model"):
        probe_local(draft(" "), settings)


def test_a_hub_model_without_network_says_how_to_get_it(settings: Settings) -> None:
    spec = ModelSpec(key="mine", source=Source.HUB, name="some-org/some-model")
    with pytest.raises(UnavailableError, match="downloads are off"):
        probe_model(spec, None, settings)
    with pytest.raises(UnavailableError, match="isn't on this machine"):
        probe_local(spec, settings)
