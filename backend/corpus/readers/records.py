"""Tables and lists of records: which field is the text, which records are empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from backend.corpus.files import Check, FileFacts, TextSink, UnreadableFile, go_on
from backend.corpus.text import numbered

# Names people give the column that holds the text, likeliest first.
_TEXT_NAMES = (
    "text", "content", "contents", "body", "passage", "chunk", "document", "page_content", "full_text", "article",
    "paragraph", "abstract", "description", "answer", "response", "reply", "transcript",
    "message", "comment", "review", "summary", "note",
    "notes", "fact", "sentence",
)  # fmt: skip
_TITLE_NAME = "title"
_ANSWER_NAMES = ("answer", "response", "reply")
_QUESTION_NAMES = ("question", "query", "prompt")
_SAMPLE = 500
_FEWEST_WORDS = 3.0
_MOST_GUESSED = 1_000  # names among which the longest texts are looked for
MOST_RECORDS = 500_000
"""Of one file: an empty record takes two bytes on disk and some hundred in memory."""
BATCH = 1_000
"""Records between two calls of ``check``."""


@dataclass(frozen=True, slots=True)
class TableRecord:
    """One record: its number in the file and its fields as text."""

    number: int
    fields: Mapping[str, str]


def refuse_too_many(n_records: int, word: str) -> None:
    """Refuse a file with more records than are read.

    Raises:
        UnreadableFile: Always then: the first of them only would be a loss that nobody sees.
    """
    if n_records > MOST_RECORDS:
        raise UnreadableFile(f"more than {MOST_RECORDS:,} {word}s, the most of one file.", hint="Split it.")


def is_text_name(name: str) -> bool:
    """Whether a column of this name surely holds the text."""
    return name.strip().casefold() in _TEXT_NAMES


def text_field(names: Sequence[str], records: Sequence[TableRecord]) -> str | None:
    """The field that holds the text: by its name, else the one with the longest texts.

    Returns:
        The field's name; None if no field reads like text (a table of short values), so that all fields count.
    """
    by_name = {name.strip().casefold(): name for name in reversed(names)}
    for wanted in _TEXT_NAMES:
        if wanted in by_name:
            return by_name[wanted]
    if len(names) == 1:
        return names[0]
    sample = records[:_SAMPLE]
    lengths = dict.fromkeys(names[:_MOST_GUESSED], 0)
    for record in sample:
        for name, value in record.fields.items():
            if name in lengths:
                lengths[name] += len(value)
    longest = max(lengths, key=lambda name: lengths[name], default=None)
    if longest is None:
        return None
    words = [len(value.split()) for record in sample if (value := record.fields.get(longest, ""))]
    unspaced = any(len(record.fields.get(longest, "")) > 60 for record in sample)  # Chinese, say
    return longest if words and (fmean(words) >= _FEWEST_WORDS or unspaced) else None


def records_document(
    records: Sequence[TableRecord],
    names: Sequence[str],
    out: TextSink,
    *,
    word: str,
    media_type: str,
    warnings: Sequence[str] = (),
    check: Check = go_on,
) -> FileFacts:
    """One document whose sections are the non-empty records.

    Args:
        records: In file order.
        names: Field names in file order.
        out: Takes the text.
        word: What a record is called in a place: ``row``, ``line`` or ``item``.
        media_type: Of the file.
        warnings: What the reader noticed before.
        check: Called between batches of records.

    Raises:
        UnreadableFile: No record holds text.
        CancelledError: From ``check``.
    """
    field = text_field(names, records)
    title = _heading_field(names, field)
    empty = []
    for at, record in enumerate(records):
        if at % BATCH == 0:
            check()
        out.begin(f"{word} {record.number}")
        if not out.add(_record_text(record, field, title), is_row=True):
            empty.append(record.number)
    notes = list(warnings)
    if empty:
        notes.append(f"{numbered(word, empty)} {'is' if len(empty) == 1 else 'are'} empty ({len(empty)} left out)")
    if not out.n_chars:
        reason = f"no text: {len(empty)} empty {word}s" if empty else f"no text: there are no {word}s"
        hint = f"The text was looked for in the column “{field}”." if field else ""
        raise UnreadableFile("; ".join([reason, *warnings]) + ".", hint=hint)
    if field is None and names:
        notes.append("no column reads like text: all columns of a row are joined")
    elif field is not None and len(names) > 1 and not is_text_name(field):
        notes.append(f"the text is taken from the column “{field[:60]}”")
    if left_out := _prose_left_out(names, records, {field, title}):
        notes.append("not read: " + ", ".join(f"the column “{name[:60]}”" for name in left_out))
    return FileFacts(
        media_type=media_type, warnings=(*notes, *out.replaced.notes()), n_records=len(records) - len(empty)
    )


def _heading_field(names: Sequence[str], field: str | None) -> str | None:
    """The field put before the text: its title, or the question that it answers."""
    if field is None:
        return None
    wanted = (_TITLE_NAME, *_QUESTION_NAMES) if field.strip().casefold() in _ANSWER_NAMES else (_TITLE_NAME,)
    by_name = {name.strip().casefold(): name for name in reversed(names) if name != field}
    return next((by_name[name] for name in wanted if name in by_name), None)


def _prose_left_out(names: Sequence[str], records: Sequence[TableRecord], read: set[str | None]) -> list[str]:
    """Fields that hold sentences and are not read, at most five."""
    if read == {None}:  # all fields are joined
        return []
    sample = records[:_SAMPLE]
    found = []
    for name in names[:_MOST_GUESSED]:
        words = [len(value.split()) for record in sample if (value := record.fields.get(name, "").strip())]
        if name not in read and words and fmean(words) >= _FEWEST_WORDS:
            found.append(name)
    return found[:5]


def _record_text(record: TableRecord, field: str | None, title: str | None) -> str:
    if field is None:  # its own fields only: in JSON lines each record may bring new names
        values = [(name, value.strip()) for name, value in record.fields.items()]
        return "\n".join(f"{name}: {value}" for name, value in values if value)
    text = record.fields.get(field, "").strip()
    if title is None:
        return text
    # As BEIR's corpora are embedded: title, one space, text.
    return f"{record.fields.get(title, '').strip()} {text}".strip()
