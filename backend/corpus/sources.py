"""Where files come from: paths on disk, a pasted text, the sample that ships with the app."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from backend.corpus.files import SkippedFile, SourceFile
from backend.corpus.side_files import side_file, side_folder
from backend.errors import InputError, UnavailableError
from backend.store import storable

SAMPLE_NAME = "Sample library"


@dataclass(frozen=True, slots=True)
class _Found:
    path: Path
    short: str  # below the folder that was named
    long: str  # as it was named on the command line


def read_paths(
    paths: Sequence[Path], *, max_files: int, max_file_bytes: int
) -> tuple[list[SourceFile], list[SkippedFile]]:
    """Find files and whole folders; the files are read later, one after the other.

    Folders are walked in sorted order; hidden files, side files of operating systems and links to elsewhere are
    skipped with a note, as are files that are too large or can't be opened. A file is named by its path below the
    folder that was given; where two would have the same name, by the path as given.

    Raises:
        InputError: A path does not exist, or there are more than ``max_files`` files.
    """
    found: list[_Found] = []
    skipped: list[SkippedFile] = []
    for path in paths:
        if path.is_dir():
            found.extend(_walk(path, skipped))
        elif path.exists():
            found.append(_Found(path, path.name, path.as_posix()))
        else:
            raise InputError(f"There is no file or folder {path}.", hint="Check the path.")
    if len(found) > max_files:
        raise InputError(
            f"{len(found)} files are more than the {max_files} that one batch may hold.",
            hint="Add them in parts, or raise RAGDUEL_MAX_FILES.",
        )
    times_used = Counter(item.short for item in found)
    sources = []
    for item in found:
        name = item.short if times_used[item.short] == 1 else item.long
        if _is_readable(item.path, name, max_file_bytes, skipped):
            sources.append(SourceFile(name, item.path))
    return sources, skipped


def _walk(root: Path, skipped: list[SkippedFile]) -> Iterator[_Found]:
    def unreadable(error: OSError) -> None:
        skipped.append(SkippedFile(Path(error.filename or root).name, f"can't be opened: {error.strerror}."))

    for folder, folders, names in os.walk(root, onerror=unreadable):
        here = Path(folder)
        kept = []
        for name in sorted(folders):
            if reason := side_folder(name) or _elsewhere(here / name, root):
                skipped.append(SkippedFile((here / name).relative_to(root).as_posix() + "/", f"{reason}, left out."))
            else:
                kept.append(name)
        folders[:] = kept
        for name in sorted(names):
            path = here / name
            short = path.relative_to(root).as_posix()
            if reason := side_file(name) or _elsewhere(path, root):
                skipped.append(SkippedFile(short, f"{reason}, left out."))
            else:
                yield _Found(path, short, path.as_posix())


def _elsewhere(path: Path, root: Path) -> str:
    """Why a link is not followed: what it leads to was not among what somebody chose to add."""
    if not path.is_symlink():
        return ""
    return "" if path.is_file() and path.resolve().is_relative_to(root.resolve()) else "a link to elsewhere"


def _is_readable(path: Path, name: str, max_file_bytes: int, skipped: list[SkippedFile]) -> bool:
    try:
        if not path.is_file():
            reason = "a broken link or no ordinary file."
        elif path.stat().st_size > max_file_bytes:
            reason = too_large(path.stat().st_size, max_file_bytes)
        else:
            with path.open("rb"):
                return True
    except OSError as error:
        reason = f"can't be opened: {error.strerror}."
    skipped.append(SkippedFile(name, reason))
    return False


def too_large(size_bytes: int, max_file_bytes: int) -> str:
    """Why a file of this size is left out."""
    return (
        f"too large: {size_bytes / 1e6:.1f} MB, the limit is {max_file_bytes / 1e6:.0f} MB. "
        "Split it, or raise RAGDUEL_MAX_UPLOAD_MB."
    )


def pasted(text: str, name: str = "pasted text") -> SourceFile:
    """A text that was typed or pasted, as a file of plain text."""
    return SourceFile(name, storable(text).encode("utf-8"))


def sample_sources() -> list[SourceFile]:
    """The documents of the sample corpus, in order of their names.

    Raises:
        UnavailableError: They were not installed with the app.
    """
    folder = files("backend.corpus") / "sample" / "documents"
    if not folder.is_dir():
        raise UnavailableError("The sample corpus is missing.", hint="Install Ragduel again.")
    found = sorted(_files_below(folder, ""), key=lambda item: item[0])
    return [SourceFile(name, item.read_bytes()) for name, item in found]


def _files_below(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for item in folder.iterdir():
        if item.name.startswith((".", "__")):
            continue
        if item.is_dir():
            yield from _files_below(item, f"{prefix}{item.name}/")
        else:
            yield prefix + item.name, item


def sample_queries() -> list[str]:
    """The suggested questions of the sample corpus.

    Raises:
        UnavailableError: They were not installed with the app.
    """
    path = files("backend.corpus") / "sample" / "queries.json"
    if not path.is_file():
        raise UnavailableError("The sample's questions are missing.", hint="Install Ragduel again.")
    return [str(entry["text"]) for entry in json.loads(path.read_text(encoding="utf-8"))["queries"]]
