"""Which column of a table, or field of JSON records, is the text, the title and the id: chosen, or guessed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from backend.corpus.files import ReadOptions, UnreadableFile
from backend.corpus.text import joined

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
_ID_NAMES = ("_id", "id", "doc_id", "docid", "document_id", "record_id", "row_id", "uuid", "uid", "pid", "key")
_FEWEST_WORDS = 3.0
_UNSPACED_CHARS = 60  # a value this long is prose even without spaces: Chinese, say
_MOST_GUESSED = 1_000  # names among which the longest texts are looked for
_MOST_NAME_CHARS = 60

SAMPLE = 500
"""Records that a guess is made from."""


@dataclass(frozen=True, slots=True)
class TableRecord:
    """One record: its number in the file and its fields as text."""

    number: int
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Columns:
    """The part that each column has.

    Attributes:
        text: Joined in this order; empty: no column reads like text, and all are joined with their names.
        title: Put before the text; None: none.
        record_id: Names the record; None: none.
        metadata: Kept beside the text.
        apart: What a person chose to be title, id or metadata: never joined into the text.
        is_text_guessed: Whether nobody chose the text.
    """

    text: tuple[str, ...]
    title: str | None
    record_id: str | None
    metadata: tuple[str, ...]
    apart: frozenset[str]
    is_text_guessed: bool

    def role(self, name: str) -> str:
        """``text``, ``title``, ``id``, ``metadata`` or ``none``."""
        if name in self.text or (not self.text and name not in self.apart):
            return "text"
        if name == self.title:
            return "title"
        if name == self.record_id:
            return "id"
        return "metadata" if name in self.metadata else "none"


def is_text_name(name: str) -> bool:
    """Whether a column of this name surely holds the text."""
    return name.strip().casefold() in _TEXT_NAMES


def is_known_name(name: str) -> bool:
    """Whether a cell of this text is surely the name of a column."""
    plain = name.strip().casefold()
    return plain in _TEXT_NAMES or plain in ("id", "_id", _TITLE_NAME, "query")


def choose_columns(names: Sequence[str], head: Sequence[TableRecord], options: ReadOptions) -> Columns:
    """What a person chose, and a guess from the first records for the rest.

    Raises:
        UnreadableFile: A chosen column is not there; the hint lists those that are.
    """
    text = tuple(_named(name, names) for name in options.text_columns)
    title = _named(options.title_column, names) if options.title_column else None
    record_id = _named(options.id_column, names) if options.id_column else None
    metadata = tuple(_named(name, names) for name in options.metadata_columns)
    apart = frozenset(name for name in (title, record_id, *metadata) if name is not None and name not in text)
    is_guessed = not text
    if is_guessed:
        field = text_field([name for name in names if name not in apart], head)
        text = (field,) if field is not None else ()
    free = [name for name in names if name not in {*text, *apart}]
    if options.title_column is None:
        title = _heading_field(free, text[0] if text else None)
    if options.id_column is None:
        record_id = _id_field([name for name in free if name != title], head)
    return Columns(text, title, record_id, metadata, apart, is_guessed)


def _named(wanted: str, names: Sequence[str]) -> str:
    if wanted in names:
        return wanted
    plain = wanted.strip().casefold()
    for name in names:
        if name.strip().casefold() == plain:
            return name
    there = joined([f"“{name[:_MOST_NAME_CHARS]}”" for name in names]) or "none"
    raise UnreadableFile(f"no column is called “{wanted[:_MOST_NAME_CHARS]}”.", hint=f"Its columns: {there}.")


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
    sample = records[:SAMPLE]
    lengths = dict.fromkeys(names[:_MOST_GUESSED], 0)
    for record in sample:
        for name, value in record.fields.items():
            if name in lengths:
                lengths[name] += len(value)
    longest = max(lengths, key=lambda name: lengths[name], default=None)
    if longest is None:
        return None
    words = [len(value.split()) for record in sample if (value := record.fields.get(longest, ""))]
    unspaced = any(len(record.fields.get(longest, "")) > _UNSPACED_CHARS for record in sample)
    return longest if words and (fmean(words) >= _FEWEST_WORDS or unspaced) else None


def other_text_field(fields: Mapping[str, str], not_text: Collection[str | None]) -> str | None:
    """Where a record of its own shape has its text: by name, else its longest prose; None if it has none."""
    candidates = {name: value for name, value in fields.items() if name not in not_text and value.strip()}
    by_name = {name.strip().casefold(): name for name in candidates}
    for wanted in _TEXT_NAMES:
        if wanted in by_name:
            return by_name[wanted]
    longest = max(candidates, key=lambda name: len(candidates[name]), default="")
    value = candidates.get(longest, "")
    return longest if len(value.split()) >= _FEWEST_WORDS or len(value) > _UNSPACED_CHARS else None


def _heading_field(names: Sequence[str], field: str | None) -> str | None:
    """The field put before the text: its title, or the question that it answers."""
    if field is None:
        return None
    wanted = (_TITLE_NAME, *_QUESTION_NAMES) if field.strip().casefold() in _ANSWER_NAMES else (_TITLE_NAME,)
    by_name = {name.strip().casefold(): name for name in reversed(names)}
    return next((by_name[name] for name in wanted if name in by_name), None)


def _id_field(names: Sequence[str], head: Sequence[TableRecord]) -> str | None:
    """A field that is named like an id and tells the first records apart; blank rows count for nothing."""
    by_name = {name.strip().casefold(): name for name in reversed(names)}
    filled = [record for record in head if record.fields]
    for wanted in _ID_NAMES:
        if name := by_name.get(wanted):
            values = [record.fields.get(name, "").strip() for record in filled]
            if all(values) and len(set(values)) == len(values):
                return name
    return None


def prose_left_out(names: Sequence[str], head: Sequence[TableRecord], columns: Columns) -> list[str]:
    """Fields that hold sentences and are not read, at most five; none where a person chose the text."""
    if not columns.text or not columns.is_text_guessed:
        return []
    read = {*columns.text, columns.title, columns.record_id, *columns.metadata}
    found = []
    for name in names[:_MOST_GUESSED]:
        words = [len(value.split()) for record in head if (value := record.fields.get(name, "").strip())]
        if name not in read and words and fmean(words) >= _FEWEST_WORDS:
            found.append(name)
    return found[:5]
