"""A file's text and sections on disk instead of in memory: what the reading process hands to the library."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from backend.corpus.files import UNWATCHED, Reading, ReadText, Section, SourceFile, Unpacked
from backend.corpus.readers import read_into
from backend.corpus.readers.archive import unpack
from backend.corpus.text import TextBuilder


class InProcessReading:
    """Reads files in the caller's thread: for tests, and for the reading process itself."""

    def read(self, file: SourceFile, folder: Path, reading: Reading = UNWATCHED) -> ReadText:
        """As ``FileReading.read``."""
        name = uuid.uuid4().hex
        text_path, sections_path = folder / f"{name}.text", folder / f"{name}.sections"
        try:
            with (
                text_path.open("w", encoding="utf-8", errors="surrogatepass", newline="\n") as out,
                sections_path.open("w", encoding="utf-8", newline="\n") as places,
            ):
                builder = TextBuilder(out, lambda section: _write(places, section))
                facts = read_into(file, builder, reading)
                builder.finish()
        except BaseException:
            text_path.unlink(missing_ok=True)
            sections_path.unlink(missing_ok=True)
            raise
        return ReadText(
            text_path,
            sections_path,
            facts,
            n_chars=builder.n_chars,
            n_sections=builder.n_sections,
            n_unreadable=builder.n_unreadable,
            text_sha256=builder.text_sha256,
        )

    def unpack(self, file: SourceFile, folder: Path, reading: Reading = UNWATCHED) -> Unpacked | None:
        """As ``FileReading.unpack``."""
        return unpack(file, folder, reading)

    def close(self) -> None:
        """Nothing to end."""


def write_sections(path: Path, sections: Iterable[Section]) -> None:
    """Keep sections, one a line."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for section in sections:
            _write(out, section)


def read_sections(path: Path) -> Iterator[Section]:
    """Sections as they were written, one at a time."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            start, end, place, is_row, record_id, title, metadata = json.loads(line)
            yield Section(start, end, place, bool(is_row), record_id, title, tuple((n, v) for n, v in metadata))


def _write(out: TextIO, section: Section) -> None:
    fields = [
        section.start, section.end, section.place, int(section.is_row), section.record_id, section.title,
        section.metadata,
    ]  # fmt: skip
    out.write(json.dumps(fields) + "\n")
