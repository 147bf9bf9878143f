"""How likely a query is after a passage, under the small local language model (UPR, arXiv 2204.07496).

One model a process, loaded at the first use and used by one thread at a time. Every passage is scored alone, in a
batch of one without padding, so that no other text can change a digit of its score. (Two in a batch cost as much as
two calls: measured 0.356 s against 2 × 0.175 s for 481 tokens on 2 cores.)
"""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.embedding.loaded_model import LOAD_LOCK
from backend.llm.weights import SMOLLM2_MODEL, find_smollm2
from backend.prompts import load_prompt
from backend.store import sha256_hex, written_whole

if TYPE_CHECKING:
    import torch

PASSAGE_TOKENS = 1024  # a pair of this length stays under a second in bfloat16 on 2 cores
QUERY_TOKENS = 256
PROMPT = "likelihood"


@dataclass(frozen=True, slots=True)
class QueryLikelihood:
    """What the model makes of one query after one passage.

    Attributes:
        mean_log_probability: Mean log-probability per query token, in nats; at most 0.
        n_query_tokens: Tokens it is the mean of.
        passage_cut: The passage was longer than PASSAGE_TOKENS, and its end was not read.
        query_cut: Likewise for the query and QUERY_TOKENS.
    """

    mean_log_probability: float
    n_query_tokens: int
    passage_cut: bool = False
    query_cut: bool = False


class LikelihoodModel:
    """SmolLM2-135M-Instruct in memory.

    Args:
        folder: The converted weights, configuration and tokenizer.
        dtype: ``bfloat16`` or ``float32``.
    """

    def __init__(self, folder: Path, dtype: str) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.dtype = dtype
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model: Any = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, dtype=getattr(torch, dtype))
        self._model = model.eval()
        self._lock = threading.Lock()
        self._request = self._tokens("\n\n" + load_prompt(PROMPT).render().strip())

    def _tokens(self, text: str) -> list[int]:
        # Control tokens written out in a document are read as the characters they are.
        found = self._tokenizer(text, add_special_tokens=False, split_special_tokens=True, verbose=False)
        return list(found["input_ids"])

    def score(self, query: str, passage: str) -> QueryLikelihood:
        """Score one query after one passage: the mean of log p(token | passage, request, tokens before).

        Args:
            query: Not blank.
            passage: May be blank: the query alone is scored.

        Source: Sachan et al. 2022, arXiv 2204.07496, equation 3.
        """
        import torch

        query_tokens, passage_tokens = self._tokens(" " + query.strip()), self._tokens(passage)
        asked = query_tokens[:QUERY_TOKENS]
        sequence = passage_tokens[:PASSAGE_TOKENS] + self._request + asked
        with self._lock, torch.inference_mode():
            # The last len(asked) + 1 positions predict the query's tokens and one beyond them.
            logits: torch.Tensor = self._model(
                torch.tensor([sequence]), logits_to_keep=len(asked) + 1, use_cache=False
            ).logits
            log_probabilities = torch.log_softmax(logits[0, :-1].float(), dim=-1)
            told = log_probabilities.gather(1, torch.tensor(asked)[:, None])
            mean = float(told.double().mean())
        return QueryLikelihood(mean, len(asked), len(passage_tokens) > PASSAGE_TOKENS, len(query_tokens) > QUERY_TOKENS)


def fastest_dtype() -> str:
    """``bfloat16`` where the processor multiplies it in hardware (AMX or AVX512-BF16), else ``float32``.

    Measured on a processor with both: 0.175 s against 0.47 s for 481 tokens on 2 cores. Elsewhere bfloat16 is
    emulated and slower.
    """
    import torch

    checks = (getattr(torch.cpu, name, None) for name in ("_is_amx_tile_supported", "_is_avx512_bf16_supported"))
    return "bfloat16" if any(check is not None and check() for check in checks) else "float32"


_models: dict[tuple[Path, str], LikelihoodModel] = {}
_weights: dict[tuple[Path, int, int], str] = {}


def weights_sha256() -> str:
    """The sha256 of the GGUF file, read once a process.

    Raises:
        UnavailableError: The package that carries it is missing.
    """
    path = find_smollm2()
    state = path.stat()
    key = (path, state.st_size, state.st_mtime_ns)
    if key not in _weights:
        with path.open("rb") as file:
            _weights[key] = hashlib.file_digest(file, "sha256").hexdigest()
    return _weights[key]


def load_likelihood_model(data_dir: Path, dtype: str = "") -> LikelihoodModel:
    """The process's model, loaded if it is not yet.

    Args:
        data_dir: Where the converted weights are kept: reading the GGUF takes 16 s, the conversion 0.2 s.
        dtype: ``bfloat16``, ``float32``, or "" for the faster one here.

    Raises:
        UnavailableError: The package that carries the weights is missing.
    """
    with LOAD_LOCK:  # shared with the embedding models: half and full precision must not load at once
        dtype = dtype or fastest_dtype()
        folder = data_dir / "models" / f"{SMOLLM2_MODEL}-{weights_sha256()[:16]}-{dtype}"
        key = (folder.resolve(), dtype)
        if key not in _models:
            if not (folder / "model.safetensors").exists():
                _convert(find_smollm2(), folder, dtype)
            _models[key] = LikelihoodModel(folder, dtype)
        return _models[key]


def _convert(gguf: Path, folder: Path, dtype: str) -> None:
    """Write the GGUF's weights as safetensors; the weights come last, so that their presence means a whole folder."""
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(folder)
    config = {k: v for k, v in model.config.to_dict().items() if k not in {"quantization_config", "_name_or_path"}}
    config |= {"dtype": dtype, "architectures": [type(model).__name__]}
    with written_whole(folder / "config.json") as temporary:
        temporary.write_text(json.dumps(config, indent=1, sort_keys=True), encoding="utf-8")
    weights = {
        name: tensor.to(getattr(torch, dtype)).contiguous()
        for name, tensor in model.state_dict().items()
        if name != "lm_head.weight"  # tied to the embedding table
    }
    with written_whole(folder / "model.safetensors") as temporary:
        save_file(weights, temporary, metadata={"format": "pt"})


def likelihood_key(model_sha256: str, dtype: str, query: str, passage: str) -> str:
    """Names one score by all that it depends on."""
    parts = (model_sha256, dtype, load_prompt(PROMPT).version, str(PASSAGE_TOKENS), str(QUERY_TOKENS))
    return sha256_hex("\0".join((*parts, sha256_hex(query.strip()), sha256_hex(passage))))
