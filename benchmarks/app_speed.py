"""How fast the app starts and how fast a duel is: ``.venv/bin/python benchmarks/app_speed.py``.

Prints a Markdown table: start of the server to a usable page (a headless chromium sees the query box), imports that a
page must not make, and duels on the sample corpus with loaded models, without a judge.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
QUERIES = 20


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def page_start_s(data_dir: str) -> tuple[float, float]:
    """Seconds from the server's start to its first answer, and to a page with a query box."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page()
        port = free_port()
        command = [
            sys.executable,
            "-m",
            "backend.ui.server",
            f"--server.port={port}",
            "--server.headless=true",
        ]
        started = time.perf_counter()
        server = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, "RAGDUEL_DATA_DIR": data_dir}, stdout=subprocess.DEVNULL
        )  # fmt: skip
        try:
            while True:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1)
                    break
                except urllib.error.URLError:
                    time.sleep(0.02)
            answered = time.perf_counter() - started
            page.goto(f"http://127.0.0.1:{port}/")
            page.wait_for_selector("textarea", timeout=60_000)
            return answered, time.perf_counter() - started
        finally:
            server.terminate()
            server.wait()
            browser.close()


def duel_ms(data_dir: str) -> list[float]:
    """Milliseconds of fresh duels (every query is new) with both models loaded."""
    from backend.settings import load_settings
    from backend.workspace import DuelRequest, Workspace

    workspace = Workspace(load_settings(data_dir=Path(data_dir)))
    first = workspace.prepare_sample()
    times = []
    for n in range(QUERIES + 1):
        request = DuelRequest(
            first.corpus_id, f"how much water does plant number {n} need", first.a.model, first.b.model
        )
        started = time.perf_counter()
        workspace.duel(request)
        times.append((time.perf_counter() - started) * 1000)
    workspace.close()
    return times[1:]  # the first one loads the models


def heavy_imports() -> list[str]:
    """Heavy modules that importing the pages' code brings in (none should)."""
    code = (
        "import json, sys; import backend.workspace, backend.ui.shell, backend.ui.workspace;"
        "heavy = ('torch', 'transformers', 'sentence_transformers', 'faiss');"
        "print(json.dumps([name for name in heavy if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    found: list[str] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as data_dir:
        times = duel_ms(data_dir)  # also prepares the sample that the page opens on
        starts = [page_start_s(data_dir) for _ in range(3)]
    print("| what | measured | bound |\n| --- | --- | --- |")
    print(f"| server answers, median of 3 | {statistics.median(s[0] for s in starts):.2f} s | |")
    print(f"| first page usable, median of 3 | {statistics.median(s[1] for s in starts):.2f} s | 3 s |")
    print(f"| duel, loaded models, no judge, median of {QUERIES} | {statistics.median(times):.0f} ms | 150 ms |")
    print(f"| the slowest of them | {max(times):.0f} ms | |")
    print(f"| heavy modules imported by the pages' code | {heavy_imports() or 'none'} | none |")


if __name__ == "__main__":
    main()
