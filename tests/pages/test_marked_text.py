"""A text with marks: the same characters, in order, with nothing of it taken for markup."""

from __future__ import annotations

import html
import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from backend.ui.marked_text import HIT, MOST_CHARS, SHARED, TURNS, Mark, chunk_marks, markup, segments

_BODY = re.compile(r"</style>\n<div[^>]*>(.*)</div>\s*\Z", re.DOTALL)


def _text_of(rendered: str) -> str:
    found = _BODY.search(rendered)
    assert found is not None
    return html.unescape(re.sub(r"<[^>]*>", "", found.group(1)))


marks = st.lists(st.builds(Mark, st.integers(-3, 40), st.integers(-3, 40), st.sampled_from([*TURNS, HIT])), max_size=8)


@given(st.text(max_size=30), marks)
def test_segments_joined_are_the_text_and_every_mark_is_whole(text: str, some: list[Mark]) -> None:
    cut = list(segments(text, some))
    assert "".join(one.text for one in cut) == text
    at = 0
    for one in cut:
        over = [m for m in some if m.start <= at and at + len(one.text) <= m.end and m.start < m.end]
        assert one.tone == (SHARED if len(over) > 1 else over[0].tone if over else "")
        at += len(one.text)


@given(st.text(st.characters(codec="utf-8"), max_size=40), marks)
def test_rendered_text_is_the_text(text: str, some: list[Mark]) -> None:
    assert _text_of(markup(text, some)) == text


def test_markup_of_the_text_its_titles_and_its_name_is_shown_as_it_is() -> None:
    nasty = "<script>alert(1)</script> {{ 7 * 7 }} & \"quotes\" '--'"
    rendered = markup(nasty, [Mark(0, 8, HIT, nasty, nasty)], name=nasty)
    assert "<script" not in rendered
    assert "49" not in _text_of(rendered)
    assert _text_of(rendered) == nasty


def test_what_neighbours_share_has_its_own_tone_and_the_titles_of_both() -> None:
    cut = list(segments("one two three", chunk_marks([(0, 7), (4, 13)], ["first", "second"])))
    assert [(one.text, one.tone, one.title, one.numbers) for one in cut] == [
        ("one ", TURNS[0], "first", ("1",)),
        ("two", SHARED, "first + second", ("2",)),
        (" three", TURNS[1], "second", ()),
    ]
    assert [(one.begins, one.ends) for one in cut] == [(True, False), (True, True), (False, True)]


def test_chunks_in_turn_have_other_tones_than_their_neighbours() -> None:
    made = chunk_marks([(at, at + 1) for at in range(7)])
    assert all(a.tone != b.tone for a, b in pairwise(made))
    assert [mark.number for mark in made] == list("1234567")


def test_a_long_text_is_bounded() -> None:
    assert len(_text_of(markup("x" * (MOST_CHARS + 5), [Mark(0, MOST_CHARS + 5)]))) == MOST_CHARS
