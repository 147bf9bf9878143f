"""BEIR folders: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv`` (Thakur et al. 2021, arXiv 2104.08663)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from backend.corpus.files import SourceFile
from backend.corpus.readers.beir_files import OddLine, beir_qrels, beir_records
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
    documents = list(_records(folder / "corpus.jsonl"))
    asked = [(query_id, str(q["text"])) for query_id, q in _records(folder / "queries.jsonl") if query_id in qrels]
    if not asked:
        raise InputError(f"{folder / 'qrels' / split}.tsv judges none of the queries in queries.jsonl.")
    return BeirDataset(
        name=folder.resolve().name,
        document_ids=tuple(document_id for document_id, _ in documents),
        texts=tuple(f"{document.get('title') or ''} {document['text']}".strip() for _, document in documents),
        query_ids=tuple(query_id for query_id, _ in asked),
        queries=tuple(text for _, text in asked),
        qrels={query_id: qrels[query_id] for query_id, _ in asked},
    )


def _records(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    for line in beir_records(SourceFile(str(path), path)):
        if isinstance(line, OddLine):
            raise InputError(f"{path}, line {line.number}: {line.says}.")
        yield line[1], line[2]


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for line in beir_qrels(SourceFile(str(path), path)):
        if isinstance(line, OddLine):
            raise InputError(f"{path}, line {line.number}: {line.says}.")
        _, query_id, document_id, grade = line
        qrels.setdefault(query_id, {})[document_id] = grade
    return qrels
