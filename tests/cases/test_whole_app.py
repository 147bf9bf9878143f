"""The cases driven through the whole app: files in, endpoint models, duels, the LLM judge, the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from backend.corpus import Chunking
from backend.errors import InputError, RagduelError
from backend.judging import JudgeKind, Outcome
from backend.reporting import to_csv, verdict_table
from backend.settings import Settings
from backend.workspace import ChatSettings, JudgeChoice, SessionKeys
from tests.cases.bench import SMALL_CORPUS, Bench, queries
from tests.conftest import Replay, shared_path

Start = Callable[..., Bench]


@pytest.fixture
def start(settings: Settings, replay: Callable[[Path], Replay]) -> Iterator[Start]:
    benches: list[Bench] = []

    def make(script: tuple[str, ...], corpus: list[Path] | None = None, **options) -> Bench:
        files = corpus or [shared_path(*SMALL_CORPUS)]
        bench = Bench(settings, replay(shared_path("cases", *script)), files, **options)
        benches.append(bench)
        return bench

    yield make
    for bench in benches:
        bench.workspace.close()


def case(name: str) -> tuple[str, ...]:
    return ("cases", name, "responses.json")


def case_files(name: str, *names: str) -> list[Path]:
    return [shared_path("cases", "cases", name, one) for one in names]


def outcomes(bench: Bench, asked: list[str]) -> list[str]:
    return [bench.judge(query).verdict.outcome.value for query in asked]


def test_case_01_fenced_replies_are_all_read_without_a_retry(start: Start) -> None:
    bench = start(case("01-judge-markdown-fence"))
    asked = queries("queries-5.txt")
    assert outcomes(bench, asked) == ["a"] * 5
    assert len(bench.server.chats()) == 10
    kept = bench.judge(asked[3]).verdict.orders[0].reason
    assert "```json" in kept
    first = bench.judge(asked[0]).verdict.orders[0]
    assert (first.scores_a.overall, first.scores_b.overall) == (9.0, 4.5)


def test_case_03_small_defects_are_repaired_or_unscored(start: Start) -> None:
    bench = start(case("03-judge-trailing-comma-quotes"))
    asked = queries("queries-4.txt")
    stored = [bench.judge(query) for query in asked]
    assert stored[3].verdict.outcome is Outcome.A
    assert all(",}" in order.reason and ",]" in order.reason for order in stored[3].verdict.orders)
    for one in stored[:3]:
        assert one.verdict.outcome in {Outcome.A, Outcome.UNSCORED}
        assert len({order.outcome for order in one.verdict.orders}) == 1
        assert all(order.raw_reply for order in one.verdict.orders)


def test_case_05_five_causes_five_reasons_and_the_400_is_not_repeated(start: Start) -> None:
    bench = start(case("05-judge-no-usable-content"))
    asked = queries("queries-5.txt")
    stored = [bench.judge(query) for query in asked]
    assert [one.verdict.outcome for one in stored] == [Outcome.UNSCORED] * 5
    reasons = [one.verdict.orders[0].unscored_reason for one in stored]
    assert len(set(reasons)) == 5
    assert sum(asked[3] in str(request["body"]) for request in bench.server.chats()) <= 2


def test_case_07_scores_of_the_wrong_kind_stay_out(start: Start) -> None:
    bench = start(case("07-judge-score-types-range"))
    stored = [bench.judge(query).verdict for query in queries("queries-10.txt")]
    assert [stored[n].outcome for n in (0, 2, 8)] == [Outcome.A] * 3
    for n in (0, 2, 8):
        assert (stored[n].orders[0].scores_a.overall, stored[n].orders[0].scores_b.overall) == (9.0, 4.5)
    for n, said in ((3, "98989"), (4, "9.2e+124"), (5, "true"), (6, "nan"), (7, "11")):
        assert stored[n].outcome is Outcome.UNSCORED
        assert said in stored[n].orders[0].unscored_reason.lower()
    assert stored[9].outcome is Outcome.A
    assert stored[9].orders[0].stated_confidence is None


def test_case_09_braces_reach_the_judge_unchanged(start: Start) -> None:
    name = "09-judge-braces-in-chunk"
    bench = start(case(name), case_files(name, "relay-config.md", "rack-notes.md"))
    asked = shared_path("cases", "cases", name, "queries.txt").read_text(encoding="utf-8").splitlines()
    document = shared_path("cases", "cases", name, "relay-config.md").read_text(encoding="utf-8").strip()
    for query in asked:
        stored = bench.judge(query)
        assert stored.verdict.outcome is Outcome.A
        assert '{"retries": 3} and {x} }' in stored.verdict.orders[0].reason
    for query in asked:
        assert any(
            query in text and document in text
            for text in ("\n".join(m["content"] for m in r["body"]["messages"]) for r in bench.server.chats())
        )


def test_case_11_a_judge_that_always_says_first_gives_ties_only(start: Start) -> None:
    bench = start(case("11-judge-always-first"))
    stored = [bench.judge(query).verdict for query in queries("queries-10.txt")]
    assert all(v.outcome is Outcome.TIE and v.order_dependent for v in stored)
    chosen = [order.stated_winner == order.first for verdict in stored for order in verdict.orders]
    assert chosen == [True] * 20
    sent = "\n".join(m["content"] for request in bench.server.chats() for m in request["body"]["messages"])
    for secret in ("emb-a", "emb-b", "01-pressure", "02-shifts", ".md", ".txt"):
        assert secret not in sent


def test_case_11_one_order_is_drawn_from_the_seed_and_says_so(start: Start) -> None:
    bench = start(case("11-judge-always-first"))
    verdicts = []
    for query in queries("queries-10.txt"):
        choice = JudgeChoice(JudgeKind.LLM, both_orders=False)
        verdicts.append(bench.workspace.judge(bench.duel(query).duel_id, choice).verdict)
    assert all(verdict.one_order for verdict in verdicts)
    assert {verdict.outcome for verdict in verdicts} == {Outcome.A, Outcome.B}


def test_case_13_a_refused_response_format_is_found_once(start: Start) -> None:
    bench = start(case("13-client-response-format-rejected"))
    assert outcomes(bench, queries("queries-5.txt")) == ["a"] * 5
    statuses = [request["status"] for request in bench.server.chats()]
    assert statuses.count(400) <= 2
    assert statuses.count(200) == 10


def test_case_15_no_key_is_fine_and_a_key_goes_nowhere_else(
    start: Start, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    bench = start(("fixtures", "all-good.json"))
    first, second = queries("queries-3.txt")[:2]
    assert bench.judge(first).verdict.outcome is Outcome.A
    keys = SessionKeys(SecretStr("sk-test-1234\n"), bench.server.base_url)
    assert bench.judge(second, keys).verdict.outcome is Outcome.A
    assert bench.server.chats()[-1]["auth"] == "Bearer sk-test-1234"
    assert "sk-test" not in str(bench.server.chats()[0]["auth"])
    rows = [(bench.workspace.duels.get(s.duel_id), s) for s in bench.workspace.verdicts.list()]
    assert b"sk-test-1234" not in to_csv(verdict_table(rows))
    assert "sk-test-1234" not in caplog.text
    held = b"".join(path.read_bytes() for path in settings.data_dir.rglob("*") if path.is_file())
    assert b"sk-test-1234" not in held


def test_case_17_a_hang_and_a_crash_cost_only_themselves(
    start: Start, settings: Settings, replay: Callable[[Path], Replay]
) -> None:
    bench = start(case("17-client-hang-crash-resume"))
    bench.workspace.endpoints._settings = settings.model_copy(update={"llm_timeout_s": 1.0, "llm_max_retries": 0})
    asked = queries("queries-5.txt")
    started = time.monotonic()
    assert outcomes(bench, asked) == ["a", "a", "unscored", "a", "unscored"]
    assert time.monotonic() - started < 20
    assert all(verdict.provider_failed for verdict in (bench.judge(q).verdict for q in (asked[4],)))

    mended = replay(shared_path("cases", "fixtures", "all-good.json"))
    before = len(bench.server.chats())
    bench.workspace.save_chat_settings(ChatSettings(mended.base_url, "scripted-judge"))
    assert outcomes(bench, [asked[2], asked[4]]) == ["a", "a"]
    assert len(mended.chats()) == 4
    assert len(bench.server.chats()) == before


def test_a_repeated_request_is_never_paid_twice(start: Start) -> None:
    bench = start(("fixtures", "all-good.json"))
    query = queries("queries-3.txt")[0]
    first = bench.judge(query)
    n_requests = len(bench.server.requests())
    assert bench.judge(query) == first
    assert len(bench.server.requests()) == n_requests
    # A second tab that asks while the first still waits joins the same job.
    duel = bench.duel(queries("queries-3.txt")[1])
    jobs = {bench.workspace.start_judging(duel.duel_id, JudgeChoice(JudgeKind.LLM)) for _ in range(3)}
    for job in jobs:
        bench.workspace.jobs.wait(job, 20)
    assert len(bench.server.chats()) == 4


@pytest.mark.parametrize(
    ("row", "n_calls"), [(0, 2), (1, 2), (2, 2), (4, 4)], ids=["length", "refusal", "filter", "prose"]
)
def test_an_unusable_reply_is_paid_again_only_when_a_person_asks(start: Start, row: int, n_calls: int) -> None:
    bench = start(case("05-judge-no-usable-content"))
    query = queries("queries-5.txt")[row]  # prose gets one repair attempt in each order
    first = bench.judge(query)
    assert len(bench.server.chats()) == n_calls
    again = bench.judge(query)
    assert again.verdict.outcome is Outcome.UNSCORED
    told = [order.unscored_reason for order in first.verdict.orders]
    assert [order.unscored_reason for order in again.verdict.orders] == told
    assert len(bench.server.chats()) == n_calls
    bench.workspace.judge(first.duel_id, JudgeChoice(JudgeKind.LLM, again=True))
    assert len(bench.server.chats()) == 2 * n_calls


@pytest.mark.parametrize("bad", ["null", "nan", "error500"])
def test_case_19_a_chunk_without_a_vector_is_named_and_the_rest_is_found(
    start: Start, tmp_path: Path, bad: str
) -> None:
    name = "19-embed-nan-vector"
    script = shared_path("cases", *case(name)).read_text(encoding="utf-8").replace('"null"', f'"{bad}"')
    changed = tmp_path / "responses.json"
    changed.write_text(script, encoding="utf-8")
    files = case_files(name, "a-harbour.txt", "b-importance.txt", "c-ferry.txt", "d-lamp.txt")
    bench = start((str(changed),), files, models=("emb-a",))
    duel = bench.duel("When does the harbour close?", "emb-a", "emb-a", k=4)
    assert duel.a.n_unembedded == 1
    assert duel.a.hits[0].document == "a-harbour.txt"
    assert {hit.document for hit in duel.a.hits} == {"a-harbour.txt", "c-ferry.txt", "d-lamp.txt"}
    assert all(-1 <= hit.score <= 1 for hit in duel.a.hits)
    with pytest.raises(RagduelError, match=r"importance|vector|emb-a"):
        bench.duel("importance", "emb-a", "emb-a", k=4)


def test_cases_21_and_25_another_model_gets_its_own_index(start: Start) -> None:
    name = "21-embed-dim-mismatch-switch"
    files = case_files(name, "alpha.txt", "beta.txt", "gamma.txt")
    bench = start(case(name), files, models=("emb-a", "emb-b", "emb-c"))
    assert bench.duel("ALPHA", "emb-a", "emb-b").a.hits[0].document == "alpha.txt"
    assert bench.duel("ALPHA", "emb-b", "emb-b").a.hits[0].document == "alpha.txt"
    switched = bench.duel("ALPHA", "emb-b", "emb-c")
    assert switched.b.hits[0].document == "beta.txt"
    n_requests = len(bench.server.requests("/embeddings"))
    again = bench.duel("ALPHA", "emb-a", "emb-b")
    assert again.a.hits[0].document == "alpha.txt"
    assert len(bench.server.requests("/embeddings")) == n_requests
    changed = replace(bench.workspace.registry.get("emb-a"), key="emb-a-prefixed", query_prompt="keys: ")
    bench.workspace.registry.add(changed)
    assert changed.fingerprint != bench.workspace.registry.get("emb-a").fingerprint


def test_case_23_scores_are_cosines(start: Start) -> None:
    name = "23-embed-unnormalised-scores"
    bench = start(case(name), case_files(name, "loud.txt", "near.txt"), models=("emb-a",))
    hits = bench.duel("QUERY what is the bridge toll", "emb-a", "emb-a", k=2).a.hits
    assert [(hit.document, round(hit.score, 3)) for hit in hits] == [("near.txt", 0.994), ("loud.txt", 0.707)]


def test_case_65_no_blank_text_is_ever_sent(start: Start, settings: Settings) -> None:
    name = "65-embed-empty-chunk"
    files = case_files(name, "beds.csv", "blank.txt", "gaps.md")
    bench = start(case(name), files, models=("emb-a",), chunking=Chunking(12, 0))
    assert [one.file for one in bench.report.skipped] == ["blank.txt"]
    found = [bench.duel(q, "emb-a", "emb-a", k=3).a.hits[0] for q in
             ("When do tomatoes get water?", "When does the heater start?", "Which bed holds mint?")]  # fmt: skip
    assert [hit.document for hit in found] == ["gaps.md", "gaps.md", "beds.csv"]
    assert "row 3" in found[2].place
    with pytest.raises(InputError, match="blank"):
        bench.duel("   ", "emb-a", "emb-a")
    for request in bench.server.requests("/embeddings"):
        assert request["status"] == 200
        assert all(text.strip() for text in request["body"]["input"])
