"""How fast a large file of records is read, in how much memory: ``python -m benchmarks.records [--mb 200] [--csv]``.

Writes a file of records of about 500 bytes (id, title, text), reads it through ``InProcessReading`` in a process of its
own, and prints MB a second, and the peak of resident memory above that of the process with everything imported.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS = [
    "sluice",
    "key",
    "mill",
    "race",
    "door",
    "eel",
    "river",
    "weir",
    "gate",
    "night",
    "autumn",
    "march",
    "bell",
    "ferry",
    "Größe",
    "bridge",
    "water",
    "level",
    "keeper",
    "count",
]


def write(path: Path, n_bytes: int, as_csv: bool) -> int:
    """Write records until the file is this large; returns how many."""
    random.seed(1)
    n = 0
    with path.open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out) if as_csv else None
        if table:
            table.writerow(["_id", "title", "text"])
        while out.tell() < n_bytes if n % 1_000 == 0 else True:
            text = " ".join(random.choices(WORDS, k=78)) + "."
            row = {"_id": f"doc-{n}", "title": f"Record {n}", "text": text}
            if table:
                table.writerow(row.values())
            else:
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
            n += 1
    return n


def read(path: Path) -> None:
    """Read it, and print what it took."""
    from backend.corpus.files import SourceFile
    from backend.corpus.reading import InProcessReading

    idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder:
        before = time.perf_counter()
        got = InProcessReading().read(SourceFile(path.name, path), Path(folder))
        took_s = time.perf_counter() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    mb = path.stat().st_size / 1e6
    print(
        f"{path.name}: {mb:.0f} MB, {got.facts.n_records:,} records in {took_s:.1f} s: {mb / took_s:.0f} MB/s; "
        f"peak {peak * 1024 / 1e6:.0f} MB, {(peak - idle) * 1024 / 1e6:.0f} MB above idle"
    )


def main() -> None:
    """Write and read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=200)
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--read", type=Path)
    given = parser.parse_args()
    if given.read:
        read(given.read)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("corpus.csv" if given.csv else "corpus.jsonl")
        write(path, given.mb * 1_000_000, given.csv)
        subprocess.run([sys.executable, "-m", "benchmarks.records", "--read", str(path)], check=True)


if __name__ == "__main__":
    main()
