"""What a quality report says about a corpus: plain values that are kept as JSON and shown as they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from backend.corpus.files import SkippedFile

if TYPE_CHECKING:
    from pydantic import TypeAdapter

UNKNOWN_LANGUAGE = "und"
"""ISO 639-2 for "undetermined"."""

SEVERAL_LANGUAGES = "mul"
"""ISO 639-2 for "multiple languages": none has half of a document."""


class Severity(StrEnum):
    """How much a finding matters, the most first."""

    PROBLEM = "problem"
    HINT = "hint"
    FINE = "fine"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a person should know, with what to do about it.

    Attributes:
        kind: Which finding it is: ``picture_pages``, ``duplicate_documents``; for tests and for links.
        text: A whole sentence.
    """

    severity: Severity
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text stands: the document's name, and the place in it, if it has one."""

    document: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Texts that are the same.

    Attributes:
        n_units: How many there are.
        excerpt: How the text begins.
        places: Where the first few of them stand.
    """

    n_units: int
    excerpt: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Documents, records or chunks with exactly the same text.

    Attributes:
        n_units: All that were compared.
        n_groups: Texts that stand there more than once.
        n_copies: Units that repeat an earlier one: what a corpus without copies would lack.
        examples: The largest groups.
    """

    n_units: int = 0
    n_groups: int = 0
    n_copies: int = 0
    examples: tuple[DuplicateGroup, ...] = ()


@dataclass(frozen=True, slots=True)
class NearGroup:
    """Texts that are nearly the same: each resembles at least one other of the group.

    Attributes:
        lowest_jaccard: Estimated, of the least similar of the pairs that hold the group together.
        highest_jaccard: Of the most similar.
    """

    n_units: int
    lowest_jaccard: float
    highest_jaccard: float
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class NearDuplicates:
    """Documents or records whose texts are nearly, but not exactly, the same.

    Attributes:
        n_units: All that there are.
        n_compared: Distinct texts that were compared; below ``n_units`` where some are copies, or where
            ``is_sample``: then one in so many was looked at, and a pair shows only if both were.
        min_jaccard: Estimated Jaccard index of the character shingles from which on two texts are near duplicates.
        n_groups: Groups of near duplicates.
        n_in_groups: Texts in them.
        examples: The largest groups.
    """

    n_units: int = 0
    n_compared: int = 0
    is_sample: bool = False
    min_jaccard: float = 0.0
    n_groups: int = 0
    n_in_groups: int = 0
    examples: tuple[NearGroup, ...] = ()


@dataclass(frozen=True, slots=True)
class LanguageShare:
    """How much of a corpus is in one language.

    Attributes:
        code: ISO 639; ``und``: unknown.
        name: For people.
        share: Of the corpus' characters, estimated from samples.
        n_documents: Documents that are mainly in it.
    """

    code: str
    name: str
    share: float
    n_documents: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Characters that nobody can read.

    Attributes:
        n_chars: All characters.
        n_replacement: U+FFFD: bytes that were no character of the encoding.
        n_private_use: Of a font of its own, as broken PDFs have them.
        n_control: Control characters in the text, besides tab and line feed.
        n_replaced: NULs and control characters that were replaced while reading.
    """

    n_chars: int = 0
    n_replacement: int = 0
    n_private_use: int = 0
    n_control: int = 0
    n_replaced: int = 0

    @property
    def n_unreadable(self) -> int:
        """All of them."""
        return self.n_replacement + self.n_private_use + self.n_control + self.n_replaced

    @property
    def share(self) -> float:
        """Of all characters, 0 to 1."""
        return min(1.0, self.n_unreadable / self.n_chars) if self.n_chars else 0.0


@dataclass(frozen=True, slots=True)
class DocumentQuality:
    """One document.

    Attributes:
        encoding: Codec of a text file; empty where the format says it itself.
        empty_pages: Numbers of pages without anything.
        picture_pages: Numbers of pages that are pictures: text recognition would help.
        n_records: Rows, lines or items; 0 for running text.
        language: ISO 639; ``und``: unknown, ``mul``: several.
        language_share: Of the samples that were looked at, how much is in that language.
        language_confidence: Mean over its samples, 0 to 1, as the library gives it.
    """

    name: str
    media_type: str
    encoding: str
    encoding_guessed: bool
    n_chars: int
    n_pages: int
    empty_pages: tuple[int, ...]
    picture_pages: tuple[int, ...]
    n_records: int
    language: str
    language_share: float
    language_confidence: float
    unreadable: Unreadable
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LengthBin:
    """Chunks of ``start`` up to, but not including, ``end`` units."""

    start: int
    end: int
    n_chunks: int


@dataclass(frozen=True, slots=True)
class ChunkLengths:
    """How long the chunks are.

    Attributes:
        unit: ``tokens`` or ``characters``.
        n_chunks: All.
        n_counted: Those that were counted; fewer than all: one in so many, evenly, because counting tokens takes time.
        short_below: Shorter chunks count as short.
        n_short: Estimated from those that were counted.
        long_above: Longer chunks count as long; 0: there is no limit.
        n_long: As ``n_short``.
    """

    unit: str = "characters"
    n_chunks: int = 0
    n_counted: int = 0
    shortest: int = 0
    quartile_1: float = 0.0
    median: float = 0.0
    quartile_3: float = 0.0
    percentile_95: float = 0.0
    longest: int = 0
    mean: float = 0.0
    histogram: tuple[LengthBin, ...] = ()
    short_below: int = 0
    n_short: int = 0
    long_above: int = 0
    n_long: int = 0


@dataclass(frozen=True, slots=True)
class RepeatedLine:
    """A line that stands again and again: a header, a footer, a licence.

    Attributes:
        text: As it stands; digits are shown as ``#`` because page numbers differ.
        n_documents: Documents that hold it.
        document: Where it repeats within one document only: that document.
        n_times: How often it stands in that document; 0 where it repeats over documents.
    """

    text: str
    n_documents: int
    document: str = ""
    n_times: int = 0


@dataclass(frozen=True, slots=True)
class QualityReport:
    """What is good and bad about a corpus.

    Attributes:
        media_types: (media type, documents) by falling number.
        languages: By falling share.
        findings: What matters, the most important first.
    """

    n_documents: int = 0
    n_chars: int = 0
    n_chunks: int = 0
    media_types: tuple[tuple[str, int], ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    warnings: tuple[str, ...] = ()
    documents: tuple[DocumentQuality, ...] = ()
    duplicate_documents: Duplicates = field(default_factory=Duplicates)
    duplicate_records: Duplicates = field(default_factory=Duplicates)
    duplicate_chunks: Duplicates = field(default_factory=Duplicates)
    near_documents: NearDuplicates = field(default_factory=NearDuplicates)
    near_records: NearDuplicates = field(default_factory=NearDuplicates)
    languages: tuple[LanguageShare, ...] = ()
    unreadable: Unreadable = field(default_factory=Unreadable)
    lengths: ChunkLengths = field(default_factory=ChunkLengths)
    repeated_lines: tuple[RepeatedLine, ...] = ()
    findings: tuple[Finding, ...] = ()

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data."""
        data: dict[str, Any] = _adapter().dump_python(self, mode="json")
        return data

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> QualityReport:
        """What ``to_data`` gave.

        Raises:
            ValueError: It is no such data.
        """
        return _adapter().validate_python(data)


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[QualityReport]:
    from pydantic import TypeAdapter

    return TypeAdapter(QualityReport)
