"""CSV and TSV: each row a section of its own, numbered as in the file, read as a stream."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TextIO

from backend.corpus.decoding import sniff, text_stream
from backend.corpus.files import FileFacts, Reading, SourceFile, TextSink, UnreadableFile
from backend.corpus.readers.columns import SAMPLE, TableRecord
from backend.corpus.readers.csv_dialect import (
    SNIFFED_CHARS,
    chosen_delimiter,
    column_names,
    excel_delimiter,
    guess_delimiter,
    has_header,
)
from backend.corpus.readers.records import (
    BATCH,
    MOST_CELL_CHARS,
    RecordStream,
    refuse_too_many,
    take_head,
    write_records,
)
from backend.corpus.readers.tally import Tally
from backend.corpus.text import clean_text

_SUFFIXES = (".csv", ".tsv", ".tab")


class CsvReader:
    """Reads delimited tables: ``,`` ``;`` tab or ``|``, with or without a header."""

    media_type = "text/csv"

    def accepts(self, file: SourceFile) -> bool:
        """By name: text with commas may be anything."""
        return file.name.lower().endswith(_SUFFIXES)

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """One section a non-empty row; ``row 1`` is the first below the header.

        Raises:
            UnreadableFile: No text encoding, no row with text, more columns or rows than are read, or a chosen column
                that is not there.
            CancelledError: From ``reading.check``, between batches of rows.
        """
        with open_csv(file, reading) as table:
            return write_records(table, out, reading)


@contextmanager
def open_csv(file: SourceFile, reading: Reading) -> Iterator[RecordStream]:
    """Open a table: dialect and columns are told from its start, the rest is read as it is asked for.

    Raises:
        UnreadableFile: As ``CsvReader.read``; while it is read as well.
    """
    csv.field_size_limit(MOST_CELL_CHARS)  # one limit for the process; only ever set to this value
    options = reading.options
    encoding = sniff(file, forced=options.encoding, check=reading.check)
    with text_stream(file, encoding.name) as stream:
        sample = stream.read(SNIFFED_CHARS).removeprefix("\ufeff")
    excel = excel_delimiter(sample)
    if options.delimiter:
        delimiter = chosen_delimiter(options.delimiter)
    else:
        delimiter = excel or guess_delimiter(sample, file.name)
    rows = _Rows(file, encoding.name, delimiter, skip=1 if excel else 0)
    with text_stream(file, encoding.name) as stream:
        yield _table(rows, rows.read(stream), reading, RecordStream("row", "text/csv", encoding, (), (), iter(())))


def _table(rows: _Rows, parsed: Iterator[list[str]], reading: Reading, kind: RecordStream) -> RecordStream:
    first = list(islice(_without_leading_blanks(parsed, reading), SAMPLE))
    if not first:
        raise UnreadableFile("no text: there are no rows.", hint="Check that it was saved or copied whole.")
    headed = has_header(first[0], len(first) > 1, reading.options)
    names = column_names([clean_text(cell) for cell in first[0]] if headed else [""] * max(map(len, first)))
    overlong = Tally("row")
    records = _records(chain(first[headed:], parsed), names, rows.delimiter, reading.limits.max_records, overlong)

    def notes() -> Sequence[str]:
        said = [rows.note] if rows.note else []
        if not headed:
            said.append("no header recognised: the first line is read as row 1")
        if overlong.n:
            than = "the header" if headed else "the rows above"
            said.append(f"{overlong}: more cells than {than}, joined into the last column")
        return said

    return RecordStream(
        kind.word, kind.media_type, kind.encoding, names, take_head(records), records, notes,
        delimiter=rows.delimiter, has_header=headed,
    )  # fmt: skip


def _without_leading_blanks(rows: Iterator[list[str]], reading: Reading) -> Iterator[list[str]]:
    blank = True
    for at, row in enumerate(rows, start=1):
        if at % BATCH == 0:
            reading.check()
        refuse_too_many(at - 1, "row", reading.limits.max_records)  # the header is no row
        blank = blank and not any(map(str.strip, row))
        if not blank:
            yield row


def _records(
    rows: Iterator[list[str]], names: Sequence[str], delimiter: str, most: int, overlong: Tally
) -> Iterator[TableRecord]:
    """Rows as records; cells beyond the header belong to the last column: its text held unquoted delimiters.

    Blank rows at the end of the file are line ends, and no records.
    """
    width, n_blank = len(names), 0
    for number, row in enumerate(rows, start=1):
        refuse_too_many(number, "row", most)
        if not any(map(str.strip, row)):
            n_blank += 1
            continue
        while n_blank:
            yield TableRecord(number - n_blank, {})
            n_blank -= 1
        cells = row
        if len(row) > width:
            overlong.add(number)
            cells = [*row[: width - 1], delimiter.join(row[width - 1 :])]
        yield TableRecord(number, {name: cell for name, cell in zip(names, cells, strict=False) if cell})


@dataclass(slots=True)
class _Rows:
    """Rows of a file; where quotes are broken, what a lenient reading gives, and a note.

    Attributes:
        skip: Lines before the table.
        note: For people, once it is known.
    """

    file: SourceFile
    encoding: str
    delimiter: str
    skip: int = 0
    note: str = ""
    _line: int = field(default=0)

    def read(self, stream: TextIO) -> Iterator[list[str]]:
        """Row by row.

        Raises:
            UnreadableFile: A line or cell longer than memory bears.
        """
        n_rows = 0
        try:
            for row in csv.reader(self._lines(stream), delimiter=self.delimiter, strict=True):
                n_rows += 1
                yield row
            return
        except csv.Error:
            self.note = f"quotation marks do not match near line {self._line}: rows after it may be joined"
        # Up to there both ways of reading give the same rows.
        with text_stream(self.file, self.encoding) as again:
            try:
                yield from islice(csv.reader(self._lines(again), delimiter=self.delimiter), n_rows, None)
            except csv.Error:
                raise UnreadableFile(
                    f"row {n_rows + 1} or below: a cell of more than {MOST_CELL_CHARS:,} characters.",
                    hint="Perhaps a quotation mark is not closed there.",
                ) from None

    def _lines(self, stream: TextIO) -> Iterator[str]:
        self._line = 0
        while line := stream.readline(MOST_CELL_CHARS + 1):
            self._line += 1
            if len(line) > MOST_CELL_CHARS:
                raise UnreadableFile(
                    f"line {self._line:,} has more than {MOST_CELL_CHARS:,} characters.",
                    hint="If it is no table, save it as .txt.",
                )
            if self._line == 1:
                line = line.removeprefix("\ufeff")  # left by an encoding that a person chose
            if self._line > self.skip:
                yield line
