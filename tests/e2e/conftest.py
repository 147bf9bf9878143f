"""A real server, a real browser. Debian's chromium; the test fails in CI, and skips elsewhere, where there is none."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("RAGDUEL_TEST_CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]  # fmt: skip
WAIT_MS = 60_000


class Server:
    """The app on a loopback port over a data folder."""

    def __init__(self, data_dir: Path, **environment: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self.data_dir = data_dir
        self.log = data_dir.parent / f"server-{self.port}.log"
        self._environment = {**os.environ, "RAGDUEL_DATA_DIR": str(data_dir), "HF_HUB_OFFLINE": "1", **environment}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Server:
        command = [
            sys.executable, "-m", "backend.ui.server", f"--server.port={self.port}",
            "--server.address=127.0.0.1", "--server.headless=true",
        ]  # fmt: skip
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, cwd=ROOT, env=self._environment, stdout=log, stderr=log)
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1)
                return self
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise RuntimeError(f"the app did not start: {self.log.read_text()[-2000:]}")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        message = f"{CHROMIUM} is missing: apt-get install chromium, or set RAGDUEL_TEST_CHROMIUM"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder as ``make run`` leaves it before it opens the app."""
    folder = tmp_path_factory.mktemp("prepared") / "data"
    environment = {**os.environ, "RAGDUEL_DATA_DIR": str(folder), "HF_HUB_OFFLINE": "1"}
    subprocess.run([sys.executable, "-m", "backend.cli", "prepare"], cwd=ROOT, env=environment, check=True)
    return folder


@pytest.fixture
def serve(prepared: Path, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Start the app over a copy of the prepared folder, or over an empty one: ``serve(empty=True)``."""
    servers: list[Server] = []

    def start(*, empty: bool = False, **environment: str) -> Server:
        folder = tmp_path / f"served-{len(servers)}" / "data"
        folder.parent.mkdir()
        if empty:
            folder.mkdir()
        else:
            shutil.copytree(prepared, folder)
        server = Server(folder, **environment).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    yield page
    context.close()


def settled(page: Page) -> None:
    """Wait until the script has run."""
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=WAIT_MS)
