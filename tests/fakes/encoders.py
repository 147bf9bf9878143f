"""An encoder without a model: words hashed into a fixed number of places, so that shared words mean similar texts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from backend.embedding.types import Encoded, ModelSpec, Source

_WORD = re.compile(r"\w+")


class FakeEncoder:
    """Deterministic hashed bag of words, unit length; passes the Encoder contract.

    Args:
        key: Name of the model.
        dimension: Length of a vector.
        max_tokens: Words read of a text (its prompt included); 0 for no limit.
        query_prompt: Text put before a query.
        document_prompt: Text put before a document.
        salt: Another salt, another "model": same texts, other vectors.
        broken: Any text that holds this string comes back as a failure; empty: none does.
    """

    def __init__(
        self,
        key: str = "fake",
        *,
        dimension: int = 64,
        max_tokens: int = 0,
        query_prompt: str = "",
        document_prompt: str = "",
        salt: str = "",
        broken: str = "",
    ) -> None:
        self._spec = ModelSpec(
            key=key,
            source=Source.FOLDER,
            name=f"fake/{key}",
            revision=hashlib.sha256(f"{salt}\n{broken}".encode()).hexdigest(),
            query_prompt=query_prompt,
            document_prompt=document_prompt,
            pooling="static",
            dimension=dimension,
            max_tokens=max_tokens,
        )
        self._salt = salt
        self._broken = broken
        self.encoded_texts: list[str] = []  # every text that was really encoded, with its prompt
        self.closed = False

    @property
    def spec(self) -> ModelSpec:
        return replace(self._spec)

    @property
    def fingerprint(self) -> str:
        return self._spec.fingerprint

    @property
    def dimension(self) -> int:
        return self._spec.dimension

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        return self._encode(texts, self._spec.query_prompt)

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        return self._encode(texts, self._spec.document_prompt)

    def count_tokens(self, texts: Sequence[str]) -> list[int] | None:
        return [len(_WORD.findall(self._spec.document_prompt + text)) for text in texts]

    def close(self) -> None:
        self.closed = True

    def _encode(self, texts: Sequence[str], prompt: str) -> Encoded:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        failures: dict[int, str] = {}
        n_cut = 0
        limit = self._spec.max_tokens
        for row, text in enumerate(texts):
            if not text.strip():
                failures[row] = "The text is blank."
                continue
            self.encoded_texts.append(prompt + text)
            if self._broken and self._broken in text:
                failures[row] = "The model gave no usable vector (NaN)."
                continue
            words = _WORD.findall((prompt + text).lower()) or [text.strip()]
            if limit and len(words) > limit:
                n_cut += 1
                words = words[:limit]
            for word in words:
                digest = hashlib.sha256(f"{self._salt}\n{word}".encode("utf-8", "surrogatepass")).digest()
                vectors[row, int.from_bytes(digest[:8], "big") % self.dimension] += 1.0
            vectors[row] /= np.linalg.norm(vectors[row])
        return Encoded(vectors, failures, n_cut)
