"""Tiny, randomly initialised models of every architecture in the registry, in the folder form that hubs hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WORDS = [  # no words but these, so that token counts in tests are word counts
    *("the", "a", "of", "and", "in", "valve", "opens", "at", "four", "bar", "pressure", "late", "shift", "begins"),
    *("ten", "spare", "keys", "hang", "behind", "door", "harbour", "tide", "basalt", "cools", "into", "columns"),
    *("query", "document", "passage", "search_query", "search_document", "represent", "this", "sentence", "for"),
    *(
        "searching",
        "relevant",
        "passages",
        "instruct",
        "given",
        "web",
        "retrieve",
        "that",
        "answer",
        ":",
        ",",
        ".",
        "?",
    ),
]

TEXTS = (
    "the valve opens at four bar",
    "late shift begins at ten .",
    "spare keys hang behind the door , in the harbour",
    "basalt",
    "the tide of the harbour and the pressure of the tide and the columns of basalt behind the door " * 3,
)


def _vocabulary(special: list[str]) -> dict[str, int]:
    return {word: index for index, word in enumerate([*special, *WORDS])}


def save_tokenizer(folder: Path, *, kind: str, padding_side: str = "right", limit: int = 64) -> None:
    """A whole-word tokenizer: ``bert`` puts [CLS] and [SEP] round a text, ``qwen`` an end-of-text token behind it."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] if kind == "bert" else ["<|endoftext|>", "<unk>"]
    vocabulary = _vocabulary(special)
    unknown = special[1]
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(":", "isolated")]
    )
    if kind == "bert":
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
    else:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="$A <|endoftext|>", special_tokens=[("<|endoftext|>", 0)]
        )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=special[0],
        unk_token=unknown,
        padding_side=padding_side,
        model_max_length=limit,
    ).save_pretrained(folder)


def _save_modules(folder: Path, *, width: int, pooling: str, limit: int, prompts: dict[str, str]) -> None:
    names = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token", "lasttoken": "pooling_mode_lasttoken"}
    types = ["Transformer", "Pooling"]
    modules = [
        {"idx": i, "name": str(i), "path": ["", "1_Pooling"][i], "type": f"sentence_transformers.models.{name}"}
        for i, name in enumerate(types)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": width, **{key: name == pooling for name, key in names.items()}})
    )
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": limit, "do_lower_case": False}))
    (folder / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": prompts, "default_prompt_name": "query" if prompts else None})
    )


def make_bert(folder: Path, *, pooling: str = "mean", limit: int = 32, prompts: dict[str, str] | None = None) -> Path:
    """A BERT of 32 dimensions, as bge-small (cls) and MiniLM (mean) are."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(WORDS) + 4,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=64,
    )
    folder.mkdir(parents=True)
    BertModel(config).eval().save_pretrained(folder)
    save_tokenizer(folder, kind="bert")
    _save_modules(folder, width=32, pooling=pooling, limit=limit, prompts=prompts or {})
    return folder


def make_nomic(folder: Path, *, limit: int = 48, hub_names: bool = False) -> Path:
    """A NomicBERT; ``hub_names`` gives weights and config the names that v1.5 has on the hub, remote code included."""
    import torch
    from safetensors.torch import save_file
    from transformers import NomicBertConfig, NomicBertModel

    torch.manual_seed(2)
    config = NomicBertConfig(
        vocab_size=len(WORDS) + 4,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=32,
    )
    model = NomicBertModel(config).eval()
    folder.mkdir(parents=True)
    model.save_pretrained(folder)
    if hub_names:
        save_file(_nomic_hub_weights(model.state_dict()), folder / "model.safetensors", metadata={"format": "pt"})
        told = json.loads((folder / "config.json").read_text())
        remote = "nomic-ai/nomic-bert-2048--"
        told |= {
            "auto_map": {
                "AutoConfig": f"{remote}configuration_hf_nomic_bert.NomicBertConfig",
                "AutoModel": f"{remote}modeling_hf_nomic_bert.NomicBertModel",
            },
            "activation_function": "swiglu",
            "n_positions": 8192,
            "rotary_emb_base": 1000,
            "rotary_emb_fraction": 1.0,
            "rotary_scaling_factor": None,
            "use_flash_attn": True,
        }
        (folder / "config.json").write_text(json.dumps(told))
    save_tokenizer(folder, kind="bert")
    _save_modules(folder, width=32, pooling="mean", limit=limit, prompts={})
    return folder


def _nomic_hub_weights(native: dict[str, Any]) -> dict[str, Any]:
    import torch

    hub: dict[str, Any] = {}
    for name, tensor in native.items():
        if "q_proj" in name:
            parts = [native[name.replace("q_proj", f"{part}_proj")] for part in "qkv"]
            hub[name.replace("layers.", "encoder.layers.").replace("self_attn.q_proj", "attn.Wqkv")] = torch.cat(parts)
        elif "k_proj" not in name and "v_proj" not in name:
            for own, theirs in (
                ("embeddings.LayerNorm", "emb_ln"),
                ("layers.", "encoder.layers."),
                ("self_attn.o_proj", "attn.out_proj"),
                ("up_proj", "fc11"),
                ("gate_proj", "fc12"),
                ("down_proj", "fc2"),
                ("post_attention_layernorm", "norm1"),
                ("post_mlp_layernorm", "norm2"),
            ):
                name = name.replace(own, theirs)  # noqa: PLW2901
            hub[name] = tensor
    return {name: tensor.clone().contiguous() for name, tensor in hub.items()}


def make_qwen(folder: Path, *, padding_side: str = "left", limit: int = 48) -> Path:
    """A Qwen3 decoder with last-token pooling; its query prompt is the default, as on the hub."""
    import torch
    from transformers import Qwen3Config, Qwen3Model

    torch.manual_seed(3)
    config = Qwen3Config(
        vocab_size=len(WORDS) + 2,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        intermediate_size=48,
        max_position_embeddings=128,
        pad_token_id=0,
        eos_token_id=0,
        bos_token_id=0,
    )
    folder.mkdir(parents=True)
    Qwen3Model(config).eval().save_pretrained(folder)
    save_tokenizer(folder, kind="qwen", padding_side=padding_side)
    prompts = {"query": "instruct : retrieve\nquery :", "document": ""}
    _save_modules(folder, width=32, pooling="lasttoken", limit=limit, prompts=prompts)
    return folder


def make_static(folder: Path, *, half: bool = False, mapped: bool = False) -> Path:
    """A Model2Vec folder: ``embeddings``, a tokenizer, no modules.json."""
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(4)
    folder.mkdir(parents=True)
    save_tokenizer(folder, kind="bert")
    (folder / "tokenizer_config.json").unlink()
    table = torch.randn(len(WORDS) + 4, 16)
    tensors = {"embeddings": table.half() if half else table}
    if mapped:  # a quantised vocabulary: fewer rows than tokens, and a weight a token
        tensors = {
            "embeddings": table[:20].contiguous(),
            "mapping": torch.arange(len(table)) % 20,
            "weights": torch.rand(len(table)),
        }
    save_file(tensors, folder / "model.safetensors")
    config = {"model_type": "model2vec", "architectures": ["StaticModel"], "hidden_dim": 16, "normalize": True}
    (folder / "config.json").write_text(json.dumps(config))
    return folder
