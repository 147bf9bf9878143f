"""Query sets: named queries over a corpus, with relevance judgements (qrels) where somebody made them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import select

from backend.errors import NotFoundError
from backend.store import Database, now_iso
from backend.store.tables import QuerySetRow

Qrels = Mapping[str, Mapping[str, Mapping[str, int]]]
"""Split -> query id -> document id -> graded relevance."""


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Queries over one corpus.

    Attributes:
        queries: (query id, text) in order.
        qrels: By split; document ids are those of the corpus file's records. Empty where nobody judged.
    """

    query_set_id: str
    corpus_id: str
    name: str
    source: str
    queries: tuple[tuple[str, str], ...] = field(repr=False)
    qrels: Qrels = field(repr=False)
    created_at: str = ""

    @property
    def n_judged(self) -> int:
        """Queries with at least one judgement, in any split."""
        return len({query_id for split in self.qrels.values() for query_id in split})


class QuerySetStore:
    """Keeps query sets.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, corpus_id: str, name: str, queries: tuple[tuple[str, str], ...], qrels: Qrels, source: str
    ) -> QuerySet:
        """Keep a query set of a corpus."""
        made = QuerySet(uuid.uuid4().hex[:16], corpus_id, name, source, queries, qrels, now_iso())
        payload = {
            "queries": [list(query) for query in queries],
            "qrels": {split: {query: dict(grades) for query, grades in of.items()} for split, of in qrels.items()},
        }
        with self._database.session() as session:
            session.add(
                QuerySetRow(
                    query_set_id=made.query_set_id,
                    corpus_id=corpus_id,
                    name=name,
                    source=source,
                    n_queries=len(queries),
                    payload=payload,
                    created_at=made.created_at,
                )
            )
        return made

    def of_corpus(self, corpus_id: str) -> list[QuerySet]:
        """The query sets of a corpus, oldest first."""
        statement = select(QuerySetRow).where(QuerySetRow.corpus_id == corpus_id).order_by(QuerySetRow.created_at)
        with self._database.session() as session:
            return [_query_set(row) for row in session.scalars(statement)]

    def get(self, query_set_id: str) -> QuerySet:
        """One query set.

        Raises:
            NotFoundError: There is none with this id.
        """
        with self._database.session() as session:
            row = session.get(QuerySetRow, query_set_id)
            if row is None:
                raise NotFoundError(f"There is no query set {query_set_id[:40]}.")
            return _query_set(row)


def _query_set(row: QuerySetRow) -> QuerySet:
    queries = tuple((str(query_id), str(text)) for query_id, text in row.payload["queries"])
    return QuerySet(
        row.query_set_id, row.corpus_id, row.name, row.source, queries, row.payload["qrels"], row.created_at
    )
