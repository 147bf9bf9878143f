"""A file on its way in: what it is, what may be decided about it, and what a reader makes of it."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol

from backend.errors import InputError

SkipReason = str


Check = Callable[[], None]
"""Called now and then inside a long file; raises CancelledError where somebody stopped the work."""


Step = Callable[[str, int, int], None]
"""Told (word, done, total) inside a long file: ``("page", 12, 300)``; total 0 where unknown."""


def go_on() -> None:
    """The Check of a reading that nobody can stop."""


def say_nothing(_word: str, _done: int, _total: int) -> None:
    """The Step of a reading that nobody watches."""


class UnreadableFile(InputError):  # noqa: N818  (the word of the page: "unreadable file")
    """A file that gives no text: ``message`` is the reason, ``hint`` what to do. The rest of the batch goes on."""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file, or a row of one, that gave no text: which, why, and what to do."""

    file: str
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as it came: its name (a relative path inside a batch) and its bytes, in memory or on disk."""

    name: str
    content: bytes | Path = field(repr=False)

    @property
    def data(self) -> bytes:
        """The whole file in memory; readers of formats that may be large use ``open``."""
        return self.content if isinstance(self.content, bytes) else self.content.read_bytes()

    @property
    def size_bytes(self) -> int:
        """Its size."""
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size

    def head(self, n_bytes: int) -> bytes:
        """Its first bytes: what its kind is told by."""
        if isinstance(self.content, bytes):
            return self.content[:n_bytes]
        with self.content.open("rb") as file:
            return file.read(n_bytes)

    def open(self) -> BinaryIO:
        """A seekable stream of its bytes; the caller closes it."""
        return io.BytesIO(self.content) if isinstance(self.content, bytes) else self.content.open("rb")


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a document's text with its place in the source.

    Attributes:
        start: First character in the document's text.
        end: One past the last character.
        place: For people: ``page 3``, ``row 12``, ``Heading > Subheading``; empty where there is none.
        is_row: A record of its own (CSV row, JSON line): no chunk reaches across its ends.
        record_id: The record's own id (BEIR's ``_id``, a CSV's id column): what qrels name it by; else empty.
        title: The record's title, if it has one.
        metadata: The record's other columns that a person chose to keep, as (name, value).
    """

    start: int
    end: int
    place: str
    is_row: bool = False
    record_id: str = ""
    title: str = ""
    metadata: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a person decided about one file; by default everything is told from its content.

    Attributes:
        encoding: A Python codec name; empty: detected.
        delimiter: Of a CSV; empty: detected.
        text_columns: Columns or JSON fields that hold the text, joined in this order; empty: guessed.
        title_column: Put before the text; None: guessed, empty: none.
        id_column: Names the record; None: guessed, empty: none.
        metadata_columns: Kept beside the text, never embedded.
    """

    encoding: str = ""
    delimiter: str = ""
    text_columns: tuple[str, ...] = ()
    title_column: str | None = None
    id_column: str | None = None
    metadata_columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What one file, or one archive with all that is in it, may take.

    Attributes:
        max_file_bytes: Of one file, unpacked.
        max_pages: Pages, slides or sheets of one file.
        max_records: Rows or lines of one file.
        max_entries: Files in an archive, inner archives included.
        max_unpacked_bytes: All files of an archive together.
        max_ratio: Unpacked to packed size of an archive's entry.
        max_nesting: Archives within archives.
        max_seconds: For reading one file.
        max_memory_bytes: Of the process that reads it.
    """

    max_file_bytes: int = 200_000_000
    max_pages: int = 5_000
    max_records: int = 2_000_000
    max_entries: int = 10_000
    max_unpacked_bytes: int = 2_000_000_000
    max_ratio: int = 200
    max_nesting: int = 3
    max_seconds: float = 300.0
    max_memory_bytes: int = 2_000_000_000


DEFAULT_LIMITS = ReadLimits()


AS_IT_IS = ReadOptions()


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of one file: what was decided about it, what it may take, and who watches.

    Attributes:
        options: What a person decided about this file.
        limits: What it may take.
        check: Called between the parts of a long file; raises CancelledError.
        step: Told how far it is.
    """

    options: ReadOptions = AS_IT_IS
    limits: ReadLimits = DEFAULT_LIMITS
    check: Check = go_on
    step: Step = say_nothing


UNWATCHED = Reading()


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a reader learned about a file beside its text.

    Attributes:
        title: Of the document, if it says one.
        media_type: By content.
        encoding: Codec of a text file, for people and for changing it; empty where the format says it itself.
        encoding_guessed: Whether the encoding was guessed from the bytes.
        warnings: Sentences for people, without the file's name.
        n_pages: Pages, slides or sheets; 0 where there are none.
        empty_pages: Numbers of pages that hold nothing, from 1.
        picture_pages: Numbers of pages that are pictures without text: text recognition would help.
        n_records: Rows, lines or items with text; 0 for documents.
    """

    title: str = ""
    media_type: str = "text/plain"
    encoding: str = ""
    encoding_guessed: bool = False
    warnings: tuple[str, ...] = ()
    n_pages: int = 0
    empty_pages: tuple[int, ...] = ()
    picture_pages: tuple[int, ...] = ()
    n_records: int = 0


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What a reader got out of one file, all in memory (a CSV row or JSONL line is a section, not a document)."""

    text: str
    facts: FileFacts = field(default_factory=FileFacts)
    sections: tuple[Section, ...] = ()

    @property
    def title(self) -> str:
        """As in its facts."""
        return self.facts.title

    @property
    def media_type(self) -> str:
        """As in its facts."""
        return self.facts.media_type

    @property
    def warnings(self) -> tuple[str, ...]:
        """As in its facts."""
        return self.facts.warnings


@dataclass(slots=True)
class Replaced:
    """How many characters were replaced while a file was read."""

    nul: int = 0
    surrogate: int = 0
    control: int = 0

    def notes(self) -> list[str]:
        """One sentence for people, or none."""
        counts = [(self.nul, "NUL"), (self.surrogate, "lone surrogate"), (self.control, "control character")]
        found = [f"{n} {name}{'s' if n > 1 else ''}" for n, name in counts if n]
        return (
            [f"{' and '.join([', '.join(found[:-1]), found[-1]] if len(found) > 1 else found)} replaced"]
            if found
            else []
        )

    @property
    def total(self) -> int:
        """All of them."""
        return self.nul + self.surrogate + self.control


class TextSink(Protocol):
    """Where a reader writes to: ``backend.corpus.text.TextBuilder``."""

    replaced: Replaced

    @property
    def n_chars(self) -> int:
        """Characters so far; 0: nothing but blanks came."""

    def begin(
        self, place: str, *, record_id: str = "", title: str = "", metadata: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """What follows stands at this place."""

    def add(self, piece: str, *, tight: bool = False, is_row: bool = False) -> bool:
        """Append a piece after a blank line, or on the next line where ``tight``; False if it holds only blanks."""

    def add_whole(self, text: str, sections: Sequence[Section] = ()) -> None:
        """Write a clean text as it is, with the sections that it has: instead of ``begin`` and ``add``."""


class DocumentReader(Protocol):
    """Reads one kind of file. The text goes to ``out`` part by part: a large file never lies in memory whole."""

    media_type: str

    def accepts(self, file: SourceFile) -> bool:
        """Whether the content (first) and name (second) are of this kind."""

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """Write the text with its places to ``out``; ``reading.check`` is called between the parts of a long file.

        Raises:
            UnreadableFile: With the reason and what to do; what was written to ``out`` counts for nothing then.
            CancelledError: From ``reading.check``.
        """


@dataclass(frozen=True, slots=True)
class ReadText:
    r"""What a reading left on disk. Whoever asked for it removes the files.

    Attributes:
        text_path: The text in UTF-8, line ends ``\n``.
        sections_path: The sections, see ``backend.corpus.reading.read_sections``.
        n_unreadable: Characters that were replaced, or stand for some that could not be read.
    """

    text_path: Path
    sections_path: Path
    facts: FileFacts
    n_chars: int
    n_sections: int
    n_unreadable: int
    text_sha256: str


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What an archive held.

    Attributes:
        files: Each entry as a file of its own on disk, named ``archive.zip/folder/name``; no name becomes a path.
        skipped: Entries that were left out, and why.
        warnings: Sentences for people, each with its file.
    """

    files: tuple[SourceFile, ...]
    skipped: tuple[SkippedFile, ...] = ()
    warnings: tuple[str, ...] = ()


class FileReading(Protocol):
    """Reads files to text on disk, whatever it takes: in this process, or in one of its own."""

    def read(self, file: SourceFile, folder: Path, reading: Reading = UNWATCHED) -> ReadText:
        """Read a file; text and sections lie in ``folder`` afterwards.

        Raises:
            UnreadableFile: It gives no text, took too long or too much memory, or its reader crashed.
            CancelledError: From ``reading.check``.
        """

    def unpack(self, file: SourceFile, folder: Path, reading: Reading = UNWATCHED) -> Unpacked | None:
        """Write an archive's files to ``folder``, under names of our own; None if the file is no archive.

        Raises:
            UnreadableFile: The archive is broken, needs a password, or is larger than ``reading.limits`` allow.
            CancelledError: From ``reading.check``.
        """

    def close(self) -> None:
        """End what was started."""
