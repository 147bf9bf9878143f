"""The vector cache: a text is embedded once by a model, whatever corpus it stands in, and survives any crash."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, select
from sqlalchemy.dialects import sqlite

from backend.embedding.types import Encoded, Encoder, Matrix, Source
from backend.errors import CancelledError
from backend.store import Database, FileStore, sha256_hex, written_whole
from backend.store.tables import VectorRow

_QUERY_SIZE = 900  # values in one IN (…): below SQLite's old bound of 999
_QUICK_S, _SLOW_S = 0.5, 3.0  # a batch is stored about this often: grow below, shrink above
_LARGEST_BATCH = 2048
_WAIT_S = 0.2


@dataclass(frozen=True, slots=True)
class _Space:
    """Vectors of one encoder for texts of one role: queries and documents have prompts of their own.

    Attributes:
        encoder: The encoder.
        name: Stands for it and the role in the table.
        encode: Its way to embed texts in this role.
    """

    encoder: Encoder
    name: str
    encode: Callable[[Sequence[str]], Encoded]


def _documents(encoder: Encoder) -> _Space:
    return _Space(encoder, encoder.fingerprint, encoder.encode_documents)


def _queries(encoder: Encoder) -> _Space:
    return _Space(encoder, sha256_hex(f"queries of {encoder.fingerprint}"), encoder.encode_queries)


class VectorCache:
    """Vectors by encoder fingerprint, role (query or document) and text.

    Args:
        database: Knows which vectors are stored, and where.
        files: Holds them, as ``.npy`` shards.
        batch_size: Texts embedded before the first store; grows for fast models on this machine.
    """

    def __init__(self, database: Database, files: FileStore, batch_size: int) -> None:
        self._database = database
        self._files = files
        self._batch_size = batch_size
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._state = threading.Lock()

    def document_vectors(
        self,
        encoder: Encoder,
        texts: Sequence[str],
        *,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Encoded:
        """Vectors of documents, from the cache where they are known, else embedded and stored batch by batch.

        Equal texts are embedded once. Failures are not stored, so that the next call tries them again.

        Args:
            encoder: Any encoder.
            texts: In the order of the rows wanted.
            progress: Told (texts done, texts in all) after each batch.
            cancelled: Asked before each batch.

        Returns:
            Unit float32 rows, shape [len(texts), encoder.dimension]; ``n_cut`` counts rows, cached ones included.

        Raises:
            CancelledError: ``cancelled`` said so; what was embedded is stored.
        """
        return self._vectors(_documents(encoder), encoder.fingerprint, texts, progress, cancelled)

    def query_vectors(self, encoder: Encoder, texts: Sequence[str]) -> Encoded:
        """Vectors of queries: from the cache where an endpoint was paid for them, else embedded now.

        A local model's queries are embedded each time: that is free and takes milliseconds, about as long as the
        cache would need to look them up and to store them. Failures are not stored.

        Args:
            encoder: Any encoder.
            texts: In the order of the rows wanted.

        Returns:
            Unit float32 rows, shape [len(texts), encoder.dimension].
        """
        return self._few(_queries(encoder), texts)

    def passage_vectors(self, encoder: Encoder, texts: Sequence[str]) -> Encoded:
        """Vectors of the documents that a query is searched by (HyDE), cached or not as ``query_vectors``.

        They are ``document_vectors``, got without waiting for a corpus that the same encoder embeds just now.
        """
        return self._few(_documents(encoder), texts)

    def forget(self, text_sha256s: Collection[str]) -> None:
        """Remove what is kept of some texts, under every encoder and role; a shard without them is written anew.

        A vector tells much of its text (Morris et al. 2023, arXiv 2310.06816), so it goes with the text.
        """
        wanted = sorted(text_sha256s)
        shards: set[tuple[str, str]] = set()
        for start in range(0, len(wanted), _QUERY_SIZE):
            with self._database.session() as session:  # short: others write too
                gone = VectorRow.text_sha256.in_(wanted[start : start + _QUERY_SIZE])
                shards.update(session.execute(select(VectorRow.encoder_fingerprint, VectorRow.shard).where(gone)))
                session.execute(delete(VectorRow).where(gone))
        for space, shard in sorted(shards):
            self._without_forgotten(space, shard)

    def spaces(self) -> list[str]:
        """What encoders and roles there are vectors of, by the names that stand for them."""
        with self._database.session() as session:
            return list(session.scalars(select(VectorRow.encoder_fingerprint).distinct()))

    def _without_forgotten(self, space: str, shard: str) -> None:
        """Write a shard anew with the rows that are still known, or remove it."""
        path = self._files.path("vectors", f"{shard}.npy")
        entries = select(VectorRow.text_sha256, VectorRow.row).where(
            VectorRow.encoder_fingerprint == space, VectorRow.shard == shard
        )
        with self._database.session() as session:
            kept = sorted(session.execute(entries), key=lambda entry: entry[1])
        if kept:
            try:
                matrix = np.ascontiguousarray(
                    np.load(path, allow_pickle=False, mmap_mode="r")[[row for _, row in kept]]
                )
            except (OSError, ValueError, EOFError, IndexError):
                return  # gone or damaged: its rows count as not known
            if self._put(space, [digest for digest, _ in kept], matrix) == path:
                return  # somebody stored the same texts again meanwhile
        path.unlink(missing_ok=True)

    def _few(self, space: _Space, texts: Sequence[str]) -> Encoded:
        if space.encoder.spec.source is not Source.ENDPOINT:
            return space.encode(texts)
        # Equal requests wait for each other, others seldom do; the number of locks stays bounded.
        stripe = sha256_hex("\0".join(texts))[:2]
        return self._vectors(space, f"{space.name} {stripe}", texts, None, None)

    def _vectors(
        self,
        space: _Space,
        lock: str,
        texts: Sequence[str],
        progress: Callable[[int, int], None] | None,
        cancelled: Callable[[], bool] | None,
    ) -> Encoded:
        encoder = space.encoder
        with self._alone(lock, cancelled):
            rows_of: dict[str, list[int]] = {}
            for row, text in enumerate(texts):
                rows_of.setdefault(text, []).append(row)
            digests = {text: sha256_hex(text) for text in rows_of}
            vectors = np.zeros((len(texts), encoder.dimension), dtype=np.float32)
            failures: dict[int, str] = {}

            known = self._stored(space, set(digests.values()))
            missing = []
            for text, rows in rows_of.items():
                found = known.get(digests[text])
                if found is None:
                    missing.append(text)
                else:
                    vectors[rows] = found
            n_done = len(texts) - sum(len(rows_of[text]) for text in missing)
            if progress:
                progress(n_done, len(texts))

            n_cut = 0
            for batch, encoded in self._encoded(space, missing, cancelled):
                self._store(space, [digests[text] for text in batch], encoded)
                for index, text in enumerate(batch):
                    rows = rows_of[text]
                    if index in encoded.failures:
                        failures.update(dict.fromkeys(rows, encoded.failures[index]))
                    else:
                        vectors[rows] = encoded.vectors[index]
                    n_done += len(rows)
                n_cut += encoded.n_cut
                if progress:
                    progress(n_done, len(texts))
            counted = _count_cut(encoder, rows_of)
            return Encoded(vectors, dict(sorted(failures.items())), n_cut if counted is None else counted)

    @contextmanager
    def _alone(self, name: str, cancelled: Callable[[], bool] | None) -> Iterator[None]:
        """One caller a lock, so that two jobs over the same texts don't pay twice: the second finds the first's."""
        with self._state:
            lock = self._locks[name]
        while not lock.acquire(timeout=_WAIT_S):
            _stop_if(cancelled)
        try:
            yield
        finally:
            lock.release()

    def _encoded(
        self, space: _Space, texts: list[str], cancelled: Callable[[], bool] | None
    ) -> Iterator[tuple[list[str], Encoded]]:
        """Longest first: texts of like length share a batch, and what needs most memory comes first."""
        pending = sorted(texts, key=len, reverse=True)
        size, start = self._batch_size, 0
        # What a server was paid for is stored request by request: the next one may fail.
        grows = space.encoder.spec.source is not Source.ENDPOINT
        while start < len(pending):
            _stop_if(cancelled)
            batch = pending[start : start + size]
            began = time.monotonic()
            encoded = space.encode(batch)
            yield batch, encoded
            took_s = time.monotonic() - began
            start += len(batch)
            if took_s < _QUICK_S and grows:
                size = min(size * 2, max(_LARGEST_BATCH, self._batch_size))
            elif took_s > _SLOW_S:
                size = max(size // 2, self._batch_size)

    def _stored(self, space: _Space, digests: set[str]) -> dict[str, NDArray[np.float32]]:
        """Vectors that are known; a shard that is gone or damaged counts as not known, and is written anew."""
        places: dict[str, list[tuple[str, int]]] = defaultdict(list)
        wanted = sorted(digests)
        with self._database.session() as session:
            for start in range(0, len(wanted), _QUERY_SIZE):
                query = select(VectorRow.text_sha256, VectorRow.shard, VectorRow.row).where(
                    VectorRow.encoder_fingerprint == space.name,
                    VectorRow.text_sha256.in_(wanted[start : start + _QUERY_SIZE]),
                )
                for digest, shard, row in session.execute(query):
                    places[shard].append((digest, row))
        known: dict[str, NDArray[np.float32]] = {}
        for shard, entries in places.items():
            matrix = _load_shard(self._files.path("vectors", f"{shard}.npy"), space.encoder.dimension)
            if matrix is None:
                continue
            rows = [(digest, row) for digest, row in entries if row < len(matrix)]
            block = np.asarray(matrix[[row for _, row in rows]])
            known.update({digest: vector for (digest, _), vector in zip(rows, block, strict=True)})
        return known

    def _store(self, space: _Space, digests: list[str], encoded: Encoded) -> None:
        kept = [index for index in range(len(digests)) if index not in encoded.failures]
        if not kept:
            return
        matrix: Matrix = np.ascontiguousarray(encoded.vectors[kept], dtype=np.float32)
        self._put(space.name, [digests[index] for index in kept], matrix)

    def _put(self, space: str, digests: Sequence[str], matrix: Matrix) -> Path:
        """Write a shard and its rows; return where it lies."""
        shard = sha256_hex(space.encode() + matrix.tobytes())
        path = self._files.path("vectors", f"{shard}.npy")
        with (
            written_whole(path) as temporary,
            temporary.open("wb") as file,
        ):
            np.save(file, matrix, allow_pickle=False)
        rows = [
            {"encoder_fingerprint": space, "text_sha256": digest, "shard": shard, "row": row}
            for row, digest in enumerate(digests)
        ]
        rows.sort(key=lambda row: str(row["text_sha256"]))  # one order for all, so that no two writers deadlock
        insert: Any = sqlite.insert(VectorRow)
        if self._database.dialect != "sqlite":
            from sqlalchemy.dialects import postgresql  # costs every start 50 ms, and few use it

            insert = postgresql.insert(VectorRow)
        # Whoever comes later wins: both wrote the same vector, and the row of a lost shard must be replaced.
        statement = insert.on_conflict_do_update(
            index_elements=["encoder_fingerprint", "text_sha256"],
            set_={"shard": insert.excluded.shard, "row": insert.excluded.row},
        )
        with self._database.session() as session:
            session.execute(statement, rows)
        return path


def _load_shard(path: Path, dimension: int) -> NDArray[np.float32] | None:
    try:
        matrix = np.load(path, allow_pickle=False, mmap_mode="r")
    except (OSError, ValueError, EOFError):
        return None
    usable = matrix.ndim == 2 and matrix.shape[1] == dimension and matrix.dtype == np.float32
    return matrix if usable else None


def _count_cut(encoder: Encoder, rows_of: dict[str, list[int]]) -> int | None:
    """How many rows are longer than the model reads, cached or not; None where the encoder must tell."""
    limit = encoder.spec.max_tokens
    if not limit:
        return None
    # Blank texts are never read, so nothing of them is cut.
    texts = [text for text in rows_of if text.strip()]
    counts = encoder.count_tokens(texts)
    if counts is None:
        return None
    return sum(len(rows_of[text]) for text, count in zip(texts, counts, strict=True) if count > limit)


def _stop_if(cancelled: Callable[[], bool] | None) -> None:
    if cancelled is not None and cancelled():
        raise CancelledError("Embedding was stopped.", hint="What was embedded is kept; start again to go on.")
