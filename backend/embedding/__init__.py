"""The model registry, encoders behind one seam, and the vector cache. Importing this imports no torch."""

from backend.embedding.access import availability, download
from backend.embedding.builtin import BUILTIN_MODELS, OFFLINE_DEFAULTS, SEED_NAMES
from backend.embedding.local import LocalEncoder
from backend.embedding.model_files import changeable_content, tokenizer_path
from backend.embedding.pool import EncoderPool
from backend.embedding.probe import probe_local, probe_model
from backend.embedding.registry import ModelRegistry
from backend.embedding.types import (
    Availability,
    AvailabilityState,
    Encoded,
    Encoder,
    Matrix,
    ModelSpec,
    Source,
)
from backend.embedding.vectors import VectorCache

__all__ = [
    "BUILTIN_MODELS",
    "OFFLINE_DEFAULTS",
    "SEED_NAMES",
    "Availability",
    "AvailabilityState",
    "Encoded",
    "Encoder",
    "EncoderPool",
    "LocalEncoder",
    "Matrix",
    "ModelRegistry",
    "ModelSpec",
    "Source",
    "VectorCache",
    "availability",
    "changeable_content",
    "download",
    "probe_local",
    "probe_model",
    "tokenizer_path",
]
