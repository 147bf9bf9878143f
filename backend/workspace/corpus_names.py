"""Names for a new corpus, from the files that it is made of."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from backend.store import storable

_LONGEST = 90


def suggested_name(file_names: Sequence[str]) -> str:
    """The folder, archive or file that came first, as words; empty where nothing came.

    Args:
        file_names: Relative paths, as the browser told them.
    """
    if not file_names:
        return ""
    first, slash, _ = file_names[0].partition("/")
    stem, _, suffix = first.rpartition(".")
    if not slash and stem and suffix.isalnum() and len(suffix) <= 8:
        first = stem
    return " ".join(storable(first).replace("_", " ").replace("-", " ").split())[:_LONGEST].strip()


def free_name(name: str, taken: Collection[str]) -> str:
    """The name itself, or with the first free number: ``notes (2)``."""
    candidate, number = name, 1
    while candidate and candidate in taken:
        number += 1
        candidate = f"{name} ({number})"
    return candidate
