"""Indexes by content: built once a corpus version and model, kept on disk, mapped into memory."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from backend.corpus.types import Chunk
from backend.embedding.types import Encoder
from backend.embedding.vectors import VectorCache
from backend.errors import UnavailableError
from backend.retrieval.index import FaissIndex
from backend.retrieval.types import VectorIndex
from backend.store import FileStore, sha256_hex, written_whole

Progress = Callable[[str, int, int], None]
_MAX_OPEN = 16


def _key(version_fingerprint: str, encoder_fingerprint: str) -> str:
    return sha256_hex(f"{version_fingerprint}|{encoder_fingerprint}")


def staged(progress: Progress | None, encoder: Encoder) -> Callable[[int, int], None] | None:
    """What the vector cache tells, with the words for people."""
    if progress is None:
        return None
    return lambda n_done, n_items: progress(f"Embedding with {encoder.spec.key}", n_done, n_items)


@dataclass(frozen=True, slots=True)
class CorpusIndex:
    """An index over a corpus version under one encoder.

    Attributes:
        index: The vectors that there are.
        failures: Chunk id -> why it has no vector.
        n_cut: Chunks longer than the model reads; None where only the server knows.
    """

    index: VectorIndex
    failures: dict[str, str]
    n_cut: int | None


class IndexStore:
    """Builds and keeps indexes.

    Args:
        files: Where they are kept.
        vectors: Where vectors come from.
    """

    def __init__(self, files: FileStore, vectors: VectorCache) -> None:
        self._files = files
        self._vectors = vectors
        self._open: OrderedDict[str, CorpusIndex] = OrderedDict()
        self._lock = threading.Lock()

    def index_for(
        self,
        version_fingerprint: str,
        chunks: Callable[[], Sequence[Chunk]],
        encoder: Encoder,
        *,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> CorpusIndex:
        """The index of a corpus version under an encoder, built if it isn't there yet.

        Args:
            version_fingerprint: Names the ordered chunks.
            chunks: Gives them when they are needed.
            encoder: The model.
            progress: Told (stage, done, total) while building.
            cancelled: Asked between batches.

        Raises:
            UnavailableError: No chunk could be embedded at all.
            ProviderError: The embedding endpoint failed for every text.
            CancelledError: Stopped; finished vectors are kept.
        """
        key = _key(version_fingerprint, encoder.fingerprint)
        with self._lock:
            if key in self._open:
                self._open.move_to_end(key)
                return self._open[key]
        found = self._load(key) or self._build(key, chunks(), encoder, progress, cancelled)
        with self._lock:
            self._open[key] = found
            while len(self._open) > _MAX_OPEN:
                self._open.popitem(last=False)
        return found

    def forget(self, version_fingerprints: Collection[str], encoder_fingerprints: Collection[str]) -> None:
        """Remove the indexes of corpus versions that are gone."""
        for version in version_fingerprints:
            for encoder in encoder_fingerprints:
                key = _key(version, encoder)
                with self._lock:
                    self._open.pop(key, None)
                path = self._files.path("indexes", f"{key}.faiss")
                for part in path.parent.glob(f"{key}.*"):
                    part.unlink(missing_ok=True)

    def _load(self, key: str) -> CorpusIndex | None:
        path = self._files.path("indexes", f"{key}.faiss")
        facts_path = path.with_suffix(".json")
        if not (path.exists() and facts_path.exists()):
            return None
        try:
            facts = json.loads(facts_path.read_text(encoding="utf-8"))
            if facts["failures"]:
                return None  # built anew: vectors that there are come from the cache, only failed texts are tried
            return CorpusIndex(FaissIndex.load(path), {}, facts["n_cut"])
        except (OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError):
            return None  # damaged, so built anew from the cached vectors

    def _build(
        self,
        key: str,
        chunks: Sequence[Chunk],
        encoder: Encoder,
        progress: Progress | None,
        cancelled: Callable[[], bool] | None,
    ) -> CorpusIndex:
        encoded = self._vectors.document_vectors(
            encoder, [chunk.text for chunk in chunks], progress=staged(progress, encoder), cancelled=cancelled
        )
        good = np.array([n for n in range(len(chunks)) if n not in encoded.failures], dtype=np.int64)
        failures = {chunks[row].chunk_id: why for row, why in encoded.failures.items()}
        if not len(good):
            why = next(iter(failures.values()), "the corpus holds no chunk")
            raise UnavailableError(f"{encoder.spec.key} could not embed any chunk: {why}.")
        index = FaissIndex.build(encoded.vectors[good] if failures else encoded.vectors, good)
        n_cut = None if encoder.count_tokens([]) is None else encoded.n_cut
        path = self._files.path("indexes", f"{key}.faiss")
        index.save(path)
        with written_whole(path.with_suffix(".json")) as temporary:
            temporary.write_text(json.dumps({"failures": failures, "n_cut": n_cut}), encoding="utf-8")
        return CorpusIndex(index, failures, n_cut)
