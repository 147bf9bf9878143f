"""An embedding model behind an OpenAI-compatible ``/v1/embeddings``: Ollama, TEI, vLLM, llama.cpp, OpenAI."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from pydantic import SecretStr

from backend.embedding.endpoint_reply import Vector, cut, read_rows, read_vector, unit
from backend.embedding.types import Encoded, ModelSpec
from backend.errors import InputError, ProviderError, ProviderFault
from backend.llm import Provider, normalise_base_url
from backend.settings import Settings
from backend.store import storable

_PLAIN_TEXTS = ("The harbour master writes the tide table.", "Basalt cools into six-sided columns.")
_BLANK = "The text is blank."
# Faults that may lie in one text of a batch; all others are the server's or the key's, and no split helps.
_OF_A_TEXT = frozenset(
    {
        ProviderFault.SERVER_ERROR,
        ProviderFault.BAD_REQUEST,
        ProviderFault.CONTEXT_LENGTH,
        ProviderFault.CONTENT_FILTER,
        ProviderFault.BAD_REPLY,
    }
)
_OVERLOADED = frozenset({502, 503, 504, 529})
# After so many lost texts in a row a plain sentence is tried, to tell bad texts from a server that fails.
_LOST_IN_A_ROW = 8


class EndpointEncoder:
    """Implements Encoder over HTTP; safe to share between threads.

    Texts go out in batches with the model's own prompt before each. A batch that fails is split in halves until
    only the text at fault is lost; a server that fails for a plain sentence too is an error.

    Args:
        spec: Source ENDPOINT; a dimension of 0 is found out first, by a probe.
        api_key: May be None or empty.
        settings: Batch size, time limit and repeats.

    Raises:
        InputError: The address, name or key can't be used.
        ProviderError: The probe failed.
    """

    def __init__(self, spec: ModelSpec, api_key: SecretStr | None, settings: Settings) -> None:
        if not spec.name.strip():
            raise InputError(f"{spec.key or 'The endpoint'}: no model is named.", hint="Give the name it has there.")
        if not spec.dimension:
            spec = probe_endpoint(spec, api_key, settings)
        self._spec = spec
        self._batch_size = settings.encode_batch_size
        self._provider = _provider(spec, api_key, settings)
        self._name = f"The embedding model {spec.name} at {self._provider.base_url}"
        self._lost_in_a_row = _LOST_IN_A_ROW  # until the first success every loss is doubted
        self._lock = threading.Lock()

    @property
    def spec(self) -> ModelSpec:
        """The model, dimension filled in."""
        return self._spec

    @property
    def fingerprint(self) -> str:
        """The spec's: an endpoint tells nothing more about what stands behind it."""
        return hashlib.sha256(f"endpoint {self._spec.fingerprint}".encode()).hexdigest()

    @property
    def dimension(self) -> int:
        """Columns of every matrix."""
        return self._spec.truncate_dimension or self._spec.dimension

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        """Embed with the query prompt.

        Raises:
            ProviderError: The server failed, not one text.
            InputError: It sends vectors of another dimension than the spec's.
        """
        return self._encode(texts, self._spec.query_prompt)

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        """Embed with the document prompt. Raises as ``encode_queries`` does."""
        return self._encode(texts, self._spec.document_prompt)

    def count_tokens(self, texts: Sequence[str]) -> list[int] | None:
        """None: only the server knows its tokenizer, and what it cuts."""
        return None

    def close(self) -> None:
        """Close idle connections."""
        self._provider.close()

    def _encode(self, texts: Sequence[str], prompt: str) -> Encoded:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        failures = {row: _BLANK for row, text in enumerate(texts) if not text.strip()}
        rows = [row for row in range(len(texts)) if row not in failures]
        for start in range(0, len(rows), self._batch_size):
            batch = rows[start : start + self._batch_size]
            results = self._embed_or_split([storable(prompt + texts[row]) for row in batch], whole=True)
            for row, result in zip(batch, results, strict=True):
                if isinstance(result, str):
                    failures[row] = result
                else:
                    vectors[row] = result
        return Encoded(vectors, dict(sorted(failures.items())))

    def _embed_or_split(self, texts: list[str], *, whole: bool) -> list[Vector | str]:
        """A unit vector or a reason a text. Sends at most two requests a text, and a plain sentence now and then."""
        # A single text that was asked for alone is repeated after a 500; a batch is split, which asks again anyway.
        alone = whole and len(texts) == 1
        try:
            results = self._embed(texts, never_repeat=() if alone else (500,))
        except ProviderError as error:
            if error.fault not in _OF_A_TEXT or error.status in _OVERLOADED or "dimensions" in str(error):
                raise
            if len(texts) > 1:
                half = len(texts) // 2
                parts = (texts[:half], texts[half:])
                return [result for part in parts for result in self._embed_or_split(part, whole=False)]
            self._lost_one(error)
            return [f"{error.message}"]
        with self._lock:
            self._lost_in_a_row = 0
        return results

    def _lost_one(self, error: ProviderError) -> None:
        """Count a lost text; where the server may be at fault, try a plain sentence, and raise if that fails too."""
        with self._lock:
            self._lost_in_a_row += 1
            doubtful = self._lost_in_a_row >= _LOST_IN_A_ROW
        if not doubtful:
            return
        try:
            self._embed([_PLAIN_TEXTS[0]], never_repeat=(500,))
        except ProviderError:
            raise error from None
        with self._lock:
            self._lost_in_a_row = 0

    def _embed(self, texts: list[str], *, never_repeat: tuple[int, ...]) -> list[Vector | str]:
        raw = _ask(self._provider, self._spec, texts, never_repeat=never_repeat)
        return [vector if isinstance(vector, str) else self._fitted(vector) for vector in raw]

    def _fitted(self, vector: Vector) -> Vector | str:
        # Servers that do not know the parameter ``dimensions`` send the full vector: cut it here, to the same effect.
        if vector.size not in {self.dimension, self._spec.dimension}:
            raise InputError(
                f"{self._name} sends vectors of {vector.size} numbers, not of {self.dimension}.",
                hint="Another model answers there by this name: add it again under a new key.",
            )
        return unit(cut(vector, self.dimension, layer_norm=self._spec.layer_norm_before_cut))


def probe_endpoint(spec: ModelSpec, api_key: SecretStr | None, settings: Settings) -> ModelSpec:
    """Embed two plain sentences at an endpoint, and fill in the dimension and the address in its normal form.

    Raises:
        InputError: The address, the name, the key or the cut can't be right.
        ProviderError: The endpoint failed, or sends no usable vectors.
    """
    if not spec.name.strip():
        raise InputError("Which model? Give the name that it has at the endpoint.")
    spec = replace(spec, base_url=normalise_base_url(spec.base_url), name=spec.name.strip())
    full = replace(spec, truncate_dimension=None)
    provider = _provider(spec, api_key, settings)
    try:
        vectors = _ask(provider, full, [storable(spec.document_prompt + text) for text in _PLAIN_TEXTS])
        problems = [vector for vector in vectors if isinstance(vector, str)]
        if problems:
            raise ProviderError(
                f"{provider.what} answers, but can't embed a plain sentence with {spec.name}: {problems[0]}",
                fault=ProviderFault.BAD_REPLY,
                hint="Check that this model is an embedding model.",
            )
        sizes = {vector.size for vector in vectors if not isinstance(vector, str)}
        if len(sizes) != 1:
            raise ProviderError(
                f"{provider.what} sends vectors of different lengths: {sorted(sizes)}.", fault=ProviderFault.BAD_REPLY
            )
        dimension = sizes.pop()
        wanted = spec.truncate_dimension
        if wanted is not None and not 0 < wanted <= dimension:
            raise InputError(f"{spec.name} has vectors of {dimension} numbers: they can't be cut to {wanted}.")
        if spec.dimension and spec.dimension != dimension:
            raise InputError(f"{spec.name} sends vectors of {dimension} numbers, not of {spec.dimension}.")
        if wanted is not None:
            _ask(provider, spec, [storable(spec.document_prompt + _PLAIN_TEXTS[0])])
    finally:
        provider.close()
    return replace(
        spec, dimension=dimension, pooling="endpoint", facts_from=spec.facts_from or "a call to the endpoint"
    )


def _provider(spec: ModelSpec, api_key: SecretStr | None, settings: Settings) -> Provider:
    return Provider(
        normalise_base_url(spec.base_url),
        api_key or SecretStr(""),
        timeout_s=settings.llm_timeout_s,
        max_retries=settings.llm_max_retries,
        what="The embedding endpoint",
    )


def _ask(
    provider: Provider, spec: ModelSpec, texts: list[str], *, never_repeat: tuple[int, ...] = ()
) -> list[Vector | str]:
    """One request: a raw vector, or the reason why there is none, for each text."""
    body: dict[str, object] = {"model": spec.name, "input": texts}
    if spec.truncate_dimension is not None:
        body["dimensions"] = spec.truncate_dimension
    # No encoding_format: every server's default is a list of numbers, and some refuse the parameter.
    reply = provider.post("/embeddings", body, never_repeat=never_repeat)
    return [read_vector(value) for value in read_rows(reply, len(texts), provider.what)]
