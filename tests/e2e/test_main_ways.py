"""The main ways through the app in a real browser, with real models, a real index and a real local LLM."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from pydantic import SecretStr

from backend.corpus import WHOLE_DOCUMENTS, read_paths
from backend.embedding import ModelSpec, Source
from backend.judging import JudgeKind
from backend.settings import Settings
from backend.workspace import ChatSettings, DuelRequest, JudgeChoice, Workspace
from tests.cases.bench import queries
from tests.conftest import Replay, shared_path
from tests.e2e.conftest import WAIT_MS, Server, settled

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
Serve = Callable[..., Server]
expect.set_options(timeout=WAIT_MS)


def vote(page: Page, words: str) -> None:
    page.locator(f".st-key-vote_{words}").get_by_role("button").click()
    settled(page)


def ask_judge(page: Page) -> None:
    page.locator(".st-key-judge_ask").get_by_role("button").click()


def test_first_visit_votes_blind_asks_the_judge_and_comes_back_by_link(serve: Serve, page: Page) -> None:
    server = serve()
    page.goto(server.url)
    settled(page)
    # Open on a duel that a person can judge at once, with nothing that tells the models.
    expect(page.get_by_role("heading", name="Left 1", exact=True)).to_be_visible()
    lists = page.locator('[class*="st-key-hit_"]')
    expect(lists).to_have_count(10)
    assert "cosine" not in "".join(lists.all_inner_texts())
    vote(page, "left")
    expect(page.get_by_role("heading", name=re.compile(r"Left: "))).to_be_visible()
    assert "cosine" in "".join(lists.all_inner_texts())

    ask_judge(page)
    expect(page.get_by_text("order can't matter")).to_be_visible(timeout=120_000)
    expect(page.get_by_text(re.compile(r"by \d+\.\d+ nats per query token|within the tie band"))).to_be_visible()
    assert "duel=" in page.url

    link = page.url
    page.reload()
    settled(page)
    expect(page.get_by_text("order can't matter")).to_be_visible()
    expect(page.get_by_text("Your vote:")).to_be_visible()
    page.goto("about:blank")
    page.goto(link)
    settled(page)
    expect(page.get_by_text("order can't matter")).to_be_visible()


def test_one_readers_vote_neither_reveals_nor_takes_anothers(serve: Serve, browser: Browser) -> None:
    server = serve()
    first, second = browser.new_context().new_page(), browser.new_context().new_page()
    for reader in (first, second):
        reader.set_default_timeout(WAIT_MS)
    first.goto(server.url)
    settled(first)
    vote(first, "left")
    second.goto(server.url)
    settled(second)
    expect(second.locator(".st-key-vote_right")).to_be_visible()
    assert "cosine" not in second.locator('[data-testid="stMain"]').inner_text()
    vote(second, "right")
    for reader, side in ((first, "Left"), (second, "Right")):
        reader.reload()
        settled(reader)
        expect(reader.get_by_text(re.compile(f"Your vote: {side}"))).to_be_visible()
        reader.context.close()


def test_a_new_question_and_the_back_button(serve: Serve, page: Page) -> None:
    server = serve()
    page.goto(server.url)
    settled(page)
    box = page.get_by_label("Question", exact=True)
    box.fill("How do I stop a nosebleed?")
    box.press("Control+Enter")
    settled(page)
    page.locator(".st-key-duel_run").get_by_role("button").click()
    page.wait_for_url(re.compile("duel="), timeout=WAIT_MS)
    expect(page.locator(".st-key-hit_left_1")).to_be_visible(timeout=120_000)
    first = page.url
    expect(page.get_by_text("How do I stop a nosebleed?").first).to_be_visible()
    box.fill("How often are houseplants repotted?")
    box.press("Control+Enter")
    settled(page)
    page.locator(".st-key-duel_run").get_by_role("button").click()
    page.wait_for_url(lambda url: "duel=" in url and "job=" not in url and url != first, timeout=WAIT_MS)
    settled(page)
    for _ in range(3):  # the job's own step may stand between the two duels
        page.go_back()
        settled(page)
        if page.url == first:
            break
    assert page.url == first
    expect(page.get_by_label("Question", exact=True)).to_have_value("How do I stop a nosebleed?")


def test_upload_then_duel_on_own_files(serve: Serve, page: Page) -> None:
    server = serve()
    page.goto(f"{server.url}/corpora")
    settled(page)
    page.get_by_label("Name", exact=True).fill("Works manual")
    files = sorted(shared_path("cases", "fixtures", "corpus-small").iterdir())
    blank = server.data_dir.parent / "blank.txt"
    blank.write_text("  \n", encoding="utf-8")
    page.set_input_files('[data-testid="stFileUploader"] input[type=file]', [*files, blank])
    expect(page.get_by_text("blank.txt").first).to_be_visible()
    page.locator(".st-key-corpora_add").get_by_role("button").click()
    page.wait_for_url(re.compile("corpus="), timeout=WAIT_MS)
    settled(page)
    expect(page.get_by_role("heading", name="Works manual")).to_be_visible()
    expect(page.get_by_text(re.compile(r"5 documents|5 of 6|left out", re.IGNORECASE)).first).to_be_visible()

    page.goto(server.url)
    settled(page)
    page.get_by_label("Corpus").first.click()
    page.get_by_role("option", name="Works manual").click()
    settled(page)
    box = page.get_by_label("Question", exact=True)
    box.fill("Where are the spare keys?")
    box.press("Control+Enter")
    settled(page)
    page.locator(".st-key-duel_run").get_by_role("button").click()
    page.wait_for_url(re.compile("duel="), timeout=WAIT_MS)
    expect(page.locator(".st-key-hit_left_1")).to_contain_text("Spare keys hang in the grey cabinet", timeout=120_000)


@pytest.mark.llm
def test_the_local_llm_judges_in_both_orders_and_is_called_unfit(serve: Serve, page: Page) -> None:
    server = serve()
    page.goto(f"{server.url}/settings")
    settled(page)
    page.get_by_text("Use the local chat server").click()
    expect(page.get_by_text(re.compile(r"running at|starts when"))).to_be_visible(timeout=WAIT_MS)
    page.goto(server.url)
    settled(page)
    page.get_by_role("radio", name="LLM judge").or_(page.get_by_role("button", name="LLM judge")).first.click()
    settled(page)
    expect(page.get_by_text(re.compile("not fit to judge", re.IGNORECASE)).first).to_be_visible()
    ask_judge(page)
    expect(page.get_by_text(re.compile(r"^Order 2:")).first).to_be_visible(timeout=240_000)
    badge = re.compile("^(order-dependent|both orders agree|no verdict, counted apart)$")
    expect(page.get_by_text(badge).first).to_be_visible()


def test_cold_deep_links_pass_the_guard(serve: Serve, page: Page) -> None:
    """The first visitor after a start opens a page by link: it must go through app.py, ids kept."""
    for path in ("settings", "corpora?corpus=nowhere", "verdicts?verdict=nowhere"):
        server = serve()
        page.goto(f"{server.url}/{path}")
        settled(page)
        expect(page.get_by_role("link", name="Verdicts")).to_be_visible()
        expect(page).to_have_title(re.compile("Ragduel"))
        if "nowhere" in path:
            expect(page.get_by_text(re.compile("(There is no|No ).*nowhere")).first).to_be_visible()
            assert "nowhere" in page.url
        server.stop()


def test_an_empty_data_folder_offers_the_sample(serve: Serve, page: Page) -> None:
    server = serve(empty=True)
    page.goto(server.url)
    settled(page)
    page.get_by_role("button", name=re.compile("sample", re.IGNORECASE)).click()
    expect(page.locator(".st-key-hit_left_1")).to_be_visible(timeout=180_000)


def test_phone_width_stacks_the_lists_and_scrolls_no_sideways(serve: Serve, browser: Browser) -> None:
    server = serve()
    context = browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(server.url)
    settled(page)
    left, right = page.locator(".st-key-hit_left_1"), page.locator(".st-key-hit_right_1")
    expect(left).to_be_visible()
    a, b = left.bounding_box(), right.bounding_box()
    assert a is not None
    assert b is not None
    assert b["y"] >= a["y"] + a["height"] - 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_untrusted_text_stays_text(serve: Serve, page: Page, replay: Callable[[Path], Replay]) -> None:
    """Case 31: markup, formulas and images in documents, queries and replies are shown as they are."""
    name = "31-st-text-shown-verbatim"
    case = replay(shared_path("cases", "cases", name, "responses.json"))
    server = serve(RAGDUEL_LLM_BASE_URL=case.base_url, RAGDUEL_LLM_MODEL="scripted-judge")
    files = [shared_path("cases", "cases", name, one) for one in ("odd-text.md", "plain-text.md")]
    query = shared_path("cases", "cases", name, "queries.txt").read_text(encoding="utf-8").strip()
    with _case_workspace(server, case, files) as workspace:
        duel = workspace.duel(DuelRequest("case", query, "emb-a", "emb-b", 1))
        workspace.judge(duel.duel_id, JudgeChoice(JudgeKind.LLM))
    hits: list[str] = []
    page.on("request", lambda request: hits.append(request.url))
    page.goto(f"{server.url}/?duel={duel.duel_id}")
    settled(page)
    page.locator(".st-key-vote_tie").get_by_role("button").click()
    settled(page)
    body = page.locator('[data-testid="stMain"]')
    for shown in (
        "Revenue was $119.6 billion, up from $117.2 billion; fees of $3 and $4 apply.",
        "<b>bold?</b> <script>document.title='XSS'</script>",
        ":red[coloured?] :smile: **stars** _under_score_ `tick` ~~gone~~",
        "What was the revenue in $ and <b>which</b> fees apply?",
        "Costs $3 and $4; see </script><script>document.title='XSS3'</script> :red[x]",
    ):
        expect(body.get_by_text(shown).first).to_be_attached()
    expect(body).to_contain_text("**names** $3 and $4 <b>both</b>")
    assert "XSS" not in page.title()
    assert not [url for url in hits if "pixel.png" in url]


def test_results_stay_after_a_download_and_a_page_change(
    serve: Serve, page: Page, replay: Callable[[Path], Replay]
) -> None:
    """Case 27: a download reruns nothing, loses nothing and asks nobody anything."""
    case = replay(shared_path("cases", "fixtures", "all-good.json"))
    server = serve(RAGDUEL_LLM_BASE_URL=case.base_url, RAGDUEL_LLM_MODEL="scripted-judge")
    asked = queries("queries-10.txt")
    with _case_workspace(server, case, [shared_path("cases", "fixtures", "corpus-small")]) as workspace:
        for query in asked:
            duel = workspace.duel(DuelRequest("case", query, "emb-a", "emb-b", 1))
            workspace.judge(duel.duel_id, JudgeChoice(JudgeKind.LLM))
    n_requests = len(case.requests())
    page.goto(f"{server.url}/verdicts")
    settled(page)
    for _ in range(2):
        with page.expect_download() as download:
            page.locator(".st-key-verdicts_csv").get_by_role("button").click()
        rows = list(csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8-sig").splitlines()))
        assert len(rows) == 10
        settled(page)
        expect(page.get_by_text("10 of 10")).to_be_visible()
    page.get_by_role("link", name="Settings").click()
    settled(page)
    page.get_by_role("link", name="Verdicts").click()
    settled(page)
    expect(page.get_by_text("10 of 10")).to_be_visible()
    assert len(case.requests()) == n_requests


@contextmanager
def _case_workspace(server: Server, case: Replay, files: list[Path]) -> Iterator[Workspace]:
    """The app's data folder with a case's models, files and chat endpoint; closed before the browser looks."""
    workspace = Workspace(Settings(_env_file=None, data_dir=server.data_dir))
    try:
        for model in ("emb-a", "emb-b"):
            draft = ModelSpec(model, Source.ENDPOINT, model, base_url=case.base_url, pooling="endpoint")
            workspace.registry.add(workspace.probe_model(draft, SecretStr("")))
        sources, _ = read_paths(files, max_files=10, max_file_bytes=1_000_000)
        workspace.corpora.add("case", sources, WHOLE_DOCUMENTS)
        workspace.save_chat_settings(ChatSettings(case.base_url, "scripted-judge"))
        yield workspace
    finally:
        workspace.close()
