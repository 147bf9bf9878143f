"""A whole Ragduel against a case's scripted server: endpoint models, corpus, duels, LLM judge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import SecretStr

from backend.corpus import WHOLE_DOCUMENTS, Chunking, read_paths
from backend.embedding import ModelSpec, Source
from backend.judging import JudgeKind, StoredVerdict
from backend.retrieval import Duel
from backend.settings import Settings
from backend.workspace import ChatSettings, DuelRequest, JudgeChoice, SessionKeys, Workspace
from tests.conftest import Replay, shared_path


class Bench:
    """One workspace on one case.

    Args:
        settings: Its configuration.
        server: The case's running script.
        corpus: Files or a folder; each file is one chunk.
        models: Embedding models of the server.
        chunking: One chunk a file unless told otherwise.
    """

    def __init__(
        self,
        settings: Settings,
        server: Replay,
        corpus: Sequence[Path],
        models: Sequence[str] = ("emb-a", "emb-b"),
        chunking: Chunking | None = None,
    ) -> None:
        self.server = server
        self.workspace = Workspace(settings)
        for name in models:
            self.add_model(name)
        sources, _ = read_paths(list(corpus), max_files=100, max_file_bytes=10_000_000)
        self.report = self.workspace.corpora.add("case", sources, chunking or WHOLE_DOCUMENTS)
        self.workspace.save_chat_settings(ChatSettings(server.base_url, "scripted-judge"))

    def add_model(self, name: str) -> None:
        draft = ModelSpec(
            key=name, source=Source.ENDPOINT, name=name, base_url=self.server.base_url, pooling="endpoint"
        )  # fmt: skip
        self.workspace.registry.add(self.workspace.probe_model(draft, SecretStr("")))

    def duel(self, query: str, a: str = "emb-a", b: str = "emb-b", k: int = 1) -> Duel:
        return self.workspace.duel(DuelRequest("case", query, a, b, k))

    def judge(self, query: str, keys: SessionKeys | None = None) -> StoredVerdict:
        duel = self.duel(query)
        return self.workspace.judge(duel.duel_id, JudgeChoice(JudgeKind.LLM), keys or SessionKeys())


def queries(name: str) -> list[str]:
    """The queries of a shared fixture, blank lines left out."""
    text = shared_path("cases", "fixtures", name).read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip()]


SMALL_CORPUS = ("cases", "fixtures", "corpus-small")
