"""From files to texts on disk, and from a document's text to its chunks: what the library stores."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from backend.corpus.chunking import chunk_records, chunk_spans
from backend.corpus.files import (
    AS_IT_IS,
    FileReading,
    Reading,
    ReadLimits,
    ReadOptions,
    ReadText,
    Section,
    SkippedFile,
    SourceFile,
    UnreadableFile,
)
from backend.corpus.readers.archive_names import free_name
from backend.corpus.sources import too_large
from backend.corpus.types import Chunking, Tokenizer
from backend.corpus.versions import Cut
from backend.errors import CancelledError, InputError
from backend.store.files import open_text

ReportProgress = Callable[[str, int, int], None]
IsCancelled = Callable[[], bool]
_BLOCK_BYTES = 1 << 20
ALREADY_THERE = "already in the corpus, unchanged."
_NUMBERED = re.compile(r" \(\d+\)(?=\.[^./]*$|$)")


@dataclass(slots=True)
class Watch:
    """Tells how far the work is, and ends it when somebody asks."""

    progress: ReportProgress | None = None
    cancelled: IsCancelled | None = None

    def step(self, stage: str, done: int, total: int) -> None:
        """Report and check.

        Raises:
            CancelledError: Somebody stopped the work.
        """
        self.check()
        if self.progress is not None:
            self.progress(stage, done, total)

    def check(self) -> None:
        """Check only.

        Raises:
            CancelledError: Somebody stopped the work.
        """
        if self.cancelled is not None and self.cancelled():
            raise CancelledError("The work on the corpus was stopped.", hint="Nothing was stored.")


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that gave text, under the name that it has in its corpus."""

    name: str
    source_sha256: str
    source_bytes: int
    text: ReadText


@dataclass(frozen=True, slots=True)
class BatchReading:
    """How a batch is read.

    Attributes:
        files: Does it.
        folder: Takes texts and unpacked archives.
        limits: What one file or archive may take.
        options: What was decided about files, by name; under "" what holds for all others.
    """

    files: FileReading
    folder: Path
    limits: ReadLimits
    options: Mapping[str, ReadOptions]

    def of(self, name: str, watch: Watch, at: int, total: int) -> Reading:
        """The reading of one file, the ``at``-th of ``total``."""

        def step(word: str, done: int, n_parts: int) -> None:
            part = f"{word} {done:,} of {n_parts:,}" if n_parts else f"{word} {done:,}"
            watch.step(f"Reading {name}, {part}", at, total)

        chosen = self.options.get(name) or self.options.get("") or AS_IT_IS
        return Reading(chosen, self.limits, watch.check, step)


@dataclass(slots=True)
class Outcome:
    """What became of a batch, filled while it is read."""

    skipped: list[SkippedFile]
    warnings: list[str]


def open_archives(
    sources: Sequence[SourceFile],
    reading: BatchReading,
    watch: Watch,
    outcome: Outcome,
    check_batch: Callable[[Sequence[SourceFile]], None],
) -> list[SourceFile]:
    """The batch with every archive replaced by the files in it; ``check_batch`` ends it once it has grown too large."""
    found: list[SourceFile] = []
    for at, source in enumerate(sources):
        watch.step(f"Looking into {source.name}", at, len(sources))
        try:
            unpacked = reading.files.unpack(source, reading.folder, reading.of(source.name, watch, at, len(sources)))
        except UnreadableFile as error:
            outcome.skipped.append(SkippedFile(source.name, str(error)))
            continue
        except OSError as error:
            outcome.skipped.append(SkippedFile(source.name, f"can't be opened: {error.strerror or error}."))
            continue
        if unpacked is None:
            found.append(source)
            continue
        found.extend(unpacked.files)
        outcome.skipped.extend(unpacked.skipped)
        outcome.warnings.extend(unpacked.warnings)
        check_batch(found)
    return found


def read_batch(
    sources: Sequence[SourceFile],
    reading: BatchReading,
    watch: Watch,
    outcome: Outcome,
    taken: Iterable[tuple[str, str]] = (),
) -> Iterator[ReadFile]:
    """Read file by file; what gives no text is skipped with its reason, and the rest goes on.

    Args:
        sources: The batch, archives opened.
        reading: How.
        watch: Progress and cancellation.
        outcome: Takes what was skipped, and warnings for people, each with its file.
        taken: (name, text sha256) of documents that the corpus has already: the same again is skipped.
    """
    known = set(taken)
    names = {name for name, _ in known}
    # A file that got a number because its name was taken is known by the name that it came with, too.
    known |= {(_NUMBERED.sub("", name), digest) for name, digest in known}
    first_with_text = {digest: name for name, digest in sorted(known, reverse=True)}
    for at, source in enumerate(sources):
        watch.step(f"Reading {source.name}", at, len(sources))
        try:
            if source.size_bytes > reading.limits.max_file_bytes:
                raise UnreadableFile(too_large(source.size_bytes, reading.limits.max_file_bytes))
            text = reading.files.read(source, reading.folder, reading.of(source.name, watch, at, len(sources)))
            digest = _sha256_of(source)
        except UnreadableFile as error:
            outcome.skipped.append(SkippedFile(source.name, str(error)))
            continue
        except OSError as error:  # gone, or not ours to open, since it was listed
            outcome.skipped.append(SkippedFile(source.name, f"can't be opened: {error.strerror or error}."))
            continue
        if (source.name, text.text_sha256) in known:
            outcome.skipped.append(SkippedFile(source.name, ALREADY_THERE))
            continue
        name = free_name(source.name, names)
        if name != source.name:
            outcome.warnings.append(f"{name}: another file is named {source.name}")
        if text.text_sha256 in first_with_text:
            outcome.warnings.append(f"{name}: the same text as {first_with_text[text.text_sha256]}")
        first_with_text.setdefault(text.text_sha256, name)
        names.add(name)
        outcome.warnings.extend(f"{name}: {note}" for note in text.facts.warnings)
        yield ReadFile(name, digest, source.size_bytes, text)
    watch.step("Reading", len(sources), len(sources))


def _sha256_of(source: SourceFile) -> str:
    digest = hashlib.sha256()
    with source.open() as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def cut_document(
    text_path: Path, sections: Callable[[], Iterator[Section]], chunking: Chunking, tokenizer: Tokenizer | None
) -> Iterator[Cut]:
    """The chunks of one document: a table of records one by one, any other document whole in memory.

    Args:
        text_path: Its text in UTF-8.
        sections: Gives its sections from the first on, each time it is called.
        chunking: How to cut.
        tokenizer: Counts, where the chunking counts tokens.
    """
    n_sections, only_rows = 0, True
    for section in sections():
        n_sections += 1
        only_rows = only_rows and section.is_row
        if not only_rows:
            break
    with open_text(text_path) as stream:
        if n_sections and only_rows:
            yield from chunk_records(_with_texts(stream, sections()), chunking, tokenizer)
            return
        text = stream.read()
    places = list(sections())
    starts = [section.start for section in places]
    for start, end, place in chunk_spans(text, places, chunking, tokenizer):
        at = bisect_right(starts, start) - 1
        record_id = places[at].record_id if at >= 0 and start < places[at].end else ""
        yield start, end, place, record_id, text[start:end]


def _with_texts(stream: TextIO, sections: Iterator[Section]) -> Iterator[tuple[Section, str]]:
    reached = 0
    for section in sections:
        stream.read(section.start - reached)
        yield section, stream.read(section.end - section.start)
        reached = section.end


def nothing_found(skipped: Sequence[SkippedFile]) -> InputError:
    """The error of a batch without any text: every file with its reason."""
    if not skipped:
        return InputError("There are no files to add.", hint="Choose at least one.")
    by_reason: dict[str, list[str]] = {}
    for item in skipped:
        by_reason.setdefault(item.reason, []).append(item.file)
    reasons = "\n".join(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())
    files = "The file gave no text" if len(skipped) == 1 else f"None of the {len(skipped)} files gave any text"
    if all(item.reason == ALREADY_THERE for item in skipped):
        files = "There is nothing new"
    return InputError(f"{files}, so nothing was stored.\n{reasons}")
