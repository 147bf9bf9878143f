"""One tokenizer of each kind that a local model may bring."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from backend.corpus import JsonTokenizer, default_tokenizer, model_tokenizer

KINDS = ("wordpiece", "sentencepiece", "byte-level", "unigram")
TRAINED_ON = [
    "The keeper of the weir notes the level each morning, café or not.",
    "水库管理处记录水位。",
    "gate " * 9,
] * 20


def trained(kind: str, folder: Path) -> Path:
    """A small ``tokenizer.json``: byte-level BPE as GPT-2's and its heirs', or Unigram with ▁ as in SentencePiece."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    if kind == "byte-level":
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
        )
    else:
        made = Tokenizer(models.Unigram())
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=200, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
        )  # fmt: skip
    made.train_from_iterator(TRAINED_ON, trainer)
    path = folder / f"{kind}.json"
    made.save(str(path))
    return path


def tokenizers_of_each_kind(folder: Path) -> dict[str, JsonTokenizer]:
    """WordPiece and SentencePiece's BPE as packages ship them; byte-level BPE and Unigram made in the folder."""
    made = {kind: model_tokenizer(trained(kind, folder), kind) for kind in ("byte-level", "unigram")}
    package = importlib.util.find_spec("wordllama")
    assert package is not None
    assert package.origin is not None
    llama = Path(package.origin).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
    return {"wordpiece": default_tokenizer(), "sentencepiece": model_tokenizer(llama, "wordllama"), **made}
