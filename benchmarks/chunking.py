"""How fast documents are cut: ``.venv/bin/python benchmarks/chunking.py --data ../shared/data/scifact``.

Prints Markdown tables: token-free strategies in MB a second on prose and Chinese; token-based ones as multiples of the
bare tokenizer over the same text in the same run (``encode_batch`` over paragraphs, offsets read); a table; and,
where it is installed, langchain-text-splitters' RecursiveCharacterTextSplitter.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")  # before tokenizers is imported: both sides use all cores

from backend.corpus.chunking import chunk_records, chunk_spans, split_sentences
from backend.corpus.files import Section
from backend.corpus.tokenizer import JsonTokenizer, default_tokenizer
from backend.corpus.types import Chunking, ChunkStrategy, SizeUnit

ROOT = Path(__file__).resolve().parents[1]
CHINESE = (
    "水库管理处每天清晨记录水位，值班人员沿大坝巡查。遇到暴雨，闸门由两个人一起打开！备用钥匙放在蓝色铁盒里，"
    "铁盒在值班室的书架上。谁能代替值班人员？名单贴在门后，电话号码每年春天更新一次。"
)


def prose(folder: Path, n_bytes: int) -> str:
    """Abstracts and the sample's documents, one after the other, a blank line between them."""
    lines = (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [f"{one['title']}\n\n{one['text']}" for one in map(json.loads, lines)]
    texts += [path.read_text(encoding="utf-8") for path in sorted((ROOT / "backend/corpus/sample/documents").iterdir())]
    whole = "\n\n".join(texts)
    return "\n\n".join([whole] * (n_bytes // len(whole.encode()) + 1))[:n_bytes]


def chinese(n_bytes: int) -> str:
    """Paragraphs of Chinese that are longer than a chunk: about 80 sentences each."""
    paragraph = CHINESE * 20
    return "\n\n".join([paragraph] * (n_bytes // len(paragraph.encode()) + 1))


def seconds(work: Callable[[], object], runs: int) -> float:
    """Median time of some runs."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def token_free(texts: dict[str, str], runs: int) -> None:
    print(f"| characters, size 1000, overlap 100 | {' | '.join(f'{name}, MB/s' for name in texts)} |")
    print(f"| --- |{' --- |' * len(texts)}")
    for strategy in (ChunkStrategy.SENTENCES, ChunkStrategy.RECURSIVE, ChunkStrategy.HEADINGS, ChunkStrategy.WHOLE):
        chunking = Chunking(1000, 100, strategy, unit=SizeUnit.CHARACTERS)
        cells = []
        for text in texts.values():
            sections = page_sections(text)
            spent = seconds(partial(chunk_spans, text, sections, chunking, None), runs)
            cells.append(f"{len(text.encode()) / spent / 1e6:.0f}")
        print(f"| {strategy.value} | {' | '.join(cells)} |")
    rivals(texts)


def page_sections(text: str) -> list[Section]:
    """A heading every 5,000 characters or so, at a paragraph."""
    found = []
    start = 0
    while start < len(text):
        end = text.find("\n\n", start + 5000)
        end = len(text) if end < 0 else end + 2
        found.append(Section(start, end, f"Part {len(found) + 1}"))
        start = end
    return found


def rivals(texts: dict[str, str]) -> None:
    if importlib.util.find_spec("langchain_text_splitters") is None:
        print("| langchain-text-splitters: not installed, skipped |" + " |" * len(texts))
        return
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    cells = []
    for text in texts.values():
        splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=100, add_start_index=True)
        spent = seconds(lambda text=text, s=splitter: s.create_documents([text]), 1)  # type: ignore[misc]
        cells.append(f"{len(text.encode()) / spent / 1e6:.1f}")
    print(f"| langchain RecursiveCharacterTextSplitter, with start index | {' | '.join(cells)} |")


def bare(tokenizer: JsonTokenizer, text: str) -> int:
    """What a user would write: batches of paragraphs, offsets read."""
    paragraphs = text.split("\n\n")
    n_tokens = 0
    for first in range(0, len(paragraphs), 1000):
        encodings = tokenizer.fast.encode_batch(paragraphs[first : first + 1000], add_special_tokens=False)
        n_tokens += sum(len(encoding.offsets) for encoding in encodings)
    return n_tokens


def token_based(texts: dict[str, str], tokenizer: JsonTokenizer, runs: int) -> None:
    print(f"\n| {tokenizer.name}, size 200, overlap 40 | {' | '.join(texts)} |")
    print(f"| --- |{' --- |' * len(texts)}")
    rows: dict[str, list[str]] = {"bare tokenizer, s": []}
    for text in texts.values():
        sections = page_sections(text)
        ratios: dict[str, list[float]] = {}
        base: list[float] = []
        for _ in range(runs):  # side by side: other work on the machine slows both
            base.append(seconds(lambda text=text: bare(tokenizer, text), 1))  # type: ignore[misc]
            for strategy in (s for s in ChunkStrategy if s is not ChunkStrategy.WHOLE):
                spent = seconds(lambda: chunk_spans(text, sections, Chunking(strategy=strategy), tokenizer), 1)  # noqa: B023
                ratios.setdefault(strategy.value, []).append(spent / base[-1])
        rows["bare tokenizer, s"].append(f"{statistics.median(base):.2f}")
        for name, values in ratios.items():
            rows.setdefault(f"{name}, times the bare tokenizer", []).append(f"{statistics.median(values):.2f}")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |")


def rows_of_a_table(n_rows: int) -> Iterator[tuple[Section, str]]:
    at = 0
    for n in range(n_rows):
        text = (
            f"Pump {n} was checked at weir {n % 97}; the level stood {n % 13} cm below the mark. {'Note. ' * (n % 30)}"
        )
        yield Section(at, at + len(text), f"row {n + 1}", is_row=True, record_id=str(n)), text
        at += len(text) + 2


def cut_table(n_rows: int, chunking: Chunking) -> int:
    return sum(1 for _ in chunk_records(rows_of_a_table(n_rows), chunking, default_tokenizer()))


def table(n_rows: int) -> None:
    print(f"\n| {n_rows:,} rows | seconds |\n| --- | --- |")
    for chunking in (Chunking(), Chunking(1000, 100, ChunkStrategy.RECURSIVE, unit=SizeUnit.CHARACTERS)):
        spent = seconds(partial(cut_table, n_rows, chunking), 1)
        print(f"| {chunking.strategy.value}, {chunking.unit.value} | {spent:.1f} |")
    texts = [text for _, text in rows_of_a_table(n_rows)]
    spent = seconds(
        lambda: sum(
            len(one.offsets)
            for first in range(0, n_rows, 4000)
            for one in default_tokenizer().fast.encode_batch(texts[first : first + 4000], add_special_tokens=False)
        ),
        1,
    )
    print(f"| bare tokenizer | {spent:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="BEIR folder with corpus.jsonl")
    parser.add_argument("--mb", type=int, default=20, help="of each text")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tokenizer", type=Path, help="another tokenizer.json")
    options = parser.parse_args()
    texts = {"prose": prose(options.data, options.mb * 1_000_000), "Chinese": chinese(options.mb * 1_000_000)}
    spent = seconds(lambda: split_sentences(texts["prose"]), 1)
    token_free(texts, options.runs)
    print(f"\nsplit_sentences alone on prose: {options.mb / spent:.0f} MB/s")
    tokenizer = JsonTokenizer(options.tokenizer, options.tokenizer.stem) if options.tokenizer else default_tokenizer()
    token_based(texts, tokenizer, options.runs)
    if options.rows:
        table(options.rows)


if __name__ == "__main__":
    main()
