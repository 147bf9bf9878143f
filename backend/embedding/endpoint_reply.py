"""Reading the reply of a ``/embeddings`` call, which may hold anything."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.errors import ProviderError, ProviderFault

Vector = NDArray[np.float64]
_LEAST_NORM = 1e-12


def read_rows(body: Any, n_texts: int, what: str) -> list[Any]:
    """One entry a text, in the order of the texts (servers may send them in another); None where one is missing.

    Args:
        body: The decoded body.
        n_texts: Texts that were sent.
        what: The endpoint, for messages.

    Raises:
        ProviderError: It can't be told which vector belongs to which text (BAD_REPLY).
    """
    rows = body.get("data", body.get("embeddings")) if isinstance(body, dict) else None
    if not isinstance(rows, list):
        raise ProviderError(
            f"{what} sent a reply without vectors.",
            fault=ProviderFault.BAD_REPLY,
            hint="Check that this model is an embedding model.",
        )
    indexes = [row.get("index") if isinstance(row, dict) else None for row in rows]
    whole = [i for i in indexes if isinstance(i, int) and not isinstance(i, bool) and 0 <= i < n_texts]
    if rows and len(whole) == len(rows) and len(set(whole)) == len(rows):
        placed: list[Any] = [None] * n_texts
        for index, row in zip(whole, rows, strict=True):
            placed[index] = _embedding(row)
        return placed
    # Servers that number nothing, or everything 0, send the vectors in order.
    if len(rows) != n_texts:
        raise ProviderError(
            f"{what} sent {len(rows)} vectors for {n_texts} texts, without telling which is whose.",
            fault=ProviderFault.BAD_REPLY,
        )
    return [_embedding(row) for row in rows]


def read_vector(value: Any) -> Vector | str:
    """A finite vector of some length, or the reason why this is none.

    Args:
        value: A list of numbers, or base64 of little-endian float32.
    """
    if value is None:
        return "The server sent no vector for this text."
    try:
        if isinstance(value, str):
            vector = np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").astype(np.float64)
        else:
            vector = np.asarray(value, dtype=np.float64)
    except (ValueError, TypeError, OverflowError, binascii.Error):
        return "The server sent something that is no vector for this text."
    if vector.ndim != 1 or vector.size == 0:
        return "The server sent something that is no vector for this text."
    if not np.isfinite(vector).all():
        return "The server sent a vector with NaN, null or infinity in it for this text."
    return vector


def unit(vector: Vector) -> Vector | str:
    """The vector brought to length 1, or the reason why it can't be."""
    largest = float(np.abs(vector).max())
    if largest < _LEAST_NORM:
        return "The server sent a vector of zeros for this text: it has no direction."
    scaled = vector / largest  # first to size: squares of huge numbers overflow
    return np.asarray(scaled / np.linalg.norm(scaled), dtype=np.float64)


def cut(vector: Vector, dimension: int, *, layer_norm: bool) -> Vector:
    """The first ``dimension`` numbers (Matryoshka), after nomic's layer norm where the model's authors say so."""
    if vector.size <= dimension:
        return vector
    if layer_norm:
        vector = (vector - vector.mean()) / np.sqrt(vector.var() + 1e-5)
    return vector[:dimension]


def _embedding(row: Any) -> Any:
    return row.get("embedding") if isinstance(row, dict) else row
