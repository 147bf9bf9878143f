"""The chunks of a table of records, row by row: most rows are one chunk, and only long ones are cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from backend.corpus.chunking.checks import check_chunking, needed_tokenizer
from backend.corpus.chunking.documents import cut_text
from backend.corpus.files import Section
from backend.corpus.types import Chunking, ChunkStrategy, Tokenizer

if TYPE_CHECKING:
    import numpy as np

Row = tuple[Section, str]
RecordSpan = tuple[int, int, str, str, str]

_BATCH_ROWS = 4000
_BATCH_CHARS = 1_000_000


def chunk_records(texts: Iterator[Row], chunking: Chunking, tokenizer: Tokenizer | None = None) -> Iterator[RecordSpan]:
    """Cut the rows of a table, each on its own; a batch of rows is in memory at a time.

    Args:
        texts: Each row's section and its text.
        chunking: How to cut.
        tokenizer: Counts, where the chunking counts tokens; called once a batch.

    Yields:
        (start, end, place, record_id, text); start and end in the document's text, as the row's section has them.

    Raises:
        InputError: The chunking can't be used.
    """
    check_chunking(chunking)
    tokenizer = needed_tokenizer(chunking, tokenizer)
    for batch in _batches(texts):
        offsets = _offsets([text for _, text in batch], tokenizer)
        for (section, text), tokens in zip(batch, offsets, strict=True):
            n_units = len(text) if tokens is None else len(tokens)
            if chunking.strategy is ChunkStrategy.WHOLE or n_units <= chunking.size:
                spans = _whole(text)
            else:
                spans = cut_text(text, (), chunking, tokenizer, tokens)
            shift = section.start
            for start, end in spans:
                yield start + shift, end + shift, section.place, section.record_id, text[start:end]


def _whole(text: str) -> list[tuple[int, int]]:
    end = len(text.rstrip())
    return [(len(text) - len(text.lstrip()), end)] if end else []


def _batches(texts: Iterator[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    n_chars = 0
    for row in texts:
        batch.append(row)
        n_chars += len(row[1])
        if len(batch) >= _BATCH_ROWS or n_chars >= _BATCH_CHARS:
            yield batch
            batch, n_chars = [], 0
    if batch:
        yield batch


def _offsets(texts: list[str], tokenizer: Tokenizer | None) -> Iterator[np.ndarray | None]:
    import numpy as np

    if tokenizer is None:
        return iter([None] * len(texts))
    many = getattr(tokenizer, "offsets", None)
    if many is not None:
        found: list[np.ndarray | None] = many(texts)
        return iter(found)
    return (np.array(tokenizer.spans(text), np.int32).reshape(-1, 2) for text in texts)
