"""Encoders in use: each local model loaded once, shared by its cuts and prompts, and given up when long unused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import SecretStr

from backend.embedding.loaded_model import LoadedModel, load_model
from backend.embedding.local import LocalEncoder
from backend.embedding.registry import ModelRegistry
from backend.embedding.shelf import Shelf
from backend.embedding.types import Encoder, ModelSpec, Source
from backend.settings import Settings
from backend.store import sha256_hex

_MOST_ENDPOINTS = 16


class EncoderPool:
    """Lends encoders by registry key; safe to share between threads.

    Encoding with one model is one at a time (each model has its lock), two models encode side by side, and loads
    wait for each other.

    Args:
        registry: Knows the models.
        settings: How many models stay in memory, batch size, threads.
    """

    def __init__(self, registry: ModelRegistry, settings: Settings) -> None:
        self._registry = registry
        self._settings = settings
        self._models: Shelf[LoadedModel] = Shelf(settings.max_loaded_models)
        self._endpoints: Shelf[Encoder] = Shelf(_MOST_ENDPOINTS)

    @contextmanager
    def use(self, key: str, api_key: SecretStr | None = None) -> Iterator[Encoder]:
        """An encoder for the block; it isn't closed while the block runs.

        Args:
            key: Registry key, perhaps with a cut (``KEY@256``).
            api_key: For endpoints; kept in memory only.

        Raises:
            NotFoundError: There is no such model.
            UnavailableError: It isn't here, or can't be loaded.
        """
        spec = self._registry.get(key)
        if spec.source is Source.ENDPOINT:
            secret = api_key.get_secret_value() if api_key else ""
            name = (spec.key, spec.fingerprint, sha256_hex(secret))
            with self._endpoints.borrow(name, spec.key, lambda: self._endpoint(spec, api_key)) as encoder:
                yield encoder
            return
        # What changes the weights or the way through them; prompts and cuts share one model in memory.
        weights = (spec.source, spec.name, spec.revision, spec.pooling, spec.max_tokens)
        with self._models.borrow(weights, spec.key.partition("@")[0], lambda: self._load(spec)) as loaded:
            yield LocalEncoder(spec, self._settings, loaded=loaded)

    def loaded(self) -> tuple[str, ...]:
        """Keys of the local models in memory, least recently used first."""
        return self._models.labels()

    def release_all(self) -> None:
        """Free the memory of every model; one that is in use goes when its user is done."""
        self._models.clear()
        self._endpoints.clear()

    def _load(self, spec: ModelSpec) -> LoadedModel:
        return load_model(spec, batch_size=self._settings.encode_batch_size, torch_threads=self._settings.torch_threads)

    def _endpoint(self, spec: ModelSpec, api_key: SecretStr | None) -> Encoder:
        from backend.embedding.endpoint import EndpointEncoder

        return EndpointEncoder(spec, api_key, self._settings)
