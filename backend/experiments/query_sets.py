"""Query sets: named queries over a corpus, with relevance judgements (qrels) where somebody made them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import select

from backend.errors import NotFoundError
from backend.experiments.types import LabelKind
from backend.store import Database, now_iso, sha256_hex
from backend.store.tables import QuerySetRow

Qrels = Mapping[str, Mapping[str, Mapping[str, int]]]
"""Split -> query id -> document id -> graded relevance."""


@dataclass(frozen=True, slots=True)
class SourceChunk:
    """The chunk that a query was written from: a silver label, by its span, so that it holds under any chunking."""

    document_id: str
    document_name: str
    start: int
    end: int
    chunk_id: str


@dataclass(frozen=True, slots=True)
class QuerySet:
    """One version of a set of queries over one corpus; it never changes.

    Attributes:
        queries: (query id, text) in order.
        qrels: By split; document ids are those of the corpus file's records. Empty where nobody judged.
        lineage_id: Id of its first version.
        version: From 1.
        sources: Query id -> the chunk that it was written from.
        styles: Query id -> how it was written: keyword, question, paraphrase.
        notes: What was dropped and why, who wrote it.
    """

    query_set_id: str
    corpus_id: str
    name: str
    source: str
    queries: tuple[tuple[str, str], ...] = field(repr=False)
    qrels: Qrels = field(repr=False)
    created_at: str = ""
    lineage_id: str = ""
    version: int = 1
    sources: Mapping[str, SourceChunk] = field(default_factory=dict, repr=False)
    styles: Mapping[str, str] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> LabelKind:
        """What its relevance judgements stand on."""
        if any(self.qrels.values()):
            return LabelKind.GOLD
        return LabelKind.SILVER if self.sources else LabelKind.NONE

    @property
    def fingerprint(self) -> str:
        """sha256 over all that changes an experiment's result."""
        data = query_set_to_json(self)
        return sha256_hex(json.dumps([data["queries"], data["qrels"], data["sources"]], sort_keys=True))

    def merged_qrels(self) -> dict[str, dict[str, int]]:
        """Query id -> document id -> grade, over all splits."""
        merged: dict[str, dict[str, int]] = {}
        for split in self.qrels.values():
            for query_id, grades in split.items():
                merged.setdefault(query_id, {}).update(grades)
        return merged

    @property
    def n_judged(self) -> int:
        """Queries with at least one judgement, in any split."""
        return len({query_id for split in self.qrels.values() for query_id in split})


class QuerySetStore:
    """Keeps query sets, every version of each.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        corpus_id: str,
        name: str,
        queries: tuple[tuple[str, str], ...],
        qrels: Qrels,
        source: str,
        *,
        sources: Mapping[str, SourceChunk] | None = None,
        styles: Mapping[str, str] | None = None,
        notes: tuple[str, ...] = (),
    ) -> QuerySet:
        """Keep the first version of a query set of a corpus."""
        set_id = uuid.uuid4().hex[:16]
        return self._keep(
            QuerySet(
                set_id,
                corpus_id,
                name,
                source,
                queries,
                qrels,
                now_iso(),
                set_id,
                1,
                sources or {},
                styles or {},
                notes,
            )
        )

    def revise(self, query_set_id: str, queries: tuple[tuple[str, str], ...], name: str = "") -> QuerySet:
        """Keep another version with these queries; labels of the queries that stay are carried over by their ids."""
        before = self.get(query_set_id)
        kept = {query_id for query_id, _ in queries}
        versions = [one.version for one in self.versions(before.lineage_id)]
        return self._keep(
            QuerySet(
                uuid.uuid4().hex[:16],
                before.corpus_id,
                name or before.name,
                before.source,
                queries,
                {split: {q: dict(of[q]) for q in of if q in kept} for split, of in before.qrels.items()},
                now_iso(),
                before.lineage_id,
                max(versions) + 1,
                {q: chunk for q, chunk in before.sources.items() if q in kept},
                {q: style for q, style in before.styles.items() if q in kept},
                before.notes,
            )
        )

    def of_corpus(self, corpus_id: str) -> list[QuerySet]:
        """The newest version of each query set of a corpus, oldest set first."""
        newest: dict[str, QuerySet] = {}
        for one in self._select(QuerySetRow.corpus_id == corpus_id):
            newest[one.lineage_id] = one
        return list(newest.values())

    def versions(self, lineage_id: str) -> list[QuerySet]:
        """All versions of a set, oldest first."""
        return [one for one in self._select(True) if one.lineage_id == lineage_id]

    def get(self, query_set_id: str) -> QuerySet:
        """One version of a query set.

        Raises:
            NotFoundError: There is none with this id.
        """
        with self._database.session() as session:
            row = session.get(QuerySetRow, query_set_id)
            if row is None:
                raise NotFoundError(f"There is no query set {query_set_id[:40]}.")
            return _query_set(row)

    def delete(self, query_set_id: str) -> None:
        """Remove a set with all its versions; experiments keep the queries that they asked."""
        for one in self.versions(self.get(query_set_id).lineage_id):
            with self._database.session() as session:
                session.delete(session.get_one(QuerySetRow, one.query_set_id))

    def _keep(self, made: QuerySet) -> QuerySet:
        with self._database.session() as session:
            session.add(
                QuerySetRow(
                    query_set_id=made.query_set_id,
                    corpus_id=made.corpus_id,
                    name=made.name,
                    source=made.source,
                    n_queries=len(made.queries),
                    payload=query_set_to_json(made),
                    created_at=made.created_at,
                )
            )
        return made

    def _select(self, condition: Any) -> list[QuerySet]:
        statement = select(QuerySetRow).where(condition).order_by(QuerySetRow.created_at)
        with self._database.session() as session:
            return [_query_set(row) for row in session.scalars(statement)]


def query_set_to_json(query_set: QuerySet) -> dict[str, Any]:
    """Plain data, the whole query set."""
    return {
        "query_set_id": query_set.query_set_id,
        "corpus_id": query_set.corpus_id,
        "name": query_set.name,
        "source": query_set.source,
        "created_at": query_set.created_at,
        "queries": [list(query) for query in query_set.queries],
        "qrels": {
            split: {query: dict(grades) for query, grades in of.items()} for split, of in query_set.qrels.items()
        },
        "lineage_id": query_set.lineage_id,
        "version": query_set.version,
        "sources": {query_id: asdict(chunk) for query_id, chunk in query_set.sources.items()},
        "styles": dict(query_set.styles),
        "notes": list(query_set.notes),
    }


def query_set_from_json(data: Mapping[str, Any]) -> QuerySet:
    """The inverse of query_set_to_json; what older versions of Ragduel did not know has its default."""
    return QuerySet(
        data["query_set_id"],
        data["corpus_id"],
        data["name"],
        data["source"],
        tuple((str(query_id), str(text)) for query_id, text in data["queries"]),
        data["qrels"],
        data["created_at"],
        data.get("lineage_id") or data["query_set_id"],
        int(data.get("version", 1)),
        {query_id: SourceChunk(**chunk) for query_id, chunk in data.get("sources", {}).items()},
        data.get("styles", {}),
        tuple(data.get("notes", ())),
    )


def _query_set(row: QuerySetRow) -> QuerySet:
    told = {
        "query_set_id": row.query_set_id, "corpus_id": row.corpus_id, "name": row.name, "source": row.source,
        "created_at": row.created_at,
    }  # fmt: skip
    return query_set_from_json({**row.payload, **told})
