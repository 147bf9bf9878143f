"""Names for a corpus from its files."""

from __future__ import annotations

import pytest

from backend.workspace.corpus_names import free_name, suggested_name


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ([], ""),
        (["works_manual.pdf", "other.txt"], "works manual"),
        (["Support-2026/a/b.md"], "Support 2026"),
        (["nfcorpus.zip"], "nfcorpus"),
        (["v1.2 notes/a.txt"], "v1.2 notes"),
        ([".hidden"], ".hidden"),
        (["Version 2. The end of it all"], "Version 2. The end of it all"),
        (["x" * 300 + ".txt"], "x" * 90),
    ],
)
def test_a_corpus_is_named_by_its_first_folder_archive_or_file(files: list[str], name: str) -> None:
    assert suggested_name(files) == name


def test_a_taken_name_gets_a_number() -> None:
    assert free_name("notes", {"notes", "notes (2)"}) == "notes (3)"
    assert free_name("notes", {"Notes"}) == "notes"
    assert free_name("", {""}) == ""
