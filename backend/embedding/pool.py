"""Encoders in use: each local model loaded once, shared by its cuts and prompts, and given up when long unused."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from pydantic import SecretStr

from backend.embedding.loaded_model import LoadedModel, load_model
from backend.embedding.local import LocalEncoder
from backend.embedding.model_files import changeable_content
from backend.embedding.registry import ModelRegistry
from backend.embedding.shelf import Shelf
from backend.embedding.types import Encoder, ModelSpec, Source
from backend.errors import UnavailableError
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
        self._contents: dict[Hashable, str] = {}  # what the files of each model held when it was last lent

    @contextmanager
    def use(self, key: str, api_key: SecretStr | None = None) -> Iterator[Encoder]:
        """An encoder for the block; it isn't closed while the block runs.

        A model whose files have changed is loaded anew, and the old one is given up.

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
        content = changeable_content(spec)
        before = self._contents.get(weights)
        self._contents[weights] = content
        if before is not None and before != content:
            self._models.give_up((*weights, before))
        label = spec.key.partition("@")[0]
        with self._models.borrow((*weights, content), label, lambda: self._load(spec, content)) as loaded:
            yield LocalEncoder(spec, self._settings, loaded=loaded)

    def loaded(self) -> tuple[str, ...]:
        """Keys of the local models in memory, least recently used first."""
        return self._models.labels()

    def release_all(self) -> None:
        """Free the memory of every model; one that is in use goes when its user is done."""
        self._models.clear()
        self._endpoints.clear()

    def _load(self, spec: ModelSpec, content: str) -> LoadedModel:
        loaded = load_model(
            spec, batch_size=self._settings.encode_batch_size, torch_threads=self._settings.torch_threads
        )
        if content and not content == loaded.content_id == changeable_content(spec):
            # Half of it may be old: its vectors would stand under the name of files that never gave them.
            loaded.close()
            raise UnavailableError(
                f"The files of the model {spec.key} changed while it was loaded.",
                hint="Try again when they are all in place.",
            )
        return loaded

    def _endpoint(self, spec: ModelSpec, api_key: SecretStr | None) -> Encoder:
        from backend.embedding.endpoint import EndpointEncoder

        return EndpointEncoder(spec, api_key, self._settings)
