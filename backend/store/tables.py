"""Every table of the database. Rooms translate rows to their own frozen types; nobody else sees a row.

JSON columns hold plain data. Times are UTC, ISO 8601 text, so that SQLite and PostgreSQL give back the same.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, Integer, String, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

JsonDict = dict[str, Any]


class Base(DeclarativeBase):
    """Root of the typed tables."""

    type_annotation_map = {JsonDict: JSON, list[Any]: JSON}  # noqa: RUF012


class CorpusRow(Base):
    """A named collection of documents."""

    __tablename__ = "corpora"
    corpus_id: Mapped[str] = mapped_column(String(40), primary_key=True)
    name: Mapped[str] = mapped_column(String(200), unique=True)
    is_sample: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[str] = mapped_column(String(40))
    current_version_id: Mapped[str] = mapped_column(String(40))
    suggested_queries: Mapped[list[Any]] = mapped_column(JSON, default=list)
    report: Mapped[JsonDict] = mapped_column(JSON, default=dict)  # skipped files, warnings


class CorpusVersionRow(Base):
    """One chunking of one set of documents: what an index is built on, never changed once written."""

    __tablename__ = "corpus_versions"
    version_id: Mapped[str] = mapped_column(String(40), primary_key=True)
    corpus_id: Mapped[str] = mapped_column(ForeignKey("corpora.corpus_id", ondelete="CASCADE"), index=True)
    fingerprint: Mapped[str] = mapped_column(String(64))  # sha256 over documents and chunks; "": being written
    chunking: Mapped[JsonDict] = mapped_column(JSON)
    n_documents: Mapped[int]
    n_chunks: Mapped[int]
    created_at: Mapped[str] = mapped_column(String(40))


class DocumentRow(Base):
    """A document of a corpus; its text lies in the file store under ``text_sha256``."""

    __tablename__ = "documents"
    document_id: Mapped[str] = mapped_column(String(40), primary_key=True)
    corpus_id: Mapped[str] = mapped_column(ForeignKey("corpora.corpus_id", ondelete="CASCADE"), index=True)
    position: Mapped[int]
    name: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text, default="")
    media_type: Mapped[str] = mapped_column(String(100))
    text_sha256: Mapped[str] = mapped_column(String(64), index=True)
    n_chars: Mapped[int]
    n_sections: Mapped[int] = mapped_column(default=0)
    n_unreadable: Mapped[int] = mapped_column(default=0)
    warnings: Mapped[list[Any]] = mapped_column(JSON, default=list)
    facts: Mapped[JsonDict] = mapped_column(JSON, default=dict)  # encoding, pages, records
    source_sha256: Mapped[str] = mapped_column(String(64), default="")
    source_bytes: Mapped[int] = mapped_column(BigInteger, default=0)


class SectionRow(Base):
    """A stretch of a document's text with its place in the source: a page, a heading's part, a record."""

    __tablename__ = "sections"
    # No foreign key: sections are written while a file is read, its document when the batch is whole.
    document_id: Mapped[str] = mapped_column(String(40), primary_key=True)
    start: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    end: Mapped[int]
    place: Mapped[str] = mapped_column(Text, default="")
    is_row: Mapped[bool] = mapped_column(default=False)
    record_id: Mapped[str] = mapped_column(Text, default="")
    title: Mapped[str] = mapped_column(Text, default="")
    metadata_: Mapped[list[Any]] = mapped_column("metadata", JSON, default=list)  # [[name, value], …]


class ChunkRow(Base):
    """A chunk of a corpus version. ``position`` is its row in every matrix and index of that version."""

    __tablename__ = "chunks"
    version_id: Mapped[str] = mapped_column(
        ForeignKey("corpus_versions.version_id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(Integer, primary_key=True)
    chunk_id: Mapped[str] = mapped_column(String(40))
    document_id: Mapped[str] = mapped_column(String(40), index=True)
    document_name: Mapped[str] = mapped_column(Text)
    start: Mapped[int]
    end: Mapped[int]
    place: Mapped[str] = mapped_column(Text, default="")
    text: Mapped[str] = mapped_column(Text)
    text_sha256: Mapped[str] = mapped_column(String(64), index=True)
    record_id: Mapped[str] = mapped_column(Text, default="")


class QualityReportRow(Base):
    """The quality report of a corpus version."""

    __tablename__ = "quality_reports"
    version_id: Mapped[str] = mapped_column(
        ForeignKey("corpus_versions.version_id", ondelete="CASCADE"), primary_key=True
    )
    report: Mapped[JsonDict] = mapped_column(JSON)


class QuerySetRow(Base):
    """A named set of queries over a corpus, with qrels where somebody judged them."""

    __tablename__ = "query_sets"
    query_set_id: Mapped[str] = mapped_column(String(40), primary_key=True)
    corpus_id: Mapped[str] = mapped_column(ForeignKey("corpora.corpus_id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(200))
    source: Mapped[str] = mapped_column(String(40))  # beir, …
    n_queries: Mapped[int]
    payload: Mapped[JsonDict] = mapped_column(JSON)
    created_at: Mapped[str] = mapped_column(String(40))


class ModelRow(Base):
    """An embedding model that a person added to the registry; ``spec`` never holds a key."""

    __tablename__ = "embedding_models"
    key: Mapped[str] = mapped_column(String(200), primary_key=True)
    spec: Mapped[JsonDict] = mapped_column(JSON)
    created_at: Mapped[str] = mapped_column(String(40))


class VectorRow(Base):
    """Where the vector of one text under one encoder lies: row ``row`` of the shard file ``shard``."""

    __tablename__ = "vectors"
    encoder_fingerprint: Mapped[str] = mapped_column(String(64), primary_key=True)
    text_sha256: Mapped[str] = mapped_column(String(64), primary_key=True, index=True)
    shard: Mapped[str] = mapped_column(String(64))
    row: Mapped[int]


class ChatCallRow(Base):
    """An answered chat request, so that the same request is never paid twice."""

    __tablename__ = "chat_calls"
    request_sha256: Mapped[str] = mapped_column(String(64), primary_key=True)
    base_url: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(String(200))
    request: Mapped[JsonDict] = mapped_column(JSON)
    reply: Mapped[JsonDict] = mapped_column(JSON)
    created_at: Mapped[str] = mapped_column(String(40))


class DuelRow(Base):
    """One query over one corpus version, two ranked lists."""

    __tablename__ = "duels"
    duel_id: Mapped[str] = mapped_column(String(40), primary_key=True)
    corpus_id: Mapped[str] = mapped_column(String(40), index=True)
    version_id: Mapped[str] = mapped_column(String(40))
    query: Mapped[str] = mapped_column(Text)
    model_a: Mapped[str] = mapped_column(String(200))
    model_b: Mapped[str] = mapped_column(String(200))
    payload: Mapped[JsonDict] = mapped_column(JSON)
    created_at: Mapped[str] = mapped_column(String(40), index=True)


class VerdictRow(Base):
    """What one judge said about one duel."""

    __tablename__ = "verdicts"
    verdict_id: Mapped[str] = mapped_column(String(40), primary_key=True)
    duel_id: Mapped[str] = mapped_column(ForeignKey("duels.duel_id", ondelete="CASCADE"), index=True)
    judge: Mapped[str] = mapped_column(String(300))
    outcome: Mapped[str] = mapped_column(String(20), index=True)
    payload: Mapped[JsonDict] = mapped_column(JSON)
    created_at: Mapped[str] = mapped_column(String(40), index=True)


class VoteRow(Base):
    """A person's blind vote on a duel."""

    __tablename__ = "votes"
    vote_id: Mapped[str] = mapped_column(String(40), primary_key=True)
    duel_id: Mapped[str] = mapped_column(ForeignKey("duels.duel_id", ondelete="CASCADE"), index=True)
    rater: Mapped[str] = mapped_column(String(100), default="")
    choice: Mapped[str] = mapped_column(String(20))  # a, b, tie, both_bad
    left_side: Mapped[str] = mapped_column(String(1))  # which side stood left
    created_at: Mapped[str] = mapped_column(String(40))


class ExperimentRow(Base):
    """A query set over several arms. ``plan`` holds all that it needs, so that it stays readable by itself."""

    __tablename__ = "experiments"
    experiment_id: Mapped[str] = mapped_column(String(40), primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    corpus_id: Mapped[str] = mapped_column(String(40), index=True)
    job_id: Mapped[str] = mapped_column(String(40), default="")  # the newest job that works on it
    plan: Mapped[JsonDict] = mapped_column(JSON)
    results: Mapped[JsonDict] = mapped_column(JSON, default=dict)  # the document that pages show; empty until made
    created_at: Mapped[str] = mapped_column(String(40), index=True)
    updated_at: Mapped[str] = mapped_column(String(40))


class RetrievedRow(Base):
    """What one arm found for one query: chunk positions and scores, times, failures. Holds no text."""

    __tablename__ = "retrieved"
    run_sha256: Mapped[str] = mapped_column(String(64), primary_key=True)  # arm, corpus version, all that changes it
    query_sha256: Mapped[str] = mapped_column(String(64), primary_key=True)
    version_fingerprint: Mapped[str] = mapped_column(String(64), index=True)
    payload: Mapped[JsonDict] = mapped_column(JSON)


class JudgementRow(Base):
    """What one judge said about one query and two texts, whichever arms found them; texts by ascending sha256."""

    __tablename__ = "judgements"
    judgement_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    judge: Mapped[str] = mapped_column(String(300))
    outcome: Mapped[str] = mapped_column(String(20))
    figures: Mapped[JsonDict] = mapped_column(JSON)  # what statistics need
    payload: Mapped[JsonDict] = mapped_column(JSON)  # the verdict, the query and both texts
    created_at: Mapped[str] = mapped_column(String(40))


class ExperimentDuelRow(Base):
    """One judged duel of an experiment. Numbers are places in the plan's lists."""

    __tablename__ = "experiment_duels"
    experiment_id: Mapped[str] = mapped_column(
        ForeignKey("experiments.experiment_id", ondelete="CASCADE"), primary_key=True
    )
    judge: Mapped[int] = mapped_column(primary_key=True)
    query: Mapped[int] = mapped_column(primary_key=True)
    first: Mapped[int] = mapped_column(primary_key=True)
    second: Mapped[int] = mapped_column(primary_key=True)
    repeat: Mapped[int] = mapped_column(primary_key=True)
    judgement_id: Mapped[str] = mapped_column(String(64), index=True)
    is_swapped: Mapped[bool]  # the first arm's text is the judgement's second one
    cost_usd: Mapped[float | None]  # what this experiment paid for it


class JobRow(Base):
    """A piece of background work."""

    __tablename__ = "jobs"
    __table_args__ = (Index("jobs_by_key", "key", "status"),)
    job_id: Mapped[str] = mapped_column(String(40), primary_key=True)
    key: Mapped[str] = mapped_column(String(100))
    kind: Mapped[str] = mapped_column(String(40))
    status: Mapped[str] = mapped_column(String(20), index=True)
    owner: Mapped[str] = mapped_column(String(80), default="")  # host, process id and start of the process
    params: Mapped[JsonDict] = mapped_column(JSON)
    stage: Mapped[str] = mapped_column(Text, default="")
    n_items: Mapped[int] = mapped_column(default=0)
    n_done: Mapped[int] = mapped_column(default=0)
    result: Mapped[JsonDict] = mapped_column(JSON, default=dict)
    error: Mapped[str] = mapped_column(Text, default="")
    cancel_requested: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[str] = mapped_column(String(40))
    updated_at: Mapped[str] = mapped_column(String(40))


class JobItemRow(Base):
    """One finished item of a job, stored the moment it is done."""

    __tablename__ = "job_items"
    __table_args__ = (UniqueConstraint("job_id", "item_key"),)
    item_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.job_id", ondelete="CASCADE"), index=True)
    item_key: Mapped[str] = mapped_column(String(200))
    status: Mapped[str] = mapped_column(String(20))
    result: Mapped[JsonDict] = mapped_column(JSON, default=dict)
    error: Mapped[str] = mapped_column(Text, default="")


class NoteRow(Base):
    """Small durable facts of the app: saved endpoints (no keys), what an endpoint was found to accept."""

    __tablename__ = "notes"
    name: Mapped[str] = mapped_column(String(300), primary_key=True)
    value: Mapped[JsonDict] = mapped_column(JSON)
