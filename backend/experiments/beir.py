"""BEIR folders: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv`` (Thakur et al. 2021, arXiv 2104.08663)."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from backend.errors import InputError, NotFoundError


@dataclass(frozen=True, slots=True)
class BeirDataset:
    """A corpus with queries and relevance judgements.

    Attributes:
        document_ids: In the order of the corpus file.
        texts: Title, one space, text: what is embedded.
        query_ids: Queries that the split judges, in the order of the query file.
        queries: Their texts.
        qrels: Query id -> document id -> graded relevance.
    """

    name: str
    document_ids: tuple[str, ...]
    texts: tuple[str, ...]
    query_ids: tuple[str, ...]
    queries: tuple[str, ...]
    qrels: dict[str, dict[str, int]]


def load_beir(folder: Path, split: str = "test") -> BeirDataset:
    """Read a BEIR folder.

    Raises:
        NotFoundError: A file is missing; the message names it.
        InputError: A line can't be read, or the split judges no query; the message names file and line.
    """
    for needed in (folder, folder / "corpus.jsonl", folder / "queries.jsonl", folder / "qrels" / f"{split}.tsv"):
        if not needed.exists():
            raise NotFoundError(
                f"{needed} is missing.", hint="A BEIR folder holds corpus.jsonl, queries.jsonl and qrels/<split>.tsv."
            )
    qrels = _qrels(folder / "qrels" / f"{split}.tsv")
    documents = list(_lines(folder / "corpus.jsonl"))
    asked = [(str(q["_id"]), str(q["text"])) for q in _lines(folder / "queries.jsonl") if str(q["_id"]) in qrels]
    if not asked:
        raise InputError(f"{folder / 'qrels' / split}.tsv judges none of the queries in queries.jsonl.")
    return BeirDataset(
        name=folder.resolve().name,
        document_ids=tuple(str(document["_id"]) for document in documents),
        texts=tuple(f"{document.get('title') or ''} {document['text']}".strip() for document in documents),
        query_ids=tuple(query_id for query_id, _ in asked),
        queries=tuple(text for _, text in asked),
        qrels={query_id: qrels[query_id] for query_id, _ in asked},
    )


def _lines(path: Path) -> Iterator[dict[str, object]]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:  # a stray byte must not end the reading
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                if not isinstance(record, dict) or "_id" not in record or "text" not in record:
                    raise InputError(f"{path}, line {number}: no object with _id and text.")
            except ValueError as error:
                raise InputError(f"{path}, line {number} is not JSON: {error}.") from None
            yield record


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        for number, row in enumerate(csv.reader(file, delimiter="\t"), start=1):
            if not row or (number == 1 and row[0] in {"query-id", "query_id"}):
                continue
            try:
                query_id, document_id, relevance = row
                qrels.setdefault(query_id, {})[document_id] = int(relevance)
            except ValueError:
                raise InputError(f"{path}, line {number}: not «query-id, corpus-id, score» by tabs.") from None
    return qrels
