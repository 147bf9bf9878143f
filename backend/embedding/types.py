"""What the embedding room hands on: model descriptions, matrices, availability, and the Encoder seam."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]  # rows of unit length, C-contiguous, shape [n, dimension]

# "other": as the model's own files say (max, weighted mean, several at once); kept, never overridden.
Pooling = Literal["mean", "cls", "lasttoken", "static", "other", "endpoint"]


class Source(StrEnum):
    """Where a model's vectors come from."""

    HUB = "hub"
    FOLDER = "folder"
    PACKAGE = "package"  # weights inside an installed Python package
    ENDPOINT = "endpoint"  # an OpenAI-compatible /v1/embeddings


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """An embedding model as its authors say it is used. Never holds a key.

    Attributes:
        key: Name in the registry.
        source: Where it comes from.
        name: Hub id, folder path, package name, or the model name at an endpoint.
        revision: Pinned hub commit, sha256 of the package's weights, or "" for endpoints.
        base_url: For endpoints only.
        query_prompt: Text put before a query.
        document_prompt: Text put before a document or a hypothetical passage.
        pooling: How token vectors become one.
        dimension: Length of a full vector; 0 until a probe has told.
        dimensions: Matryoshka choices, the full one included; empty where cutting is not meant.
        truncate_dimension: The chosen cut, or None for the full vector.
        layer_norm_before_cut: nomic's recipe: layer norm over the full vector before the cut.
        max_tokens: Tokens read of a text; 0 means no limit (static tables).
        licence: SPDX id or a word on it.
        parameters: Rough size, for people.
        caution: A sentence the page shows beside the model; empty where none is due.
        facts_from: Where these facts come from.
    """

    key: str
    source: Source
    name: str
    revision: str = ""
    base_url: str = ""
    query_prompt: str = ""
    document_prompt: str = ""
    pooling: Pooling = "mean"
    dimension: int = 0
    dimensions: tuple[int, ...] = ()
    truncate_dimension: int | None = None
    layer_norm_before_cut: bool = False
    max_tokens: int = 0
    licence: str = ""
    parameters: str = ""
    caution: str = ""
    facts_from: str = ""

    @property
    def fingerprint(self) -> str:
        """sha256 over everything that changes a vector: the key's name and the words for people stay out."""
        told = {
            k: v
            for k, v in asdict(self).items()
            if k not in {"key", "licence", "parameters", "caution", "facts_from", "dimensions"}
        }
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """Plain data for the store and for exports."""
        return {**asdict(self), "source": str(self.source), "dimensions": list(self.dimensions)}

    @staticmethod
    def from_json(data: dict[str, Any]) -> ModelSpec:
        """The inverse of as_json."""
        return ModelSpec(**{**data, "source": Source(data["source"]), "dimensions": tuple(data["dimensions"])})


class AvailabilityState(StrEnum):
    """Whether a model can be used now."""

    READY = "ready"
    DOWNLOADABLE = "downloadable"  # on a hub, not on this machine
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Availability:
    """A model's state and, where it is not ready, the way to get it."""

    state: AvailabilityState
    how_to_get: str = ""


@dataclass(frozen=True, slots=True)
class Encoded:
    """Vectors of some texts.

    Attributes:
        vectors: Unit rows, shape [n_texts, dimension]; a failed text's row is zero.
        failures: Row -> why this text has no vector (NaN, server error, blank).
        n_cut: How many texts were longer than the model reads.
    """

    vectors: Matrix
    failures: dict[int, str] = field(default_factory=dict)
    n_cut: int = 0


@runtime_checkable
class Encoder(Protocol):
    """Turns texts into unit vectors, with the model's own query and document prompts.

    Every implementation passes ``tests/contract/test_encoders.py``.
    """

    @property
    def spec(self) -> ModelSpec:
        """The model, dimension filled in."""

    @property
    def fingerprint(self) -> str:
        """Names the vectors in caches: spec.fingerprint plus what only loading tells."""

    @property
    def dimension(self) -> int:
        """Columns of every matrix this encoder gives."""

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        """Embed with the query prompt. Blank texts are failures and are never sent to a server."""

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        """Embed with the document prompt. Blank texts are failures and are never sent to a server."""

    def count_tokens(self, texts: Sequence[str]) -> list[int] | None:
        """Tokens of each text with the document prompt and special tokens, uncut; None where only the server knows."""

    def close(self) -> None:
        """Free the memory."""
