"""The rooms joined: what the pages and the command line call. One object a process, safe to share between threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from pydantic import SecretStr

from backend.corpus import Corpus, CorpusLibrary
from backend.corpus.reading import ProcessReading, limits_of
from backend.corpus.removal import sweep
from backend.embedding import (
    AvailabilityState,
    EncoderPool,
    ModelRegistry,
    ModelSpec,
    VectorCache,
    availability,
    changeable_content,
    download,
    probe_model,
)
from backend.errors import InputError, RagduelError, UnavailableError
from backend.experiments import BeirScores, QuerySetStore, load_beir, score_beir
from backend.jobs import JobRunner
from backend.judging import (
    Judge,
    JudgeKind,
    LikelihoodJudge,
    LlmJudge,
    Outcome,
    StoredVerdict,
    VerdictStore,
    VoteStore,
    judged_texts,
    unit_name,
)
from backend.llm import LocalChatServer, OpenAIChat, check_endpoint
from backend.prompts import load_prompt
from backend.retrieval import Duel, DuelStore, HydeExpander, IndexStore, duel_id_for, retrieve
from backend.retrieval.hyde import HYDE_PROMPT
from backend.retrieval.types import Expansion, RankedList
from backend.settings import Settings, load_settings
from backend.store import Database, FileStore, now_iso, sha256_hex, storable
from backend.workspace.corpus_work import CorpusWork, corpus_handlers
from backend.workspace.doctor import examine
from backend.workspace.endpoints import ChatEndpoints
from backend.workspace.sample import prepare_sample
from backend.workspace.tokenizers import Tokenizers
from backend.workspace.types import ChatSettings, Check, DuelRequest, JudgeChoice, SessionKeys
from backend.workspace.work import handlers, secrets_of, work_key

Progress = Callable[[str, int, int], None]
Cancelled = Callable[[], bool]
NO_KEYS = SessionKeys()
MAX_K = 100


class Workspace:
    """Everything Ragduel knows and can do, over one data folder.

    Args:
        settings: Configuration; read from the environment where None.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or load_settings()
        try:
            self.settings.data_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UnavailableError(
                f"The data folder {self.settings.data_dir} can't be made: {error.strerror}.",
                hint="Check RAGDUEL_DATA_DIR.",
            ) from None
        self.database = Database(self.settings.sqlalchemy_url)
        self.files = FileStore(self.settings.data_dir)
        self.registry = ModelRegistry(self.database)
        self.tokenizers = Tokenizers(self.registry)
        self.reading = ProcessReading()
        self.corpora = CorpusLibrary(
            self.database,
            self.files,
            self.tokenizers.get,
            reading=self.reading,
            limits=limits_of(self.settings),
            max_files=self.settings.max_files,
            max_batch_bytes=self.settings.max_batch_mb * 1_000_000,
        )
        self.query_sets = QuerySetStore(self.database)
        self.corpus_work = CorpusWork(self)
        self.encoders = EncoderPool(self.registry, self.settings)
        self.vectors = VectorCache(self.database, self.files, self.settings.encode_batch_size)
        self.indexes = IndexStore(self.files, self.vectors)
        self.duels = DuelStore(self.database)
        self.verdicts = VerdictStore(self.database)
        self.votes = VoteStore(self.database)
        self.local_chat = LocalChatServer(self.settings)
        self.endpoints = ChatEndpoints(self.settings, self.database, self.local_chat)
        self.jobs = JobRunner(self.database, self.settings.job_workers)
        for kind, handler in {**handlers(self), **corpus_handlers(self.corpus_work, self)}.items():
            self.jobs.register(kind, handler)
        sweep(self.database, self.files)

    def close(self) -> None:
        """Stop the jobs and the local chat server, free the models."""
        self.jobs.close()
        self.reading.close()
        self.local_chat.stop()
        self.encoders.release_all()
        self.database.close()

    # Duels

    def duel(
        self,
        request: DuelRequest,
        keys: SessionKeys = NO_KEYS,
        *,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> Duel:
        """Retrieve with two models side by side. The same request again is the same duel, from the store.

        Raises:
            InputError: Blank query, k out of range, or a query without a vector.
            UnavailableError: A model is not on this machine; the hint says how to get it.
            ProviderError: An embedding endpoint failed.
            CancelledError: Stopped.
        """
        corpus = self.corpora.get(request.corpus)
        query = storable(request.query.strip())
        if not query:
            raise InputError("The query is blank.", hint="Write a question, or pick a suggestion.")
        if not 1 <= request.k <= MAX_K:
            raise InputError(f"The cutoff k is {request.k}; it must lie between 1 and {MAX_K}.")
        spec_a, spec_b = self.ready_model(request.model_a), self.ready_model(request.model_b)
        writer, no_writer = self._hyde_writer(keys) if request.hyde else (None, "")
        model_a, model_b = _model_name(spec_a), _model_name(spec_b)
        duel_id = duel_id_for(
            corpus_id=corpus.corpus_id,
            version_id=corpus.version_id,
            query=query,
            k=request.k,
            model_a=model_a,
            model_b=model_b,
            hyde=request.hyde,
            writer=self._writer_name(writer) if writer else "",
        )
        known = self.duels.find(duel_id)
        if known and _is_whole(known):
            return known
        expansion = Expansion(failure=no_writer) if no_writer else None
        if writer and request.hyde:
            if progress:
                progress("Writing hypothetical passages", 0, 1)
            expansion = HydeExpander(writer, request.hyde, self.settings.seed).expand(query)
        lists = [
            self._ranked_list(corpus, spec, query, request.k, expansion, keys, progress, cancelled)
            for spec in (spec_a, spec_b)
        ]
        if (model_a, model_b) != (_model_name(spec_a), _model_name(spec_b)):
            raise UnavailableError("A model's files changed during the duel.", hint="Start it again.")
        duel = Duel(
            duel_id=duel_id,
            corpus_id=corpus.corpus_id,
            corpus_name=corpus.name,
            version_id=corpus.version_id,
            query=query,
            k=request.k,
            a=lists[0],
            b=lists[1],
            hyde=request.hyde,
            expansion=expansion,
            seed=self.settings.seed,
            created_at=now_iso(),
        )
        if not _is_whole(duel):
            # A second try may bring other hits: votes and verdicts on these must not pass to them.
            told = [[hit.chunk_id for hit in found.hits] for found in lists]
            duel = replace(duel, duel_id=sha256_hex(json.dumps([duel_id, told]))[:20])
        self.duels.save(duel)
        return duel

    def start_duel(self, request: DuelRequest, keys: SessionKeys = NO_KEYS) -> str:
        """Run a duel as a job; its result holds ``duel_id``."""
        params = asdict(request)
        return self.jobs.submit("duel", params, key=work_key("duel", params), secrets=secrets_of(keys))

    def ready_model(self, key: str) -> ModelSpec:
        """The model, if it can be used now.

        Raises:
            UnavailableError: It is not on this machine; the hint says how to get it.
        """
        spec = self.registry.get(key)
        found = availability(spec, self.settings)
        if found.state is not AvailabilityState.READY:
            raise UnavailableError(f"The model {key} is not on this machine.", hint=found.how_to_get)
        return spec

    # Judging

    def judge(
        self,
        duel_id: str,
        choice: JudgeChoice,
        keys: SessionKeys = NO_KEYS,
        *,
        cancelled: Cancelled | None = None,
    ) -> StoredVerdict:
        """Have a duel judged, blind. A scored verdict of the same judge comes from the store.

        Raises:
            NotFoundError: There is no such duel.
            InputError: No chat endpoint is set for the LLM judge.
            CancelledError: Stopped; nothing is stored but the answers that were paid for.
        """
        duel = self.duels.get(duel_id)
        judge = self._judge(choice, keys, duel, cancelled)
        for stored in self.verdicts.for_duel(duel_id):
            if stored.verdict.judge == judge.identity and stored.verdict.outcome is not Outcome.UNSCORED:
                return stored
        text_a, text_b = judged_texts(duel, choice.rank)
        return self.verdicts.save(duel_id, judge.judge(duel.query, text_a, text_b))

    def start_judging(self, duel_id: str, choice: JudgeChoice, keys: SessionKeys = NO_KEYS) -> str:
        """Judge as a job; its result holds ``verdict_id``."""
        params = {"duel_id": duel_id, **asdict(choice)}
        return self.jobs.submit("judging", params, key=work_key("judging", params), secrets=secrets_of(keys))

    def resume_job(self, job_id: str, keys: SessionKeys = NO_KEYS) -> str:
        """Run a stopped job again from where it was, with the keys of whoever asks."""
        return self.jobs.resume(job_id, secrets=secrets_of(keys))

    # Models and endpoints

    def probe_model(self, draft: ModelSpec, api_key: SecretStr) -> ModelSpec:
        """Try a model that a person wants to add; fill in what the probe tells."""
        return probe_model(draft, api_key, self.settings)

    def start_download(self, model_key: str) -> str:
        """Fetch a hub model as a job."""
        self.registry.get(model_key)
        return self.jobs.submit("download", {"model_key": model_key}, key=work_key("download", {"model": model_key}))

    def download(self, model_key: str) -> None:
        """Fetch a hub model now.

        Raises:
            UnavailableError: The hub can't be reached, or has no such model.
        """
        if self.settings.offline:
            raise UnavailableError("RAGDUEL_OFFLINE is set, so nothing is downloaded.", hint="Unset it and try again.")
        download(self.registry.get(model_key))

    def chat_settings(self) -> ChatSettings:
        """The chat endpoint in force, without its key."""
        return self.endpoints.in_force()

    def save_chat_settings(self, chosen: ChatSettings | None) -> None:
        """Keep the chat endpoint; None goes back to the environment's."""
        self.endpoints.save(chosen)

    def check_chat(self, keys: SessionKeys = NO_KEYS) -> list[str]:
        """Model names at the chat endpoint in force.

        Raises:
            InputError: None is set.
            ProviderError: It does not answer as it should.
        """
        chosen = self.endpoints.in_force()
        if chosen.use_local:
            return [self.endpoints.local_endpoint().model]
        if not chosen.base_url:
            raise InputError("No chat endpoint is set.", hint="Enter its base URL on the settings page.")
        key = self.endpoints.key_for(chosen.base_url, keys)
        return check_endpoint(chosen.base_url, key, min(self.settings.llm_timeout_s, 10.0))

    def doctor(self, keys: SessionKeys = NO_KEYS) -> list[Check]:
        """Check everything that a duel and a verdict need."""
        return examine(self, keys)

    def storage(self) -> dict[str, int]:
        """Bytes used in the data folder, by kind."""
        sizes = self.files.size_bytes()
        database = self.settings.data_dir / "ragduel.sqlite3"
        sizes["database"] = sum(p.stat().st_size for p in database.parent.glob(database.name + "*"))
        return sizes

    # Sample and benchmarks

    def prepare_sample(self, progress: Progress | None = None) -> Duel:
        """The sample corpus, indexed by the two offline models, and a first duel; does nothing twice."""
        return prepare_sample(self, progress)

    def start_sample(self) -> str:
        """Prepare the sample as a job; its result holds ``duel_id``."""
        return self.jobs.submit("sample", {}, key="sample")

    def score(
        self, folder: Path, model_keys: Sequence[str], *, split: str = "test", k: int = 10,
        keys: SessionKeys = NO_KEYS, progress: Progress | None = None,
    ) -> dict[str, BeirScores]:  # fmt: skip
        """Score models on a BEIR folder through the same encoders, cache and index as the app."""
        for key in model_keys:
            self.ready_model(key)
        beir = load_beir(folder, split)
        scores = {}
        for key in model_keys:
            with self.encoders.use(key, self._embedding_key(key, keys)) as encoder:
                scores[key] = score_beir(beir, encoder, self.vectors, k=k, progress=progress)
        return scores

    # Parts

    def _ranked_list(
        self, corpus: Corpus, spec: ModelSpec, query: str, k: int, expansion: Expansion | None, keys: SessionKeys,
        progress: Progress | None, cancelled: Cancelled | None,
    ) -> RankedList:  # fmt: skip
        if progress:
            progress(f"Loading {spec.key}", 0, 1)
        with self.encoders.use(spec.key, self._embedding_key(spec.key, keys)) as encoder:
            corpus_index = self.indexes.index_for(
                corpus.version_fingerprint,
                lambda: self.corpora.chunks(corpus.version_id),
                encoder,
                progress=progress,
                cancelled=cancelled,
            )
            return retrieve(
                query,
                k,
                encoder=encoder,
                corpus_index=corpus_index,
                vectors=self.vectors,
                chunks_at=lambda positions: self.corpora.chunks_at(corpus.version_id, positions),
                expansion=expansion,
            )

    def _hyde_writer(self, keys: SessionKeys) -> tuple[OpenAIChat | None, str]:
        """The chat model that writes passages, or None with the reason: a duel goes on with the plain query."""
        try:
            # Without any endpoint the local chat server writes: it needs no key and no network.
            endpoint = self.endpoints.endpoint(keys) or self.endpoints.local_endpoint()
        except RagduelError as error:
            return None, str(error)
        return OpenAIChat(endpoint, self.database), ""

    def _writer_name(self, writer: OpenAIChat) -> str:
        where = f"{writer.endpoint.model} at {writer.endpoint.base_url}"
        return f"{where}, prompt {load_prompt(HYDE_PROMPT).version}, seed {self.settings.seed}"

    def _judge(self, choice: JudgeChoice, keys: SessionKeys, duel: Duel, cancelled: Cancelled | None) -> Judge:
        unit = unit_name(choice.rank, duel.k)
        if choice.kind is JudgeKind.LIKELIHOOD:
            return LikelihoodJudge(self.settings, database=self.database, unit=unit)
        endpoint = self.endpoints.endpoint(keys, base_url=choice.base_url, model=choice.model)
        if endpoint is None:
            raise InputError(
                "No chat endpoint is set for the LLM judge.",
                hint="Enter one on the settings page, or set RAGDUEL_LLM_BASE_URL and RAGDUEL_LLM_MODEL.",
            )
        chat = OpenAIChat(endpoint, self.database)
        return LlmJudge(
            chat,
            both_orders=choice.both_orders,
            unit=unit,
            seed=self.settings.seed,
            ask_again=choice.again,
            cancelled=cancelled,
        )

    def _embedding_key(self, model_key: str, keys: SessionKeys) -> SecretStr:
        return self.endpoints.embedding_key_for(self.registry.get(model_key).base_url, keys)


def _model_name(spec: ModelSpec) -> str:
    """Names a model for a duel's id: key, spec, and what its files hold where they can change."""
    return f"{spec.key} {spec.fingerprint} {changeable_content(spec)}".rstrip()


def _is_whole(duel: Duel) -> bool:
    """Whether nothing failed that a second try could mend."""
    return not (duel.a.n_unembedded or duel.b.n_unembedded or (duel.expansion and duel.expansion.failure))
