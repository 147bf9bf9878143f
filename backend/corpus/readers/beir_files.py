"""A BEIR folder or ZIP among the files of a batch: which file is what, and the queries with their judgements.

``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv`` (Thakur et al. 2021, arXiv 2104.08663).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from backend.corpus.decoding import sniff, text_stream
from backend.corpus.files import SourceFile, UnreadableFile
from backend.corpus.readers.tally import Tally
from backend.corpus.text import clean_text, joined

_CORPUS, _QUERIES, _QRELS = "corpus.jsonl", "queries.jsonl", "qrels/"
_HEADS = ("query-id", "query_id", "qid", "query")
_MOST_LINES = 2_000_000
_MOST_LINE_CHARS = 10_000_000

Qrels = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class OddLine:
    """A line that holds no query or judgement: its number, from 1, and what is wrong with it."""

    number: int
    says: str


@dataclass(frozen=True, slots=True)
class BeirQuerySet:
    """Queries and who judged what relevant to them.

    Attributes:
        queries: (query id, text), in the order of the file.
        qrels: Split -> query id -> document id -> graded relevance; only of queries that have a text.
        warnings: Sentences for people, each with its file.
    """

    queries: tuple[tuple[str, str], ...]
    qrels: dict[str, Qrels] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BeirBatch:
    """A batch of files told apart.

    Attributes:
        corpus: Holds the documents.
        queries: Holds the queries, if there is such a file.
        qrels: By split: ``test``, ``dev``, ``train``.
        rest: What is no part of the dataset, in the order of the batch.
        left_out: Names of queries and judgements of a second dataset: one batch fills one query set.
    """

    corpus: SourceFile
    queries: SourceFile | None
    qrels: Mapping[str, SourceFile]
    rest: tuple[SourceFile, ...]
    left_out: tuple[str, ...] = ()

    def read_queries(self) -> BeirQuerySet | None:
        """Its queries and judgements; None where it brings neither."""
        if self.queries is None and not self.qrels:
            return None
        read = read_query_set(self.queries, self.qrels)
        if not self.left_out:
            return read
        note = f"{joined(self.left_out)}: left out, one batch takes the queries of one BEIR dataset"
        return BeirQuerySet(read.queries, read.qrels, (*read.warnings, note))


def split_beir(sources: Sequence[SourceFile]) -> BeirBatch | None:
    """Tell a BEIR dataset by the names in a batch, at its top, below a folder or inside an archive.

    Args:
        sources: The batch, archives opened: entries are named ``archive.zip/folder/name``.

    Returns:
        The files by what they are; None if there is no ``corpus.jsonl``. Judgements that a browser uploaded
        without their folder are known by their header.
    """
    by_name = {source.name.replace("\\", "/"): source for source in sources}
    corpora = [name for name in by_name if _base(name) == _CORPUS]
    if not corpora:
        return None
    datasets = {name: _parts(name[: -len(_CORPUS)], by_name) for name in corpora}
    chosen = next((name for name, (queries, qrels) in datasets.items() if queries or qrels), corpora[0])
    queries, qrels = datasets[chosen]
    taken = {chosen, queries, *qrels.values()}
    others = {part for name in corpora if name != chosen for part in (datasets[name][0], *datasets[name][1].values())}
    left_out = tuple(name for name in by_name if name in others - taken)
    rest = tuple(source for name, source in by_name.items() if name not in taken and name not in left_out)
    return BeirBatch(
        by_name[chosen],
        by_name[queries] if queries else None,
        {split: by_name[name] for split, name in qrels.items()},
        rest,
        left_out,
    )


def _base(name: str) -> str:
    return name.rpartition("/")[2].lower()


def _parts(prefix: str, by_name: Mapping[str, SourceFile]) -> tuple[str, dict[str, str]]:
    """Names of the queries (or empty) and of the judgements by split, beside a corpus."""
    queries, qrels = "", {}
    for name, source in by_name.items():
        if not name.startswith(prefix):
            continue
        inside = name[len(prefix) :].lower()
        if inside == _QUERIES:
            queries = name
        elif inside.endswith(".tsv"):
            split = inside.removeprefix(_QRELS)
            if "/" not in split and (split != inside or _is_qrels(source)):
                qrels[split.removesuffix(".tsv")] = name
    return queries, qrels


def _is_qrels(source: SourceFile) -> bool:
    cells = source.head(200).split(b"\n", 1)[0].removeprefix(b"\xef\xbb\xbf").strip().lower().split(b"\t")
    return len(cells) == 3 and cells[:2] in ([b"query-id", b"corpus-id"], [b"query_id", b"corpus_id"])


def read_query_set(queries: SourceFile | None, qrels: Mapping[str, SourceFile]) -> BeirQuerySet:
    """Read queries and judgements; odd lines are left out and named, the rest goes on.

    Args:
        queries: JSON lines with ``_id`` and ``text``.
        qrels: By split: lines of query id, document id and grade, by tabs, with or without a header.
    """
    warnings: list[str] = []
    texts: dict[str, str] = {}
    if queries is None:
        warnings.append("no queries.jsonl: its judgements name queries that have no text")
    else:
        texts = _read_texts(queries, warnings)
    judged = {split: _read_qrels(file, texts, warnings) for split, file in qrels.items()}
    return BeirQuerySet(tuple(texts.items()), {split: of for split, of in judged.items() if of}, tuple(warnings))


def _read_texts(file: SourceFile, warnings: list[str]) -> dict[str, str]:
    texts: dict[str, str] = {}
    odd: dict[str, Tally] = {}
    try:
        for line in beir_records(file):
            if isinstance(line, OddLine):
                odd.setdefault(line.says, Tally("line")).add(line.number)
                continue
            number, query_id, record = line
            _refuse_more(number)
            text = clean_text(str(record["text"])).strip()
            if query_id in texts:
                odd.setdefault("a query id that stands above already", Tally("line")).add(number)
            elif not text:
                odd.setdefault("a query without text", Tally("line")).add(number)
            else:
                texts[query_id] = text
    except UnreadableFile as error:
        warnings.append(f"{file.name}: {error}")
    warnings.extend(f"{file.name}: {tally}: {says}, left out" for says, tally in odd.items())
    return texts


def _read_qrels(file: SourceFile, texts: Mapping[str, str], warnings: list[str]) -> Qrels:
    qrels: Qrels = {}
    odd, strange, twice = Tally("line"), Tally("line"), Tally("line")
    try:
        for line in beir_qrels(file):
            if isinstance(line, OddLine):
                odd.add(line.number)
                continue
            number, query_id, document_id, grade = line
            _refuse_more(number)
            if query_id not in texts:
                strange.add(number)
            elif qrels.setdefault(query_id, {}).setdefault(document_id, grade) != grade:
                twice.add(number)
    except UnreadableFile as error:
        warnings.append(f"{file.name}: {error}")
    for tally, says in (
        (odd, "not query id, document id and grade by tabs, left out"),
        (strange, "of a query that is not among the queries, left out"),
        (twice, "another grade than above for the same document, left out"),
    ):
        if tally.n:
            warnings.append(f"{file.name}: {tally}: {says}")
    return qrels


def _refuse_more(number: int) -> None:
    if number > _MOST_LINES:
        raise UnreadableFile(f"more than {_MOST_LINES:,} lines: what is below is left out.")


def beir_records(file: SourceFile) -> Iterator[tuple[int, str, dict[str, object]] | OddLine]:
    """(line number, id, record) of each line that is an object with ``_id`` and ``text``.

    Raises:
        UnreadableFile: No text in a known encoding.
    """
    for number, line in _lines(file):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            yield OddLine(number, "not JSON")
            continue
        if not isinstance(record, dict) or not isinstance(record.get("text"), str) or not _is_id(record.get("_id")):
            yield OddLine(number, "no object with _id and text")
            continue
        yield number, _clean_id(str(record["_id"])), record


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and bool(_clean_id(str(value)))


def _clean_id(value: str) -> str:
    # As the reader of the corpus cleans its ids: both must name the same record.
    return clean_text(value).strip()


def beir_qrels(file: SourceFile) -> Iterator[tuple[int, str, str, int] | OddLine]:
    """(line number, query id, document id, grade) of each line; also of TREC's four columns.

    Raises:
        UnreadableFile: No text in a known encoding.
    """
    for number, line in _lines(file):
        cells = [_clean_id(cell.strip().strip('"')) for cell in line.split("\t")]
        if len(cells) == 1:
            cells = line.split()
        if number == 1 and cells[0].lower() in _HEADS:
            continue
        if len(cells) == 4:  # TREC: query, iteration, document, grade
            cells = [cells[0], cells[2], cells[3]]
        try:
            query_id, document_id, grade = cells
            exact = float(grade)
            if not query_id or not document_id or exact != int(exact):
                raise ValueError
        except (ValueError, OverflowError):
            yield OddLine(number, "not «query-id, corpus-id, score» by tabs")
            continue
        yield number, query_id, document_id, int(exact)


def _lines(file: SourceFile) -> Iterator[tuple[int, str]]:
    with text_stream(file, sniff(file).name) as stream:
        number = 0
        while line := stream.readline(_MOST_LINE_CHARS):
            number += 1
            if line.strip():
                yield number, line
