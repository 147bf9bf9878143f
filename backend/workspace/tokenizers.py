"""Tokenizers that chunks can be counted with: those of the local models that are on this machine."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from backend.corpus import DEFAULT_TOKENIZER, JsonTokenizer, default_tokenizer, model_tokenizer
from backend.embedding import ModelRegistry, ModelSpec, tokenizer_path
from backend.errors import InputError
from backend.store import storable


class Tokenizers:
    """Gives tokenizers by the registry key of their model, each loaded once.

    Args:
        registry: Knows the models.
    """

    def __init__(self, registry: ModelRegistry) -> None:
        self._registry = registry
        self._loaded: dict[str, JsonTokenizer] = {}
        self._counters: dict[str, Any] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """Keys of the models whose tokenizer is here, the default one first."""
        keys = [spec.key for spec in self._registry.list() if tokenizer_path(spec) is not None]
        return sorted(keys, key=lambda key: key != DEFAULT_TOKENIZER)

    def get(self, name: str) -> JsonTokenizer:
        """The tokenizer of a model.

        Raises:
            InputError: No model has this key, or its tokenizer is not here.
        """
        if name == DEFAULT_TOKENIZER:
            return default_tokenizer()
        spec = next((spec for spec in self._registry.list() if spec.key == name), None)
        path = tokenizer_path(spec) if spec is not None else None
        if path is None:
            raise InputError(
                f"The tokenizer of “{name[:100]}” is not on this machine.",
                hint=f"Tokenizers here: {', '.join(self.names())}.",
            )
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = model_tokenizer(path, name)
            return self._loaded[name]

    def count(self, spec: ModelSpec, texts: Sequence[str]) -> list[int] | None:
        """Tokens of documents as the model reads them: behind its document prompt, special tokens included, uncut.

        The model itself is not loaded. None: its tokenizer is not here, as for an endpoint.
        """
        path = tokenizer_path(spec)
        if path is None:
            return None
        with self._lock:
            counter = self._counters.get(str(path))
            if counter is None:
                from tokenizers import Tokenizer as FastTokenizer

                counter = FastTokenizer.from_file(str(path))
                counter.no_truncation()
                counter.no_padding()
                self._counters[str(path)] = counter
        prompted = [spec.document_prompt + storable(text) for text in texts]
        encodings = counter.encode_batch_fast(prompted, add_special_tokens=spec.pooling != "static")
        return [len(encoding.ids) for encoding in encodings]
