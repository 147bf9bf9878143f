"""Take the pictures in docs/images: ``.venv/bin/python docs/make_screenshots.py`` (wants chromium)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from backend.settings import Settings  # noqa: E402
from backend.workspace import Workspace  # noqa: E402
from tests.e2e.conftest import CHROMIUM, FLAGS, Server, settled  # noqa: E402
from tests.e2e.test_adding_files import GUIDE, TABLE  # noqa: E402

IMAGES = ROOT / "docs" / "images"


def shot(page: Page, name: str, *, full: bool = False) -> None:
    page.wait_for_timeout(800)
    page.screenshot(path=IMAGES / f"{name}.png", full_page=full)
    print(name)


def tour(browser: Browser, server: Server, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(server.url)
    settled(page)
    if page.locator(".st-key-vote_left").count():
        shot(page, f"duel-blind-{scheme}")
    if page.locator(".st-key-vote_left").count():
        page.locator(".st-key-vote_left").get_by_role("button").click()
        settled(page)
        page.locator(".st-key-judge_ask").get_by_role("button").click()
        page.get_by_text("order can't matter").wait_for()
        settled(page)
    page.get_by_role("heading", name="Left: ").scroll_into_view_if_needed()
    shot(page, f"duel-{scheme}")
    page.get_by_role("heading", name="Verdict", exact=True).scroll_into_view_if_needed()
    shot(page, f"verdict-{scheme}")
    for name in ("corpora", "verdicts", "settings"):
        page.goto(f"{server.url}/{name}")
        settled(page)
        shot(page, f"{name}-{scheme}")
    adding(page, server, scheme)
    context.close()


def adding(page: Page, server: Server, scheme: str) -> None:
    """The form with a table and a text, and the report of the sample corpus."""
    page.set_viewport_size({"width": 1280, "height": 2100})
    page.goto(f"{server.url}/corpora")
    settled(page)
    files = [
        {"name": "inventory.csv", "mimeType": "text/csv", "buffer": TABLE.encode("cp1252")},
        {"name": "guide.md", "mimeType": "text/markdown", "buffer": GUIDE.encode()},
    ]
    page.set_input_files('[data-testid="stFileUploader"] input[type=file]:not([webkitdirectory])', files)  # type: ignore[arg-type]
    page.get_by_text("How documents are cut").click()
    page.locator(".rd-marked").wait_for()
    settled(page)
    shot(page, f"corpora-add-{scheme}")
    page.set_viewport_size({"width": 1280, "height": 1000})
    workspace = Workspace(Settings(_env_file=None, data_dir=server.data_dir))
    try:
        corpus_id = workspace.corpora.list()[0].corpus_id
        workspace.corpus_work.make_report(workspace.corpora.get(corpus_id))
    finally:
        workspace.close()
    page.goto(f"{server.url}/corpora?corpus={corpus_id}")
    page.get_by_text("Files read").wait_for()
    settled(page)
    shot(page, f"corpus-report-{scheme}")


def phone(browser: Browser, server: Server) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, device_scale_factor=2, is_mobile=True)
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(server.url)
    settled(page)
    shot(page, "duel-phone")
    page.locator(".st-key-hit_left_1").scroll_into_view_if_needed()
    shot(page, "duel-phone-hits")
    context.close()


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        data = Path(folder) / "data"
        environment = {**os.environ, "RAGDUEL_DATA_DIR": str(data)}
        subprocess.run([sys.executable, "-m", "backend.cli", "prepare"], cwd=ROOT, env=environment, check=True)
        server = Server(data).start()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            phone(browser, server)
            for scheme in ("light", "dark"):
                tour(browser, server, scheme)
        finally:
            browser.close()
            server.stop()


if __name__ == "__main__":
    main()
