"""What the corpus room hands on: documents, chunks, and what became of each file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from backend.errors import InputError

SkipReason = str
Check = Callable[[], None]
"""Called now and then inside a long file; raises CancelledError where somebody stopped the work."""


def go_on() -> None:
    """The Check of a reading that nobody can stop."""


class UnreadableFile(InputError):  # noqa: N818  (the word of the page: "unreadable file")
    """A file that gives no text: ``message`` is the reason, ``hint`` what to do. The rest of the batch goes on."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as it came: its name (a relative path inside a batch) and its bytes."""

    name: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a document's text with its place in the source.

    Attributes:
        start: First character in the document's text.
        end: One past the last character.
        place: For people: ``page 3``, ``row 12``, ``Heading > Subheading``; empty where there is none.
        is_row: A record of its own (CSV row, JSON line): no chunk reaches across its ends.
    """

    start: int
    end: int
    place: str
    is_row: bool = False


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What a reader got out of one file (a CSV row or JSONL line is a section, not a document of its own)."""

    text: str
    title: str = ""
    media_type: str = "text/plain"
    sections: tuple[Section, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A stored document. ``text`` is fetched from the library by id when needed."""

    document_id: str
    name: str
    title: str
    media_type: str
    n_chars: int
    text_sha256: str
    sections: tuple[Section, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: ``document_text[start:end] == text``, exactly.

    Attributes:
        chunk_id: Stable id from document name, span and text.
        position: Row in every matrix and index of its corpus version, from 0.
        document_name: For people; never reaches a judge.
        place: As in Section.
        text_sha256: Names the text in the vector cache.
    """

    chunk_id: str
    position: int
    document_id: str
    document_name: str
    start: int
    end: int
    place: str
    text: str
    text_sha256: str


@dataclass(frozen=True, slots=True)
class Chunking:
    """How documents are cut.

    Attributes:
        size_tokens: Most tokens in a chunk, by the chunking tokenizer.
        overlap_tokens: Tokens that neighbours share; less than size_tokens.
        whole_documents: Keep each document (or row) as one chunk, whatever its length.
    """

    size_tokens: int = 200
    overlap_tokens: int = 40
    whole_documents: bool = False


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file, or a row of one, that gave no text: which, why, and what to do."""

    file: str
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of a batch."""

    corpus_id: str
    documents: int
    chunks: int
    skipped: tuple[SkippedFile, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Corpus:
    """A named corpus at its current version."""

    corpus_id: str
    name: str
    version_id: str
    version_fingerprint: str
    chunking: Chunking
    n_documents: int
    n_chunks: int
    is_sample: bool
    created_at: str
    suggested_queries: tuple[str, ...]
    skipped: tuple[SkippedFile, ...]
    warnings: tuple[str, ...]


class Tokenizer(Protocol):
    """Cuts a text into tokens with their places."""

    @property
    def name(self) -> str:
        """Identifies tokenizer and version; part of a chunking's identity."""

    def spans(self, text: str) -> list[tuple[int, int]]:
        """(start, end) character offsets of the tokens of ``text``, ascending, no special tokens."""


class DocumentReader(Protocol):
    """Reads one kind of file."""

    media_type: str

    def accepts(self, file: SourceFile) -> bool:
        """Whether the content (first) and name (second) are of this kind."""

    def read(self, file: SourceFile, check: Check = go_on) -> ParsedDocument:
        """Text with places; ``check`` is called between the parts of a long file.

        Raises:
            UnreadableFile: With the reason and what to do.
            CancelledError: From ``check``.
        """


Progress = Literal["reading", "chunking", "storing"]
