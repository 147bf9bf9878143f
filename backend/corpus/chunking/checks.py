"""Refusing a chunking that can't be used, in words that say what to change."""

from __future__ import annotations

from backend.corpus.types import Chunking, ChunkStrategy, Tokenizer
from backend.errors import InputError


def check_chunking(chunking: Chunking) -> None:
    """Refuse a chunking that can't be used. Whole documents have no size, so nothing else is looked at there.

    Raises:
        InputError: Size below 1, overlap negative or not below the size, minimum negative or above the size.
    """
    if chunking.strategy is ChunkStrategy.WHOLE:
        return
    unit = "tokens" if chunking.counts_tokens else "characters"
    if chunking.size < 1:
        raise InputError(f"A chunk of {chunking.size} {unit} holds nothing.", hint="Choose a size of 1 or more.")
    if not 0 <= chunking.overlap < chunking.size:
        raise InputError(
            f"The overlap of {chunking.overlap} {unit} does not fit chunks of {chunking.size}.",
            hint="Choose an overlap of 0 or more that is smaller than the chunk size.",
        )
    if not 0 <= chunking.min_size <= chunking.size:
        raise InputError(
            f"The minimum of {chunking.min_size} {unit} does not fit chunks of {chunking.size}.",
            hint="Choose a minimum of 0 or more that is not larger than the chunk size.",
        )


def needed_tokenizer(chunking: Chunking, tokenizer: Tokenizer | None) -> Tokenizer | None:
    """The tokenizer where the chunking counts tokens, else None.

    Raises:
        InputError: It counts tokens, and there is no tokenizer.
    """
    if not chunking.counts_tokens:
        return None
    if tokenizer is None:
        raise InputError("Chunks are counted in tokens, but no tokenizer is given.", hint="Count characters instead.")
    return tokenizer
