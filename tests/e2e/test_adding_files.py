"""Files of a folder become a corpus in a real browser: recognised, corrected, previewed, added; also on a phone."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from backend.corpus import ChunkStrategy
from backend.settings import Settings
from backend.workspace import Workspace
from tests.conftest import shared_path
from tests.e2e.conftest import WAIT_MS, Server, settled

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
Serve = Callable[..., Server]
expect.set_options(timeout=WAIT_MS)
TABLE = "Nr;Überschrift;Beschreibung;Stand\n" + "".join(
    f"{n};Küche {n};Die Küche {n} hat über dreißig Schränke für Töpfe und Gläser.;2026-03\n" for n in range(1, 31)
)
GUIDE = "# Guide\n\n" + "\n\n".join(
    f"## Part {n}\n\nThis part says how machine {n} is started. Press the green button and wait until the lamp is lit. "
    "Never open the lid while it turns."
    for n in range(1, 25)
)


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    """A folder as people have it."""
    folder = tmp_path / "handbook"
    (folder / "more").mkdir(parents=True)
    (folder / "inventory.csv").write_bytes(TABLE.encode("cp1252"))
    (folder / "more" / "guide.md").write_text(GUIDE, encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 this is none at all")
    shutil.copy(shared_path("data", "files", "pdf_two_column_latex.pdf"), folder / "paper.pdf")
    shutil.copy(shared_path("data", "files", "legacy_word97.doc"), folder / "old.doc")
    with zipfile.ZipFile(folder / "pack.zip", "w") as pack:
        pack.writestr("in/one.txt", "Inside the pack: the spare fuse lies in drawer four.")
    return folder


def part(page: Page, key: str) -> Locator:
    return page.locator(f".st-key-{key}")


def choose(page: Page, title: str, option: str) -> None:
    """Pick an option of a select box by its title."""
    settled(page)
    box = page.get_by_role("combobox", name=re.compile(re.escape(title))).first
    wanted = page.get_by_role("option", name=option, exact=True)
    box.click()
    try:
        wanted.click(timeout=5_000)
    except PlaywrightTimeoutError:  # the page was drawn anew just then, which closed the list
        settled(page)
        box.click()
        wanted.click()
    page.keyboard.press("Escape")
    settled(page)


def test_a_folder_is_recognised_corrected_previewed_and_added(serve: Serve, page: Page, handbook: Path) -> None:
    server = serve(empty=True)
    page.goto(f"{server.url}/corpora")
    settled(page)
    page.get_by_role("tab", name="A folder").click()
    page.set_input_files('[data-testid="stFileUploader"] input[webkitdirectory]', handbook)
    warning = page.get_by_role("alert").filter(has_text="will be left out")
    expect(warning).to_contain_text("2 files give no text")
    expect(warning).to_contain_text("handbook/broken.pdf")
    expect(warning).to_contain_text("Save it as .docx or PDF")
    expect(page.get_by_label("Name", exact=True)).to_have_value("handbook")

    page.get_by_text("Columns and encoding").click()
    encoding = page.get_by_role("combobox", name="Encoding")
    expect(encoding).to_have_value("As recognised: Windows-1252 (Western Europe), guessed")
    expect(page.get_by_role("combobox", name="Columns are divided by")).to_have_value("As recognised: semicolon ;")
    choose(page, "Title column", "Überschrift")
    choose(page, "Id column", "Nr")
    expect(page.get_by_role("button", name="Back to what was recognised")).to_be_visible()
    page.get_by_text("Columns and encoding").click()
    settled(page)

    page.get_by_text("How documents are cut").click()
    text = page.locator(".rd-marked")
    expect(text.locator("span[data-number]").first).to_be_visible()
    choose(page, "Preview of", "handbook/more/guide.md")
    expect(text).to_contain_text("how machine 2 is started")
    few = text.locator("[data-number]").count()
    size = part(page, "corpora_size_tokens").get_by_role("spinbutton")
    size.fill("50")
    size.press("Enter")
    settled(page)
    expect(text.locator("[data-number]").nth(few)).to_be_attached()  # more chunks than before
    expect(text.locator('[data-tone="shared"]').first).to_be_attached()
    page.get_by_text("Whole sentences", exact=True).click()
    settled(page)
    expect(page.get_by_text(re.compile(r"shortest \d+, median \d+, longest \d+ tokens"))).to_be_visible()

    part(page, "corpora_add").get_by_role("button").click()
    page.wait_for_url(re.compile("corpus="), timeout=WAIT_MS)
    settled(page)
    expect(page.get_by_role("heading", name="handbook")).to_be_visible()
    expect(page.get_by_text("broken.pdf").first).to_be_attached()
    workspace = Workspace(Settings(_env_file=None, data_dir=server.data_dir))
    try:
        corpus = workspace.corpora.get("handbook")
        assert (corpus.chunking.strategy, corpus.chunking.size) == (ChunkStrategy.SENTENCES, 50)
        assert {one.file for one in corpus.skipped} == {"handbook/broken.pdf", "handbook/old.doc"}
        documents = {one.name: one for one in workspace.corpora.documents(corpus.corpus_id)}
        assert set(documents) == {
            "handbook/inventory.csv", "handbook/more/guide.md", "handbook/paper.pdf", "handbook/pack.zip/in/one.txt",
        }  # fmt: skip
        first = next(iter(workspace.corpora.sections(documents["handbook/inventory.csv"].document_id)))
        assert (first.record_id, first.title) == ("1", "Küche 1")
    finally:
        workspace.close()


def test_the_form_is_usable_on_a_phone(serve: Serve, browser: Browser, handbook: Path) -> None:
    server = serve(empty=True)
    context = browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(f"{server.url}/corpora")
    settled(page)
    page.set_input_files(
        '[data-testid="stFileUploader"] input[type=file]:not([webkitdirectory])',
        [handbook / "more" / "guide.md", handbook / "broken.pdf"],
    )
    expect(page.get_by_role("alert").filter(has_text="broken.pdf")).to_be_visible()
    page.get_by_text("How documents are cut").tap()
    marked = page.locator(".rd-marked")
    expect(marked).to_be_visible()
    settled(page)
    box = marked.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    part(page, "corpora_add").get_by_role("button").tap()
    page.wait_for_url(re.compile("corpus="), timeout=WAIT_MS)
    settled(page)
    expect(page.get_by_role("heading", name="guide")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
