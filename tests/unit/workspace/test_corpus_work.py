"""Corpora over a whole workspace: what is embedded when a corpus changes, what goes with a file, what stays."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import func, select

from backend.corpus import WHOLE_DOCUMENTS, Chunking, Corpus, ReadOptions, SourceFile
from backend.embedding import ModelSpec, Source
from backend.errors import InputError
from backend.jobs import JobState
from backend.retrieval import Duel
from backend.settings import Settings
from backend.store import sha256_hex
from backend.store.tables import VectorRow
from backend.workspace import DuelRequest, Workspace
from tests.fakes.scripted_server import Request, ScriptedServer, embeddings
from tests.unit.workspace.test_content_and_work import _vector

TEXTS = {"rivers.txt": "Alpha rivers flow north.", "stones.txt": "Beta stones are cold."}
FILES = [SourceFile(name, text.encode()) for name, text in TEXTS.items()]


class Bench:
    """A workspace with two endpoint models, and what their server was asked to embed."""

    def __init__(self, settings: Settings, server: ScriptedServer) -> None:
        self.server = server
        self.workspace = Workspace(settings)
        for key, name in (("ea", "m1"), ("eb", "m2")):
            self.workspace.registry.add(
                ModelSpec(key, Source.ENDPOINT, name, base_url=server.base_url, pooling="endpoint", dimension=8)
            )

    def duel(self, query: str = "what flows?") -> Duel:
        return self.workspace.duel(DuelRequest("c", query, "ea", "eb", 5))

    def embedded(self) -> list[str]:
        """Texts sent since the last call."""
        sent = [text for request in self.server.log for text in _inputs(request)]
        self.server.log.clear()
        return sorted(sent)

    def corpus(self) -> Corpus:
        return self.workspace.corpora.get("c")


def _inputs(request: Request) -> list[str]:
    given = request.body["input"]
    return [given] if isinstance(given, str) else list(given)


@pytest.fixture
def bench(settings: Settings) -> Iterator[Bench]:
    with ScriptedServer(lambda request: embeddings(_vector(request.body["model"]))(request)) as server:
        bench = Bench(settings, server)
        yield bench
        bench.workspace.close()


def test_adding_files_embeds_only_what_is_new(bench: Bench) -> None:
    bench.workspace.corpus_work.add("c", FILES, Chunking())
    bench.duel()
    bench.embedded()
    bench.workspace.corpus_work.extend("c", [SourceFile("birds.txt", b"Gamma birds sing loudly.")])
    assert len(bench.duel().a.hits) == 3
    assert bench.embedded() == ["Gamma birds sing loudly."] * 2


def test_cutting_anew_leaves_finished_duels_as_they_were(bench: Bench) -> None:
    bench.workspace.corpus_work.add("c", FILES, Chunking())
    before = bench.duel()
    bench.workspace.corpora.rechunk("c", Chunking(3, 0))
    assert bench.workspace.duels.get(before.duel_id) == before
    after = bench.duel()
    assert after.duel_id != before.duel_id
    assert after.version_id != before.version_id
    bench.workspace.corpora.rechunk("c", Chunking())
    assert bench.duel().duel_id == before.duel_id


def test_a_removed_file_goes_with_its_chunks_vectors_and_indexes(bench: Bench) -> None:
    workspace = bench.workspace
    workspace.corpus_work.add("c", FILES, Chunking())
    duel = bench.duel()
    stones = next(d for d in workspace.corpora.documents(bench.corpus().corpus_id) if d.name == "stones.txt")
    digest = sha256_hex(TEXTS["stones.txt"])
    assert digest in _cached(workspace)
    workspace.corpus_work.remove_documents("c", [stones.document_id])
    assert digest not in _cached(workspace)
    assert list(_files(workspace, "indexes")) == []
    gone = [np.array(_vector(model)(TEXTS["stones.txt"]), np.float32) for model in ("m1", "m2")]
    for shard in _files(workspace, "vectors"):
        for vector in gone:
            assert not np.isclose(np.load(shard), vector / np.linalg.norm(vector), atol=1e-6).all(axis=1).any()
    assert workspace.duels.get(duel.duel_id) == duel
    bench.embedded()
    assert [hit.document for hit in bench.duel("what flows?").a.hits] == ["rivers.txt"]
    assert bench.embedded() == []  # what stays is not embedded again


def test_a_deleted_corpus_leaves_nothing_but_its_duels(bench: Bench) -> None:
    bench.workspace.corpus_work.add("c", FILES, Chunking())
    duel = bench.duel()
    bench.workspace.corpus_work.delete("c")
    assert _cached(bench.workspace) <= {sha256_hex("what flows?")}
    assert list(_files(bench.workspace, "indexes")) == []
    assert list(_files(bench.workspace, "documents")) == []
    assert bench.workspace.duels.get(duel.duel_id) == duel


def test_what_another_corpus_holds_stays(bench: Bench) -> None:
    work = bench.workspace.corpus_work
    work.add("c", FILES, Chunking())
    work.add("same", FILES, Chunking())
    bench.duel()
    bench.embedded()
    work.delete("same")
    bench.duel("another question")
    assert bench.embedded() == ["another question"] * 2


def test_jobs_add_extend_cut_remove_and_report(bench: Bench) -> None:
    workspace, work = bench.workspace, bench.workspace.corpus_work
    table = SourceFile("t.csv", b"a;b\n1;Gamma birds sing.\n2;Delta boats sail.\n")
    added = _done(workspace, work.start_add("c", [*FILES, table], Chunking(), {"t.csv": ReadOptions(id_column="a")}))
    assert added == bench.corpus().corpus_id
    chunks = workspace.corpora.chunks(bench.corpus().version_id)
    assert [chunk.record_id for chunk in chunks] == ["", "", "1", "2"]
    report = work.report(bench.corpus())
    assert report is not None
    _done(workspace, work.start_extend(added, [SourceFile("x.txt", b"Epsilon.")]))
    _done(workspace, work.start_rechunk(added, WHOLE_DOCUMENTS))
    assert (bench.corpus().n_documents, bench.corpus().chunking) == (4, WHOLE_DOCUMENTS)
    first = workspace.corpora.documents(added)[0]
    _done(workspace, work.start_remove(added, [first.document_id]))
    assert bench.corpus().n_documents == 3
    assert work.report(bench.corpus()) is not None
    assert list(_files(workspace, "uploads")) == []
    assert list(_files(workspace, "scratch")) == []


def test_a_beir_archive_becomes_a_corpus_and_a_query_set(bench: Bench) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            "mini/corpus.jsonl", '{"_id": "d1", "title": "T", "text": "one"}\n{"_id": "d2", "text": "two"}\n'
        )
        archive.writestr("mini/queries.jsonl", '{"_id": "q1", "text": "which?"}\n{"_id": "q2", "text": "who?"}\n')
        archive.writestr("mini/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td2\t1\n")
    report = bench.workspace.corpus_work.add("c", [SourceFile("mini.zip", packed.getvalue())], Chunking())
    assert (report.documents, report.chunks) == (1, 2)
    chunks = bench.workspace.corpora.chunks(bench.corpus().version_id)
    assert [(chunk.record_id, chunk.text) for chunk in chunks] == [("d1", "T one"), ("d2", "two")]
    (asked,) = bench.workspace.query_sets.of_corpus(report.corpus_id)
    assert asked.queries == (("q1", "which?"), ("q2", "who?"))
    assert asked.qrels == {"test": {"q1": {"d2": 1}}}
    assert asked.n_judged == 1
    assert bench.workspace.query_sets.get(asked.query_set_id) == asked
    assert bench.corpus().suggested_queries == ("which?", "who?")


def test_the_beginning_of_a_large_file_is_enough_to_look(bench: Bench, tmp_path: Path) -> None:
    large = tmp_path / "large.jsonl"
    with large.open("w") as out:
        for n in range(60_000):
            out.write(f'{{"text": "Row number {n} of a large table."}}\n')
    seen = bench.workspace.corpus_work.peek(SourceFile("large.jsonl", large))
    assert seen.text.startswith("Row number 0 of")
    assert 1_000 < len(seen.sections) < 60_000
    with pytest.raises(InputError, match="empty"):
        bench.workspace.corpus_work.peek(SourceFile("e.txt", b""))


def _done(workspace: Workspace, job_id: str) -> str:
    status = workspace.jobs.wait(job_id, 60)
    assert status.state is JobState.DONE, status.error
    return str(status.result["corpus_id"])


def _cached(workspace: Workspace) -> set[str]:
    with workspace.database.session() as session:
        assert session.scalar(select(func.count()).select_from(VectorRow)) is not None
        return set(session.scalars(select(VectorRow.text_sha256)))


def _files(workspace: Workspace, kind: str) -> Iterator[Path]:
    return (path for path in (workspace.files.root / kind).rglob("*") if path.is_file())
