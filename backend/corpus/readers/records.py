"""Tables and lists of records on their way to text: one section a record that has some, one pass over the file."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from backend.corpus.decoding import Encoding
from backend.corpus.files import FileFacts, Reading, TextSink, UnreadableFile
from backend.corpus.readers.columns import (
    SAMPLE,
    Columns,
    TableRecord,
    choose_columns,
    is_text_name,
    other_text_field,
    prose_left_out,
)
from backend.corpus.readers.tally import Tally
from backend.corpus.text import clean_text

BATCH = 1_000
"""Records between two calls of ``check``."""
MOST_CELL_CHARS = 32_000_000
"""Of one cell, line or item: it lies in memory whole."""
_SAMPLE_CHARS = 4_000_000
_CHECK = "Check that it is the right file, and was saved whole."


@dataclass(frozen=True, slots=True)
class RecordStream:
    """An opened table or list of records.

    Attributes:
        word: What a record is called in a place: ``row``, ``line`` or ``item``.
        media_type: Of the file.
        encoding: How it is decoded.
        names: Columns, or the fields of the first records, in file order.
        head: The first records: what guesses are made from.
        rest: Those behind them, read as they are asked for.
        notes: What there is to say once all records were read.
        delimiter: Between the cells of a CSV.
        has_header: Whether the first line names the columns.
        fields_vary: Whether each record has field names of its own.
    """

    word: str
    media_type: str
    encoding: Encoding
    names: Sequence[str]
    head: Sequence[TableRecord]
    rest: Iterator[TableRecord]
    notes: Callable[[], Sequence[str]] = tuple
    delimiter: str = ""
    has_header: bool = True
    fields_vary: bool = False


def take_head(records: Iterator[TableRecord]) -> list[TableRecord]:
    """The first records, as many as a guess needs and memory bears."""
    head: list[TableRecord] = []
    n_chars = 0
    for record in records:
        head.append(record)
        n_chars += sum(map(len, record.fields.values()))
        if len(head) >= SAMPLE or n_chars > _SAMPLE_CHARS:
            break
    return head


def refuse_too_many(n_records: int, word: str, most: int) -> None:
    """Refuse a file with more records than are read.

    Raises:
        UnreadableFile: Always then: the first of them only would be a loss that nobody sees.
    """
    if n_records > most:
        raise UnreadableFile(
            f"more than {most:,} {word}s, the most of one file.", hint="Split it, or raise RAGDUEL_MAX_RECORDS."
        )


@dataclass(slots=True)
class _Seen:
    """What happened to records, in bounded memory: eight bytes an id."""

    word: str
    empty: Tally = field(init=False)
    without_id: Tally = field(init=False)
    elsewhere: Tally = field(init=False)
    other_fields: list[str] = field(default_factory=list)
    _digests: array[int] = field(default_factory=lambda: array("q"))
    _numbers: array[int] = field(default_factory=lambda: array("q"))

    def __post_init__(self) -> None:
        self.empty, self.without_id, self.elsewhere = Tally(self.word), Tally(self.word), Tally(self.word)

    def add_id(self, record_id: str, number: int) -> None:
        self._digests.append(hash(record_id))  # 64 bits: two of a million ids are taken for one once in 10^7 files
        self._numbers.append(number)

    def repeated_ids(self) -> Tally:
        """Records with an id that stands above already."""
        tally = Tally(self.word)
        if len(self._digests) > 1:
            import numpy as np

            digests = np.frombuffer(self._digests, dtype=np.int64)
            order = np.argsort(digests, kind="stable")
            again = order[1:][digests[order][1:] == digests[order][:-1]]
            for at in np.sort(again):
                tally.add(self._numbers[at])
        return tally


def write_records(table: RecordStream, out: TextSink, reading: Reading) -> FileFacts:
    """One document whose sections are the records with text.

    Args:
        table: Opened; read to its end.
        out: Takes the text.
        reading: Which columns a person chose; check and step are called between batches of records.

    Raises:
        UnreadableFile: No record holds text, or a chosen column is not there.
        CancelledError: From ``reading.check``.
    """
    columns = choose_columns(table.names, table.head, reading.options)
    seen = _Seen(table.word)
    n = n_written = 0
    for n, record in enumerate(chain(table.head, table.rest), start=1):
        if n % BATCH == 1:
            reading.check()
            reading.step(table.word, n - 1, 0)
        title, text = _record_text(record, columns, seen if table.fields_vary else None)
        record_id = _clean(record, columns.record_id)
        metadata = tuple((name, value) for name in columns.metadata if (value := _clean(record, name)))
        out.begin(f"{table.word} {record.number}", record_id=record_id, title=title, metadata=metadata)
        if not out.add(text, is_row=True):
            seen.empty.add(record.number)
            continue
        n_written += 1
        if record_id:
            seen.add_id(record_id, record.number)
        elif columns.record_id is not None:
            seen.without_id.add(record.number)
    warnings = [*table.encoding.warnings, *table.notes()]
    if not n_written:
        raise _no_text(seen.empty.n, table, columns, warnings)
    return FileFacts(
        media_type=table.media_type,
        encoding=table.encoding.name,
        encoding_guessed=table.encoding.is_guessed,
        warnings=(*warnings, *out.replaced.notes(), *_notes(table, columns, seen)),
        n_records=n_written,
    )


def _record_text(record: TableRecord, columns: Columns, seen: _Seen | None) -> tuple[str, str]:
    """A record's title and its text, title included: title, one space, text, as BEIR's corpora are embedded."""
    title = _clean(record, columns.title)
    fields = record.fields
    if not columns.text:  # its own fields only: in JSON lines each record may bring new names
        values = [(name, value.strip()) for name, value in fields.items() if name not in columns.apart]
        return title, f"{title} " * bool(title) + "\n".join(f"{name}: {value}" for name, value in values if value)
    if len(columns.text) == 1:
        text = fields.get(columns.text[0], "").strip()
        if seen is not None and columns.is_text_guessed and columns.text[0] not in fields and fields:
            text = _text_elsewhere(record, columns, seen)
    else:
        text = "\n".join(value for name in columns.text if (value := fields.get(name, "").strip()))
    return title, f"{title} {text}".strip() if title else text


def _text_elsewhere(record: TableRecord, columns: Columns, seen: _Seen) -> str:
    """The text of a record without the field that the first records have it in."""
    name = other_text_field(record.fields, {*columns.apart, columns.title, columns.record_id})
    if name is None:
        return ""
    seen.elsewhere.add(record.number)
    if name not in seen.other_fields and len(seen.other_fields) < 3:
        seen.other_fields.append(name)
    return record.fields[name].strip()


def _clean(record: TableRecord, name: str | None) -> str:
    return clean_text(record.fields.get(name, "")).strip() if name is not None else ""


def _no_text(n_empty: int, table: RecordStream, columns: Columns, warnings: Sequence[str]) -> UnreadableFile:
    word = table.word
    reason = f"no text: {n_empty:,} empty {word}{'s' * (n_empty != 1)}" if n_empty else f"no text: there are no {word}s"
    names = " and ".join(f"“{name[:60]}”" for name in columns.text)
    hint = f"The text was looked for in the column{'s' * (len(columns.text) > 1)} {names}." if names else _CHECK
    return UnreadableFile("; ".join([reason, *warnings]) + ".", hint=hint)


def _notes(table: RecordStream, columns: Columns, seen: _Seen) -> Iterator[str]:
    if n_empty := seen.empty.n:
        yield f"{seen.empty} {'is' if n_empty == 1 else 'are'} empty ({n_empty:,} left out)"
    if seen.elsewhere.n:
        names = ", ".join(f"“{name[:60]}”" for name in seen.other_fields)
        yield f"{seen.elsewhere}: no field “{columns.text[0][:60]}”, the text is taken from {names}"
    if columns.is_text_guessed:
        if not columns.text:
            yield "no column reads like text: all columns of a row are joined"
        elif len(table.names) > 1 and not is_text_name(columns.text[0]):
            yield f"the text is taken from the column “{columns.text[0][:60]}”"
    if left_out := prose_left_out(table.names, table.head, columns):
        yield "not read: " + ", ".join(f"the column “{name[:60]}”" for name in left_out)
    if seen.without_id.n:
        yield f"{seen.without_id}: no value in the column “{(columns.record_id or '')[:60]}”"
    repeated = seen.repeated_ids()
    if repeated.n:
        yield f"{repeated}: an id that stands above already (column “{(columns.record_id or '')[:60]}”)"
