"""Which part of a document the reading pane shows, what it marks, and corpora in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.corpus.files import FileFacts, Section
from backend.corpus.types import Chunk, Document
from backend.ui import corpus_words, document_jump
from backend.ui.document_view import marks_of
from backend.ui.marked_text import HIT
from backend.ui.reading_window import WINDOW_CHARS, Window, to_line_end, to_line_start, window_of

NUMBERS = st.one_of(st.integers(0, 200_000).map(str), st.sampled_from(["", "x", "-1", "²", "9" * 40, "1e3"]))


@given(NUMBERS, NUMBERS, st.integers(1, 150_000))
def test_whatever_the_link_holds_the_window_lies_in_the_text(first: str, last: str, n_chars: int) -> None:
    window = window_of(first, last, n_chars)
    assert 0 <= window.start < window.end <= n_chars
    assert window.end - window.start <= WINDOW_CHARS
    if window.mark is not None:
        assert window.start <= window.mark[0] < window.end
        assert window.mark[0] < window.mark[1] <= n_chars


@given(st.text(alphabet="ab \n", max_size=400).map(lambda part: part * 200), st.integers(0, 60_000))
def test_part_after_part_reads_the_whole_text(text: str, first: int) -> None:
    if not text:
        return
    at: int | None = min(first, len(text) - 1)
    read, begin = "", at or 0
    while at is not None:
        window = window_of(str(at), "", len(text))
        window, shown = to_line_end(window, text[window.start : window.end])
        assert shown == text[window.start : window.end]
        assert window.previous is None or window.previous < window.start
        read += shown
        at = window.next
    assert read == text[begin:]


def test_a_marked_chunk_is_never_cut_off_by_the_tidy_end() -> None:
    text = "x" * 19_800 + "\n" + "y" * 400
    window = Window(0, 20_000, 30_000, mark=(19_700, 19_990))
    assert to_line_end(window, text[:20_000])[0] == window
    assert to_line_end(Window(0, 20_000, 30_000), text[:20_000])[0].end == 19_801


def test_a_window_before_a_marked_chunk_begins_with_a_whole_line() -> None:
    text = "end of a line\nthe line before\nMARKED and more"
    window = Window(500, 546, 30_000, mark=(530, 536))
    assert to_line_start(window, text) == (Window(514, 546, 30_000, (530, 536)), text[14:])
    assert to_line_start(Window(500, 546, 30_000, (505, 536)), text)[1] == text
    assert to_line_start(Window(500, 546, 30_000), text)[1] == text


def test_a_window_says_what_it_shows() -> None:
    assert Window(0, 20_000, 48_210).words == "characters 1 to 20,000 of 48,210"
    assert Window(0, 90, 90).words == "all 90 characters"
    assert Window(0, 20_000, 48_210, (300, 30_000)).mark_goes_on


def chunk(position: int, start: int, end: int) -> Chunk:
    return Chunk(f"c{position}", position, "d", "d.md", start, end, "page 2", "x" * (end - start), "sha")


def test_the_opened_chunk_is_marked_alone_and_its_neighbours_beside_it() -> None:
    window = Window(100, 1_000, 1_000, mark=(200, 300))
    marks = marks_of(window, [chunk(0, 50, 220), chunk(1, 200, 300), chunk(2, 280, 400)])
    assert [(mark.start, mark.end) for mark in marks] == [(-50, 100), (200, 300), (100, 200)]
    assert [mark.tone == HIT for mark in marks] == [False, False, True]
    assert marks[0].title == "Chunk 1 · page 2"
    assert marks[0].number == "1"


def test_places_are_listed_once_where_neighbours_share_one() -> None:
    sections = [Section(0, 5, "page 1"), Section(5, 9, "page 1"), Section(9, 12, ""), Section(12, 20, "page 2")]
    assert document_jump.places_of(sections) == [(0, "page 1"), (12, "page 2")]


def document(media_type: str, **facts: object) -> Document:
    return Document("d", "d", 10, 0, 0, "sha", FileFacts(media_type=media_type, **facts))  # type: ignore[arg-type]


SLIDES = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
GUESSED = document("text/csv", n_records=1, encoding="cp1252", encoding_guessed=True)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (document("application/pdf", n_pages=3), ("PDF", "3 pages", "")),
        (GUESSED, ("CSV table", "1 record", "cp1252 (guessed)")),
        (document(SLIDES, n_pages=1), ("PowerPoint", "1 slide", "")),
        (document("text/plain", encoding="utf-8"), ("Text", "", "utf-8")),
        (document("chemical/x-unknown"), ("chemical/x-unknown", "", "")),
    ],
)
def test_documents_in_words(made: Document, words: tuple[str, str, str]) -> None:
    assert (corpus_words.kind(made.media_type), corpus_words.extent(made), corpus_words.encoding(made)) == words


def test_kinds_are_counted_the_commonest_first() -> None:
    kinds = ["application/pdf"] * 3 + ["text/csv"] * 2 + ["text/plain", "text/html", "message/rfc822"]
    assert corpus_words.kinds(map(document, kinds)) == "3 PDF, 2 CSV table, 1 Text, 2 other"


@pytest.mark.parametrize(
    ("kind", "params", "title"),
    [
        ("ingest", {"name": "Mine **bold**"}, "Reading files for “Mine **bold**”"),
        ("extend", {"corpus_id": "1"}, "Adding files to “Notes”"),
        ("remove", {"corpus_id": "1", "document_ids": ["a", "b"]}, "Removing 2 documents from “Notes”"),
        ("rechunk", {"corpus_id": "2"}, "Cutting a corpus that was deleted anew"),
        ("report", {"corpus_id": "1"}, "Writing the quality report of “Notes”"),
    ],
)
def test_jobs_name_their_corpus(kind: str, params: dict[str, object], title: str) -> None:
    assert corpus_words.job_title(kind, params, {"1": "Notes"}) == title
