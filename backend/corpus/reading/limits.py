"""What one file may take, from the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.corpus.files import ReadLimits

if TYPE_CHECKING:  # the process that reads has its limits told, and does without pydantic
    from backend.settings import Settings

_MB = 1_000_000


def limits_of(settings: Settings) -> ReadLimits:
    """The limits that the settings set."""
    return ReadLimits(
        max_file_bytes=settings.max_upload_mb * _MB,
        max_pages=settings.max_pages,
        max_records=settings.max_records,
        max_entries=settings.max_archive_entries,
        max_unpacked_bytes=settings.max_unpacked_mb * _MB,
        max_ratio=settings.max_archive_ratio,
        max_nesting=settings.max_archive_nesting,
        max_seconds=settings.max_file_seconds,
        max_memory_bytes=settings.max_file_memory_mb * _MB,
    )
