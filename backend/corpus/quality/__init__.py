"""The quality report of a corpus: what was read, what is doubled, in which languages, how long the chunks are."""

from backend.corpus.quality.build import ReportOptions, build_report
from backend.corpus.quality.languages import identify, language_name
from backend.corpus.quality.types import (
    SEVERAL_LANGUAGES,
    UNKNOWN_LANGUAGE,
    ChunkLengths,
    DocumentQuality,
    DuplicateGroup,
    Duplicates,
    Finding,
    LanguageShare,
    LengthBin,
    NearDuplicates,
    NearGroup,
    Place,
    QualityReport,
    RepeatedLine,
    Severity,
    Unreadable,
)

__all__ = [
    "SEVERAL_LANGUAGES", "UNKNOWN_LANGUAGE", "ChunkLengths", "DocumentQuality", "DuplicateGroup", "Duplicates",
    "Finding", "LanguageShare", "LengthBin", "NearDuplicates", "NearGroup", "Place", "QualityReport", "RepeatedLine",
    "ReportOptions", "Severity", "Unreadable", "build_report", "identify", "language_name",
]  # fmt: skip
