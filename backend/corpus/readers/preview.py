"""The first rows of a table or the first words of a text file, so that a person can choose how it is read."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from backend.corpus.decoding import sniff
from backend.corpus.encodings import ENCODINGS
from backend.corpus.files import AS_IT_IS, Reading, ReadOptions, SourceFile, UnreadableFile
from backend.corpus.readers import READERS, CsvReader, JsonReader
from backend.corpus.readers.columns import TableRecord, choose_columns
from backend.corpus.readers.csv_dialect import NO_DELIMITER
from backend.corpus.readers.csv_rows import open_csv
from backend.corpus.readers.formats import refuse_unread
from backend.corpus.readers.json_rows import open_json
from backend.corpus.readers.records import RecordStream
from backend.corpus.text import clean_text

__all__ = ["ENCODINGS", "ColumnPreview", "RecordsPreview", "decode_preview", "preview_records"]

_HEAD_BYTES = 1 << 20
_WHOLE_BYTES = 8 << 20  # of a file that is one JSON value: its start tells nothing
_TEXT_CHARS = 4_000
_MOST_CELL_CHARS = 300
_MOST_COLUMNS = 200
_N_SAMPLES = 3


@dataclass(frozen=True, slots=True)
class ColumnPreview:
    """A column as far as it was looked at.

    Attributes:
        name: As in the header, or ``column 3``.
        samples: Its first values that are not blank, cut.
        role: ``text``, ``title``, ``id``, ``metadata`` or ``none``: as it would be read now.
    """

    name: str
    samples: tuple[str, ...]
    role: str


@dataclass(frozen=True, slots=True)
class RecordsPreview:
    """A table or file of records as it would be read.

    Attributes:
        columns: The first 200.
        rows: Cells of the first rows, in the order of ``columns``, each cut to 300 characters.
        delimiter: Of a CSV; empty where there is none.
        encoding: Python's name of the codec.
        encoding_guessed: Whether nothing but a guess speaks for it.
        has_header: Whether the first line names the columns.
        media_type: By content.
        options: What a person decided, with the guesses filled in: the same file read with them reads the same.
    """

    columns: tuple[ColumnPreview, ...]
    rows: tuple[tuple[str, ...], ...]
    delimiter: str
    encoding: str
    encoding_guessed: bool
    has_header: bool
    media_type: str
    options: ReadOptions


def preview_records(file: SourceFile, options: ReadOptions = AS_IT_IS, n_rows: int = 20) -> RecordsPreview | None:
    """The columns and first rows of a file, from its first megabyte.

    Args:
        file: Any file.
        options: What a person decided so far.
        n_rows: Most rows.

    Returns:
        None where the file is no table and no list of records, or gives none in what is looked at.

    Raises:
        UnreadableFile: A chosen column, delimiter or encoding is not there.
    """
    try:
        refuse_unread(file)
    except UnreadableFile:
        return None
    reader = next(reader for reader in READERS if reader.accepts(file))
    if not isinstance(reader, CsvReader | JsonReader):
        return None
    is_table = isinstance(reader, CsvReader)
    is_whole = file.size_bytes <= (_HEAD_BYTES if is_table else _WHOLE_BYTES)
    text, encoding, is_guessed = _head(file, options.encoding, file.size_bytes if is_whole else _HEAD_BYTES)
    if not is_whole and "\n" in text:
        text = text[: text.rindex("\n") + 1]
    head = SourceFile(file.name, text.encode("utf-8", "surrogatepass"))
    opening: AbstractContextManager[RecordStream] = (open_csv if is_table else open_json)(
        head, Reading(replace(options, encoding="utf-8"))
    )
    with opening as table:
        if not table.names:
            return None
        preview = _preview(table, options, n_rows)
    return replace(
        preview, encoding=encoding, encoding_guessed=is_guessed, options=replace(preview.options, encoding=encoding)
    )


def _preview(table: RecordStream, options: ReadOptions, n_rows: int) -> RecordsPreview:
    chosen = choose_columns(table.names, table.head, options)
    names = list(table.names)[:_MOST_COLUMNS]
    delimiter = "" if table.delimiter == NO_DELIMITER else table.delimiter
    return RecordsPreview(
        columns=tuple(ColumnPreview(name, _samples(name, table.head), chosen.role(name)) for name in names),
        rows=tuple(tuple(_cell(record, name) for name in names) for record in table.head[:n_rows]),
        delimiter=delimiter,
        encoding="",
        encoding_guessed=False,
        has_header=table.has_header,
        media_type=table.media_type,
        options=ReadOptions(
            delimiter=delimiter,
            text_columns=chosen.text,
            title_column=chosen.title or "",
            id_column=chosen.record_id or "",
            metadata_columns=chosen.metadata,
        ),
    )


def _samples(name: str, head: Sequence[TableRecord]) -> tuple[str, ...]:
    found: list[str] = []
    for record in head:
        if (cell := _cell(record, name)) and cell not in found:
            found.append(cell)
            if len(found) == _N_SAMPLES:
                break
    return tuple(found)


def _cell(record: TableRecord, name: str) -> str:
    value = clean_text(record.fields.get(name, "")[: _MOST_CELL_CHARS + 1]).strip()
    return value if len(value) <= _MOST_CELL_CHARS else value[: _MOST_CELL_CHARS - 1] + "…"


def decode_preview(file: SourceFile, encoding: str = "") -> tuple[str, str, bool]:
    """The first words of a text file in an encoding: so that a person sees whether it is the right one.

    Args:
        file: A text file of any kind.
        encoding: A codec that a person chose; empty: detected.

    Returns:
        (the first 4,000 characters, Python's name of the codec, whether it was guessed).

    Raises:
        UnreadableFile: Not text in any known encoding, or no such codec.
    """
    text, name, is_guessed = _head(file, encoding, _HEAD_BYTES)
    return clean_text(text[:_TEXT_CHARS]), name, is_guessed


def _head(file: SourceFile, forced: str, n_bytes: int) -> tuple[str, str, bool]:
    """The text of the first bytes, without a character that ends beyond them."""
    data = file.head(n_bytes)
    is_head = file.size_bytes > len(data)
    encoding = sniff(SourceFile(file.name, data), forced=forced, is_head=is_head)
    decoder = codecs.getincrementaldecoder(encoding.name)("replace")
    text = decoder.decode(data, not is_head).removeprefix("\ufeff")
    return text, encoding.name, encoding.is_guessed
