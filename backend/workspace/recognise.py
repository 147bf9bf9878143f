"""What files are, told from their first bytes before anything is read: kind, encoding, and what stands in the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.corpus import READERS, ReadOptions, SourceFile, UnreadableFile, is_text_like
from backend.corpus.decoding import sniff
from backend.corpus.encodings import spoken_name
from backend.corpus.readers.archive_streams import packed_kind
from backend.corpus.readers.beir_files import split_beir
from backend.corpus.readers.formats import refuse_unread
from backend.corpus.readers.packages import package_kind, zip_names
from backend.corpus.sources import too_large

_HEAD_BYTES = 200_000
_TABLES = ("text/csv", "application/jsonl")
ARCHIVE = "ZIP archive"
_ZIP = b"PK\x03\x04"
DATASET = "BEIR dataset (ZIP)"


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a file is.

    Attributes:
        media_type: By content; empty where it is not one document.
        words: What it is where the media type does not say it: an archive, a part of a dataset.
        encoding: Spoken name of its encoding, for text files.
        is_guessed: Whether the encoding was guessed.
        is_table: It has rows or records with columns.
        is_text: Its encoding can be chosen.
        is_archive: It holds other files.
        problem: Why it gives no text; empty where nothing is in the way so far.
        hint: What to do about it.
    """

    media_type: str = ""
    words: str = ""
    encoding: str = ""
    is_guessed: bool = False
    is_table: bool = False
    is_text: bool = False
    is_archive: bool = False
    problem: str = ""
    hint: str = ""


def recognise(file: SourceFile, options: ReadOptions, max_file_bytes: int) -> Recognised:
    """Tell what a file is; a bounded look at its first bytes, whatever its size.

    Args:
        file: The file.
        options: What was decided about it.
        max_file_bytes: What is larger is left out.
    """
    names = zip_names(file) if file.size_bytes <= max_file_bytes else set()
    packed = packed_kind(file)
    is_archive = bool(packed) or (bool(names) and not package_kind(names))
    if not names and not packed and file.size_bytes <= max_file_bytes and file.head(4) == _ZIP:
        return Recognised(
            words=ARCHIVE,
            problem="a broken ZIP archive, or an office file cut short.",
            hint="Copy or download it again.",
        )
    if not is_archive:
        try:
            refuse_unread(file)
        except UnreadableFile as error:
            return Recognised(words="not read", problem=error.message, hint=error.hint)
    if file.size_bytes > max_file_bytes:
        reason, _, hint = too_large(file.size_bytes, max_file_bytes).partition(". ")
        return Recognised(words="not read", problem=f"{reason}.", hint=hint)
    if is_archive:
        is_dataset = any(name.rpartition("/")[2].lower() == "corpus.jsonl" for name in names)
        return Recognised(words=DATASET if is_dataset else packed or ARCHIVE, is_archive=True)
    reader = next(reader for reader in READERS if reader.accepts(file))
    media_type = reader.media_type
    if file.name.lower().endswith(".json") and media_type == "application/jsonl":
        media_type = "application/json"
    if not is_text_like(file):
        return Recognised(media_type)
    return _text(file, options, media_type, reader.media_type in _TABLES)


def _text(file: SourceFile, options: ReadOptions, media_type: str, is_table: bool) -> Recognised:
    head = file.head(_HEAD_BYTES)
    is_head = file.size_bytes > len(head)
    try:
        found = sniff(SourceFile(file.name, head), forced=options.encoding, is_head=is_head)
    except UnreadableFile as error:
        # A person may know its encoding: it can still be chosen.
        return Recognised(media_type, is_table=is_table, is_text=True, problem=error.message, hint=error.hint)
    if not is_head and not head.decode(found.name, "replace").strip("\ufeff \t\r\n\x00"):
        return Recognised(media_type, problem="no text: the file is blank.", hint="Check that it was saved.")
    # A file that begins in ASCII may go on in anything: that is told when all of it is read.
    is_open = is_head and found.name == "utf-8" and head.isascii() and not options.encoding
    encoding = "" if is_open else spoken_name(found.name)
    return Recognised(media_type, "", encoding, found.is_guessed and not options.encoding, is_table, is_text=True)


def dataset_words(sources: Sequence[SourceFile]) -> dict[str, str]:
    """What the files of a BEIR folder are, by name; empty where there is none among them."""
    batch = split_beir(sources)
    if batch is None or not (batch.queries or batch.qrels):
        return {}
    words = {batch.corpus.name: "BEIR corpus (JSON lines)"}
    if batch.queries:
        words[batch.queries.name] = "BEIR queries: become a query set"
    words |= {file.name: f"BEIR judgements ({split}): become a query set" for split, file in batch.qrels.items()}
    return words
