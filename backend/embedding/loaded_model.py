"""A local model in memory: texts in, raw float32 vectors out. Prompts, cuts and unit length are the encoder's work."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.embedding.load_report import missing_weights
from backend.embedding.model_files import ModelFiles, find_files, read_json
from backend.embedding.types import ModelSpec, Pooling
from backend.errors import RagduelError, UnavailableError
from backend.store import storable

# While it loads, transformers changes torch's default dtype and module initialisers for the whole process, so that
# two loads at once corrupt each other (hindsight#2162). One load at a time in a process, whoever asks.
LOAD_LOCK = threading.Lock()
_TOKENS_A_TEXT = 512  # batch_size texts of this length fill a batch; longer texts go in smaller batches
_STATIC_BATCH = 1024
_NO_LIMIT = 1_000_000  # tokenizers without a limit say 1e30
_KNOWN_POOLINGS: dict[Any, Pooling] = {"mean": "mean", "cls": "cls", "lasttoken": "lasttoken"}


def load_model(spec: ModelSpec, *, batch_size: int = 32, torch_threads: int = 0) -> LoadedModel:
    """Load a hub, folder or package model from this machine; one load at a time in the whole process.

    Weights are widened to float32 at load: half precision overflows to NaN on some texts (fp16) and is slow on
    processors without it, and the same numbers come out on every machine.

    Args:
        spec: The model. Its pooling replaces the folder's own, unless it says "static" or "other".
        batch_size: Texts of about 512 tokens that are encoded at once.
        torch_threads: Threads for torch; 0 for torch's own default.

    Raises:
        UnavailableError: The model isn't here, isn't what the spec says, or can't be loaded.
    """
    files = find_files(spec)
    with LOAD_LOCK:
        try:
            _prepare_torch(torch_threads)
            model = _static_model(files) if files.static_table else _sentence_transformer(files)
            loaded = LoadedModel(spec, files.content_id, model, batch_size)
        except RagduelError:
            raise
        except Exception as error:  # a folder can be broken in any way; what people need is the reason
            raise UnavailableError(
                f"The model {spec.name} can't be loaded: {type(error).__name__}: {str(error)[:300]}",
                hint=_hint(files),
            ) from error
    if spec.dimension and loaded.dimension != spec.dimension:
        raise UnavailableError(
            f"{spec.name} gives {loaded.dimension} dimensions where {spec.dimension} were expected.",
            hint="These aren't the files of the model described; download them anew.",
        )
    return loaded


class LoadedModel:
    """A sentence-transformers model with a lock round its use. Made by ``load_model``.

    Attributes:
        content_id: Names the files that it was loaded from.
        dimension: Length of a full vector.
        max_tokens: Tokens read of a text, special tokens included; 0 for no limit.
        pooling: As it works now.
        own_prompts: The prompts that the model's own files name, by name.
    """

    def __init__(self, spec: ModelSpec, content_id: str, model: Any, batch_size: int) -> None:
        self.content_id = content_id
        self._model = model
        self._batch_size = batch_size
        self._lock = threading.RLock()
        self.own_prompts = {name: text for name, text in dict(model.prompts).items() if text}
        self.is_static = _is_static(model)
        self.pooling: Pooling = "static" if self.is_static else _set_pooling(model, spec)
        if not self.is_static and spec.max_tokens:
            model.max_seq_length = spec.max_tokens
        own_limit = None if self.is_static else model.max_seq_length
        self.max_tokens = int(own_limit) if own_limit is not None and own_limit < _NO_LIMIT else 0
        self._counter = _counting_tokenizer(model)
        self.dimension = int(self.raw_vectors(["a"], "").shape[1])

    def raw_vectors(
        self, texts: Sequence[str], prompt: str, n_tokens: Sequence[int] | None = None
    ) -> NDArray[np.float32]:
        """Encode texts behind a prompt.

        Args:
            texts: Not blank.
            prompt: Put before each text; the model's own prompts are never used.
            n_tokens: What ``count_tokens`` said of these texts, where the caller knows already.

        Returns:
            Shape [len(texts), dimension], of any length, perhaps with NaN.
        """
        texts = [storable(text) for text in texts]
        vectors: NDArray[np.float32] | None = None
        with self._lock:
            if self._model is None:
                raise UnavailableError("The model was taken out of memory.", hint="Try again.")
            for rows in self._batches(texts, prompt, n_tokens):
                found = self._model.encode(
                    [texts[row] for row in rows],
                    prompt=prompt,  # a string, so that no default prompt steps in
                    batch_size=len(rows),
                    convert_to_tensor=True,
                    normalize_embeddings=False,
                    show_progress_bar=False,
                )
                block = found.float().cpu().numpy()
                if vectors is None:
                    vectors = np.empty((len(texts), block.shape[1]), dtype=np.float32)
                vectors[rows] = block
        return np.empty((0, self.dimension), dtype=np.float32) if vectors is None else vectors

    def count_tokens(self, texts: Sequence[str], prompt: str) -> list[int]:
        """Tokens of each text behind the prompt, special tokens included, uncut."""
        prompted = [prompt + storable(text) for text in texts]
        if self._counter is not None:
            encodings = self._counter.encode_batch_fast(prompted, add_special_tokens=not self.is_static)
            return [len(encoding.ids) for encoding in encodings]
        with self._lock:
            if self._model is None:
                raise UnavailableError("The model was taken out of memory.", hint="Try again.")
            return [len(ids) for ids in self._model.tokenizer(prompted, truncation=False, padding=False)["input_ids"]]

    def close(self) -> None:
        """Free the memory; waits for an encoding that is under way."""
        import torch

        with self._lock:
            self._model = None
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _batches(self, texts: list[str], prompt: str, n_tokens: Sequence[int] | None) -> Iterator[list[int]]:
        """Rows in batches of like length, longest first, bounded by tokens so that long texts don't fill the memory."""
        if self.is_static:
            yield from (
                list(range(start, min(start + _STATIC_BATCH, len(texts))))
                for start in range(0, len(texts), _STATIC_BATCH)
            )
            return
        counts = self.count_tokens(texts, prompt) if n_tokens is None else n_tokens
        lengths = [min(count, self.max_tokens) if self.max_tokens else count for count in counts]
        order = sorted(range(len(texts)), key=lambda row: -lengths[row])
        start = 0
        while start < len(order):
            room = self._batch_size * _TOKENS_A_TEXT // max(lengths[order[start]], 1)
            size = max(1, min(self._batch_size, room))
            yield order[start : start + size]
            start += size


def _prepare_torch(threads: int) -> None:
    import torch
    from transformers.utils import logging

    if threads and torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]


def _sentence_transformer(files: ModelFiles) -> Any:
    from sentence_transformers import SentenceTransformer

    with missing_weights() as missing:
        model = SentenceTransformer(
            str(files.folder),
            trust_remote_code=False,
            local_files_only=True,
            # Pickled weights can run code: safetensors only.
            model_kwargs={"dtype": "float32", "use_safetensors": True},
        )
    if missing:
        raise UnavailableError(
            f"The folder {files.folder} lacks weights of its own model, {len(missing)} in all: {min(missing)}, …",
            hint="Get the files anew; random numbers would stand in for what is missing.",
        )
    return model.float().eval()


def _static_model(files: ModelFiles) -> Any:
    """A table of token vectors, with Model2Vec's optional token mapping and weights folded into one row a token."""
    from safetensors.torch import load_file
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    tensors = load_file(str(files.static_table))
    table = tensors["embeddings" if "embeddings" in tensors else "embedding.weight"].float()
    if "mapping" in tensors:
        table = table[tensors["mapping"].long()]
    if "weights" in tensors:
        table = table * tensors["weights"].float()[:, None]
    tokenizer = Tokenizer.from_file(str(files.static_tokenizer))
    tokenizer.no_truncation()
    if tokenizer.get_vocab_size() > table.shape[0]:
        raise UnavailableError(
            f"The tokenizer in {files.folder} knows {tokenizer.get_vocab_size()} tokens, "
            f"the table has {table.shape[0]} rows."
        )
    module = StaticEmbedding(tokenizer, embedding_weights=table.contiguous())
    return SentenceTransformer(modules=[module]).eval()


def _is_static(model: Any) -> bool:
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    return any(isinstance(module, StaticEmbedding) for module in model)


def _set_pooling(model: Any, spec: ModelSpec) -> Pooling:
    """Make the model pool as the spec says; tells how it pools in the end."""
    from sentence_transformers.sentence_transformer.modules import Pooling as PoolingModule

    module = next((module for module in model if isinstance(module, PoolingModule)), None)
    if module is None:
        return "other"
    own = _KNOWN_POOLINGS.get(module.pooling_mode, "other")
    if spec.pooling in _KNOWN_POOLINGS.values() and own != spec.pooling:
        if own == "other":
            # Another number of pooled parts changes the dimension that later modules expect.
            raise UnavailableError(f"{spec.name} pools by {module.pooling_mode}, and not by {spec.pooling}.")
        module.pooling_mode = spec.pooling
        return spec.pooling
    return own


def _counting_tokenizer(model: Any) -> Any:
    """A copy of the model's tokenizer that neither cuts nor pads, safe beside an encoding; None if it is slow."""
    from tokenizers import Tokenizer

    own = model.tokenizer
    backend = own if isinstance(own, Tokenizer) else getattr(own, "backend_tokenizer", None)
    if backend is None:
        return None
    copy = Tokenizer.from_str(backend.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy


def _hint(files: ModelFiles) -> str:
    config = read_json(files.folder / "config.json")
    if isinstance(config, dict) and config.get("auto_map"):
        return (
            "It needs code from its own repository, which Ragduel never runs. "
            "Serve it with TEI or vLLM and add that endpoint instead."
        )
    return "Check that the folder holds a sentence-transformers or transformers model."
