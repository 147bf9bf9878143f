"""A look at a model that a person adds, before it is kept: does it work, and what are its facts?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pydantic import SecretStr

from backend.embedding.access import download
from backend.embedding.loaded_model import load_model
from backend.embedding.local import LocalEncoder
from backend.embedding.model_files import folder_digest, hub_folder, what_is_missing
from backend.embedding.types import ModelSpec, Pooling, Source
from backend.errors import InputError, UnavailableError
from backend.settings import Settings, current_settings

_TWO_TEXTS = ("The harbour master writes the tide table.", "Basalt cools into six-sided columns.")
_QUERY_PROMPTS = ("query",)
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")


def probe_model(spec: ModelSpec, api_key: SecretStr | None, settings: Settings) -> ModelSpec:
    """Try a model out and fill in what only it can tell. A hub model that isn't here is downloaded first, if allowed.

    Raises:
        InputError: The description can't be right.
        UnavailableError: The model can't be had or loaded; says how to get it.
        ProviderError: The endpoint failed.
    """
    if spec.source is Source.ENDPOINT:
        from backend.embedding.endpoint import probe_endpoint

        return probe_endpoint(spec, api_key, settings)
    if spec.source is Source.HUB and hub_folder(spec) is None:
        download(spec, settings)
    return probe_local(spec, settings)


def probe_local(spec: ModelSpec, settings: Settings | None = None) -> ModelSpec:
    """Load a hub or folder model that is on this machine, embed two texts, and fill in its facts.

    What the person gave stays: prompts, a lower token limit, a pooling where the model's own files name none. Prompts
    that the person left out come from the model's own files.

    Args:
        spec: At least key, source and name.
        settings: Batch size and threads; by default this process's.

    Returns:
        The spec with revision, dimension, maximum tokens, pooling and prompts filled in.

    Raises:
        InputError: The path, the token limit or the cut can't be right.
        UnavailableError: The model isn't here or can't be loaded.
    """
    settings = settings or current_settings()
    if not spec.name.strip():
        raise InputError("Which model? Give a hub id such as BAAI/bge-small-en-v1.5, or the path of a folder.")
    if spec.source is Source.FOLDER:
        folder = Path(spec.name).expanduser().resolve()
        problem = what_is_missing(folder)
        if problem:
            raise InputError(f"The folder {folder} isn't a model: {problem}.", hint="Check the path.")
        spec = replace(spec, name=str(folder), revision=folder_digest(folder))
    found = Path(spec.name) if spec.source is Source.FOLDER else hub_folder(spec)
    names_pooling = found is not None and (found / "modules.json").exists()
    # "mean" is what a spec says where nobody chose; then sentence-transformers' own choice for the architecture holds.
    pooling: Pooling = "other" if names_pooling or spec.pooling == "mean" else spec.pooling
    as_it_is = replace(spec, pooling=pooling, dimension=0, max_tokens=0)
    loaded = load_model(as_it_is, batch_size=settings.encode_batch_size, torch_threads=settings.torch_threads)
    try:
        if spec.max_tokens < 0 or (loaded.max_tokens and spec.max_tokens > loaded.max_tokens):
            raise InputError(
                f"{spec.name} reads at most {loaded.max_tokens} tokens, not {spec.max_tokens}.",
                hint="Leave the limit out to use the model's own.",
            )
        given = bool(spec.query_prompt or spec.document_prompt)
        filled = replace(
            spec,
            revision=spec.revision or loaded.content_id,
            dimension=loaded.dimension,
            max_tokens=spec.max_tokens or loaded.max_tokens,
            pooling=loaded.pooling,
            query_prompt=spec.query_prompt if given else _first(loaded.own_prompts, _QUERY_PROMPTS),
            document_prompt=spec.document_prompt if given else _first(loaded.own_prompts, _DOCUMENT_PROMPTS),
            facts_from=spec.facts_from or "the model's own files",
        )
        encoded = LocalEncoder(filled, settings, loaded=loaded).encode_documents(_TWO_TEXTS)
    finally:
        loaded.close()
    if encoded.failures:
        raise UnavailableError(f"{spec.name} loads, but can't embed a plain sentence: {encoded.failures[0]}")
    return filled


def _first(prompts: dict[str, str], names: tuple[str, ...]) -> str:
    return next((prompts[name] for name in names if name in prompts), "")
