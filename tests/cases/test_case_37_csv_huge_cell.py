"""37 doc-csv-huge-cell: a cell beyond the csv module's own limit is read whole, and no row is lost."""

from __future__ import annotations

from pathlib import Path

from backend.corpus.files import SourceFile
from backend.corpus.readers import read_file
from backend.corpus.reading import InProcessReading, read_sections
from tests.conftest import shared_path

FILE = ("cases", "cases", "37-doc-csv-huge-cell", "minutes.csv")


def test_both_rows_are_read_and_the_word_at_the_end_is_there(tmp_path: Path) -> None:
    document = read_file(SourceFile("minutes.csv", shared_path(*FILE)))
    assert [section.place for section in document.sections] == ["row 1", "row 2"]
    assert document.sections[0].end > 131_072
    assert document.facts.n_records == 2
    assert "quartz-lantern" in document.text
    assert document.warnings == ()

    on_disk = InProcessReading().read(SourceFile("minutes.csv", shared_path(*FILE)), tmp_path)
    assert on_disk.text_path.read_text(encoding="utf-8") == document.text
    assert tuple(read_sections(on_disk.sections_path)) == document.sections
