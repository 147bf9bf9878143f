"""A corpus in a real browser: report, documents removed, cut anew, a hit opened in its document; also on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from backend.corpus import Corpus, SourceFile
from backend.retrieval import Duel
from backend.settings import Settings
from backend.workspace import Workspace, default_chunking
from tests.e2e.conftest import WAIT_MS, Server, settled

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
Serve = Callable[..., Server]
expect.set_options(timeout=WAIT_MS)
BOOK = "\n\n".join(
    f"# Bell {n}\n\nBell {n} of the tower was cast in the year {1500 + n}. It rings at dawn when the gates are opened."
    for n in range(1, 61)
)


def part(page: Page, key: str) -> Locator:
    return page.locator(f".st-key-{key}")


def button(page: Page, key: str) -> Locator:
    return part(page, key).get_by_role("button")


def filled(server: Server) -> tuple[Corpus, Duel]:
    """A corpus with its report, made while nobody looks; and the sample's duel."""
    workspace = Workspace(Settings(_env_file=None, data_dir=server.data_dir))
    try:
        sources = [
            SourceFile("bells.md", BOOK.encode()),
            SourceFile("gates.txt", b"The north gate is opened at dawn, the south gate at noon."),
            SourceFile("gates copy.txt", b"The north gate is opened at dawn, the south gate at noon."),
            SourceFile("blank.txt", b"  \n"),
        ]
        made = workspace.corpus_work.add("Tower", sources, default_chunking(workspace.settings))
        corpus = workspace.corpora.get(made.corpus_id)
        workspace.corpus_work.make_report(corpus)
        return corpus, workspace.duels.recent(1)[0]
    finally:
        workspace.close()


def test_a_corpus_is_read_weeded_and_cut_anew(serve: Serve, page: Page) -> None:
    server = serve()
    corpus, _ = filled(server)
    page.goto(f"{server.url}/corpora?corpus={corpus.corpus_id}")
    settled(page)
    expect(page.get_by_role("heading", name="Tower")).to_be_visible()
    expect(part(page, "report_findings")).to_contain_text("blank.txt")
    expect(page.locator('[aria-label^="Histogram of"]').first).to_be_attached()
    with page.expect_download() as download:
        button(page, "report_csv").click()
    assert "gates copy.txt" in Path(download.value.path()).read_text(encoding="utf-8-sig")
    expect(part(page, "report_findings")).to_be_visible()

    page.get_by_role("tab", name="Documents").click()
    table = part(page, f"corpora_documents_{corpus.version_id}")
    expect(table).to_be_visible()
    settled(page)
    tick(page, table, row=3)
    button(page, "corpora_remove").first.click()
    expect(page.get_by_text("These will be gone for good:")).to_be_visible()
    expect(page.get_by_test_id("stText").filter(has_text="gates copy.txt")).to_be_visible()
    button(page, "corpora_remove_sure").click()
    expect(page.get_by_text(re.compile(r"^2 documents ·"))).to_be_visible()

    button(page, "corpora_open_cut").click()
    settled(page)
    expect(page.get_by_role("region", name="Chunks in the text")).to_be_visible()
    page.get_by_text("By headings", exact=True).click()
    settled(page)
    button(page, "corpora_recut_start").click()
    expect(page.get_by_text(re.compile("cut: by headings"))).to_be_visible()
    expect(part(page, "corpora_recut")).to_have_count(0)
    page.get_by_role("tab", name="Documents").click()
    settled(page)
    assert f"corpus={corpus.corpus_id}" in page.url


def tick(page: Page, table: Locator, row: int) -> None:
    """Tick a row of a table: it is drawn on a canvas, so by its place (rows and header are 35 pixels high)."""
    box = table.locator("canvas").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 16, box["y"] + 35 * row + 17)
    settled(page)


def test_a_hit_opens_in_its_document_on_a_cold_server(serve: Serve, page: Page) -> None:
    server = serve()
    _, duel = filled(server)
    hit = duel.a.hits[0]
    link = f"corpus={duel.corpus_id}&document={hit.document_id}&from={hit.start}&to={hit.end}&duel={duel.duel_id}"
    page.goto(f"{server.url}/corpora?{link}")
    settled(page)
    marked = page.locator('.rd-marked [data-tone="hit"]').first
    expect(marked).to_be_visible()
    assert marked.evaluate("(one) => one.getBoundingClientRect().top < window.innerHeight")
    assert page.locator('.rd-marked [data-tone="hit"]').all_inner_texts()[0].strip() in hit.text
    page.get_by_role("link", name="Back to the duel").click()
    page.wait_for_url(re.compile(f"duel={duel.duel_id}"))
    settled(page)
    shown = page.get_by_role("link", name="Show in context")
    expect(shown.first).to_be_visible()
    assert not [one for one in shown.all() if re.search("minilm|wordllama", str(one.get_attribute("href")))]
    shown.first.click()
    page.wait_for_url(re.compile("document="))
    expect(page.locator('.rd-marked [data-tone="hit"]').first).to_be_visible()


def test_on_a_phone_nothing_scrolls_sideways_and_the_form_is_found(serve: Serve, browser: Browser) -> None:
    server = serve()
    corpus, duel = filled(server)
    context = browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    hit = duel.a.hits[0]
    for link in (
        "corpora",
        f"corpora?corpus={corpus.corpus_id}",
        f"corpora?corpus={duel.corpus_id}&document={hit.document_id}&from={hit.start}&to={hit.end}",
        f"?duel={duel.duel_id}",
    ):
        page.goto(f"{server.url}/{link}")
        settled(page)
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    button(page, "duel_new").click()
    box = page.get_by_label("Question", exact=True)
    expect(box).to_be_in_viewport()
    box.fill("Where are the spare keys?")
    box.press("Control+Enter")
    settled(page)
    button(page, "duel_run").click()
    page.wait_for_url(lambda url: "duel=" in url and duel.duel_id not in url)
    expect(box).not_to_be_in_viewport()
    expect(part(page, "hit_left_1")).to_be_visible()
    context.close()
