"""The encoder for models that run in this process."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from backend.embedding.loaded_model import LoadedModel, load_model
from backend.embedding.types import Encoded, ModelSpec
from backend.errors import InputError
from backend.settings import Settings

BLANK = "The text is blank."
NOT_A_NUMBER = "The model gave no usable vector for this text (NaN)."
NO_DIRECTION = "The model knows no token of this text, so it has no vector."
_LAYER_NORM_EPSILON = 1e-5  # torch.nn.functional.layer_norm's default, as in nomic's recipe
_SHORTEST = 1e-12


class LocalEncoder:
    """Encodes with sentence-transformers, as the spec says: prompt, pooling, cut, unit length.

    Args:
        spec: The model.
        settings: Batch size and threads.
        loaded: The model in memory, when somebody else owns it; else it is loaded, and freed by ``close``.

    Raises:
        UnavailableError: The model can't be loaded; says how to get it.
        InputError: The cut is longer than the vector.
    """

    def __init__(self, spec: ModelSpec, settings: Settings, *, loaded: LoadedModel | None = None) -> None:
        self._owns = loaded is None
        self._loaded = loaded or load_model(
            spec, batch_size=settings.encode_batch_size, torch_threads=settings.torch_threads
        )
        cut = spec.truncate_dimension
        if cut is not None and not 0 < cut <= self._loaded.dimension:
            raise InputError(
                f"“{spec.key}” can't be cut to {cut} dimensions.", hint=f"It has {self._loaded.dimension}."
            )
        self._spec = replace(
            spec,
            dimension=self._loaded.dimension,
            max_tokens=self._loaded.max_tokens,
            pooling=self._loaded.pooling,
        )
        told = [self._spec.fingerprint, self._loaded.content_id, "float32"]
        self._fingerprint = hashlib.sha256(json.dumps(told).encode()).hexdigest()

    @property
    def spec(self) -> ModelSpec:
        """The model, with what loading told."""
        return self._spec

    @property
    def fingerprint(self) -> str:
        """Names the vectors: the spec, and the content of the files that were loaded."""
        return self._fingerprint

    @property
    def dimension(self) -> int:
        """Columns of every matrix this encoder gives."""
        return self._spec.truncate_dimension or self._loaded.dimension

    @property
    def own_prompts(self) -> dict[str, str]:
        """The prompts that the model's own files name; never used unless they are put into the spec."""
        return dict(self._loaded.own_prompts)

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        """Embed with the query prompt."""
        return self._encode(texts, self._spec.query_prompt)

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        """Embed with the document prompt."""
        return self._encode(texts, self._spec.document_prompt)

    def count_tokens(self, texts: Sequence[str]) -> list[int] | None:
        """Tokens of each text with the document prompt and special tokens, uncut."""
        return self._loaded.count_tokens(texts, self._spec.document_prompt)

    def close(self) -> None:
        """Free the memory, if this encoder loaded the model itself."""
        if self._owns:
            self._loaded.close()

    def _encode(self, texts: Sequence[str], prompt: str) -> Encoded:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        failures = {row: BLANK for row, text in enumerate(texts) if not text.strip()}
        rows = [row for row in range(len(texts)) if row not in failures]
        if not rows:
            return Encoded(vectors, failures)
        wanted = [texts[row] for row in rows]
        counts = self._loaded.count_tokens(wanted, prompt) if self._spec.max_tokens else None
        raw = self._loaded.raw_vectors(wanted, prompt, counts)
        for bad in np.flatnonzero(~np.isfinite(raw).all(axis=1)):
            # Alone and without padding a text can come out well that did not in its batch.
            raw[bad] = self._loaded.raw_vectors([wanted[bad]], prompt)[0]
        finite: NDArray[np.bool_] = np.asarray(np.isfinite(raw).all(axis=1))
        unit, has_direction = self._finish(np.where(finite[:, None], raw, np.float32(0)))
        for index, row in enumerate(rows):
            if not finite[index]:
                failures[row] = NOT_A_NUMBER
            elif not has_direction[index]:
                failures[row] = NO_DIRECTION
            else:
                vectors[row] = unit[index]
        n_cut = sum(count > self._spec.max_tokens for count in counts or ())
        return Encoded(vectors, dict(sorted(failures.items())), n_cut)

    def _finish(self, raw: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Layer norm where the recipe has it, the Matryoshka cut, unit length; and which rows have a direction.

        nomic's recipe (model card): layer norm over the full vector, cut, normalise. Others: cut, normalise.
        """
        if self._spec.layer_norm_before_cut:
            mean = raw.mean(axis=1, keepdims=True, dtype=np.float32)
            variance = raw.var(axis=1, keepdims=True, dtype=np.float32)
            raw = (raw - mean) / np.sqrt(variance + np.float32(_LAYER_NORM_EPSILON))
        cut = raw[:, : self.dimension]
        lengths = np.linalg.norm(cut, axis=1, keepdims=True)
        has_direction = lengths[:, 0] > _SHORTEST
        return np.ascontiguousarray(cut / np.maximum(lengths, np.float32(_SHORTEST))), has_direction
