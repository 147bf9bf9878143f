"""From a batch of files to documents and chunks, before anything is stored."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from backend.corpus.chunking import chunk_spans
from backend.corpus.files import ParsedDocument, Section, SkippedFile, SourceFile, UnreadableFile
from backend.corpus.readers import read_file
from backend.corpus.sources import too_large
from backend.corpus.types import Chunk, Chunking, Document, Progress, Tokenizer
from backend.errors import CancelledError, InputError
from backend.store import sha256_hex

ReportProgress = Callable[[str, int, int], None]
IsCancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Named:
    """A parsed document under the name that it has in its corpus."""

    name: str
    parsed: ParsedDocument
    text_sha256: str


@dataclass(slots=True)
class Watch:
    """Tells how far the work is, and ends it when somebody asks."""

    progress: ReportProgress | None = None
    cancelled: IsCancelled | None = None

    def step(self, stage: Progress, done: int, total: int) -> None:
        """Report and check.

        Raises:
            CancelledError: Somebody stopped the work.
        """
        self.check()
        if self.progress is not None:
            self.progress(stage, done, total)

    def check(self) -> None:
        """Check only: inside a write transaction a report, which a job writes to the same database, would wait for it.

        Raises:
            CancelledError: Somebody stopped the work.
        """
        if self.cancelled is not None and self.cancelled():
            raise CancelledError("The work on the corpus was stopped.", hint="Nothing was stored.")


def parse_batch(
    sources: Sequence[SourceFile],
    *,
    max_file_bytes: int,
    taken: Iterable[tuple[str, str]] = (),
    watch: Watch,
) -> tuple[list[Named], list[SkippedFile], list[str]]:
    """Read every file; what gives no text is skipped with its reason, and the rest goes on.

    Args:
        sources: The batch.
        max_file_bytes: Larger files are skipped.
        taken: (name, text sha256) of documents that the corpus has already: the same again is skipped.
        watch: Progress and cancellation.

    Returns:
        Documents with names that are all different; skipped files; warnings for people, each with its file.
    """
    names = {name for name, _ in taken}
    known = set(taken)
    first_with_text = {digest: name for name, digest in reversed(list(taken))}
    documents: list[Named] = []
    skipped: list[SkippedFile] = []
    warnings: list[str] = []
    for at, source in enumerate(sources):
        watch.step("reading", at, len(sources))
        try:
            if len(source.data) > max_file_bytes:
                raise UnreadableFile(too_large(len(source.data), max_file_bytes))
            parsed = read_file(source, watch.check)
        except UnreadableFile as error:
            skipped.append(SkippedFile(source.name, str(error)))
            continue
        digest = sha256_hex(parsed.text)
        if (source.name, digest) in known:
            skipped.append(SkippedFile(source.name, "already in the corpus, unchanged."))
            continue
        name = _free_name(source.name, names)
        if name != source.name:
            warnings.append(f"{name}: another file is named {source.name}")
        if digest in first_with_text:
            warnings.append(f"{name}: the same text as {first_with_text[digest]}")
        first_with_text.setdefault(digest, name)
        names.add(name)
        warnings.extend(f"{name}: {note}" for note in parsed.warnings)
        documents.append(Named(name, parsed, digest))
    watch.step("reading", len(sources), len(sources))
    return documents, skipped, warnings


def _free_name(name: str, taken: set[str]) -> str:
    """The name itself, or with the first free number: ``notes (2).md``."""
    if name not in taken:
        return name
    folder, slash, base = name.rpartition("/")
    stem, dot, suffix = base.rpartition(".")
    number = 2
    while True:
        numbered = f"{stem} ({number}).{suffix}" if dot and stem else f"{base} ({number})"
        if (candidate := folder + slash + numbered) not in taken:
            return candidate
        number += 1


def chunk_document(
    name: str, document_id: str, text: str, sections: Sequence[Section], chunking: Chunking, tokenizer: Tokenizer
) -> list[Chunk]:
    """The chunks of one document; positions count from 0 and are shifted by the library."""
    chunks = []
    for at, (start, end, place) in enumerate(chunk_spans(text, sections, chunking, tokenizer)):
        piece = text[start:end]
        digest = sha256_hex(piece)
        chunk_id = sha256_hex(f"{name}\n{start}\n{end}\n{digest}")[:20]
        chunks.append(Chunk(chunk_id, at, document_id, name, start, end, place, piece, digest))
    return chunks


def fingerprint(documents: Sequence[Document], chunks: Sequence[Chunk]) -> str:
    """sha256 over documents and chunks in order: the same content and chunking, the same value, whatever the corpus."""
    digest = hashlib.sha256(b"ragduel-corpus-1")
    for document in documents:
        digest.update(f"\nD{document.text_sha256} {document.name}".encode("utf-8", "surrogatepass"))
    for chunk in chunks:
        line = f"\nC{chunk.text_sha256} {chunk.start} {chunk.end} {chunk.document_name}\t{chunk.place}"
        digest.update(line.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def nothing_found(skipped: Sequence[SkippedFile]) -> InputError:
    """The error of a batch without any text: every file with its reason."""
    if not skipped:
        return InputError("There are no files to add.", hint="Choose at least one.")
    by_reason: dict[str, list[str]] = {}
    for item in skipped:
        by_reason.setdefault(item.reason, []).append(item.file)
    reasons = "\n".join(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())
    return InputError(f"None of the {len(skipped)} files gave any text, so nothing was stored.\n{reasons}")
