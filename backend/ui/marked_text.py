"""A text with stretches of it marked: chunks in turn, what two of them share, a hit in its document.

The text is anybody's: it goes through an autoescaped template, and its white space and direction stay as they are.
What a mark means is never told by colour alone: each begins with a bracket that may carry a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

if TYPE_CHECKING:
    from jinja2 import Template

MOST_CHARS = 60_000
TURNS = ("one", "two", "three")
HIT = "hit"
SHARED = "shared"


class Mark(NamedTuple):
    """A stretch of the text.

    Attributes:
        start: Its first character.
        end: One past its last.
        tone: One of ``TURNS``, or ``HIT``.
        title: Told on hover.
        number: Shown small where it begins.
    """

    start: int
    end: int
    tone: str = HIT
    title: str = ""
    number: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of characters under the same marks.

    Attributes:
        text: The characters.
        tone: Of its mark; ``SHARED`` under several, empty under none.
        pair: The two tones in turn, where two marks share it.
        title: Of its marks.
        numbers: Of the marks that begin here.
        begins: Whether a mark begins here.
        ends: Whether a mark ends here.
    """

    text: str
    tone: str = ""
    pair: str = ""
    title: str = ""
    numbers: tuple[str, ...] = ()
    begins: bool = False
    ends: bool = False


def chunk_marks(spans: Iterable[tuple[int, int]], titles: Sequence[str] = ()) -> list[Mark]:
    """Marks of chunks one after the other: numbered from 1, neighbours in different tones."""
    return [
        Mark(start, end, TURNS[at % len(TURNS)], titles[at] if at < len(titles) else f"Chunk {at + 1}", str(at + 1))
        for at, (start, end) in enumerate(spans)
    ]


def segments(text: str, marks: Sequence[Mark]) -> Iterator[Segment]:
    """Cut a text where marks begin and end; the segments joined are the text.

    Args:
        text: Any text.
        marks: In any order; parts outside the text are left out.
    """
    kept = sorted(
        mark._replace(start=max(mark.start, 0), end=min(mark.end, len(text)))
        for mark in marks
        if max(mark.start, 0) < min(mark.end, len(text))
    )
    edges = sorted({0, len(text), *(mark.start for mark in kept), *(mark.end for mark in kept)})
    over: list[Mark] = []
    waiting = iter(kept)
    following = next(waiting, None)
    for start, end in pairwise(edges):
        over = [mark for mark in over if mark.end > start]
        begun = []
        while following is not None and following.start == start:
            begun.append(following)
            following = next(waiting, None)
        over.extend(begun)
        yield Segment(
            text[start:end],
            SHARED if len(over) > 1 else over[0].tone if over else "",
            "-".join(sorted(mark.tone for mark in over)) if len(over) == 2 else "",
            " + ".join(mark.title for mark in over if mark.title),
            tuple(mark.number for mark in begun if mark.number),
            bool(begun),
            any(mark.end == end for mark in over),
        )


def marked(text: str, marks: Sequence[Mark], *, name: str = "Text", height_rem: int = 26) -> None:
    """Draw a text with its marks, in a box that scrolls.

    Args:
        text: At most ``MOST_CHARS`` characters of it are shown, and what is left out is told.
        marks: What to mark.
        name: Of the box, for screen readers.
        height_rem: Most height of the box.
    """
    st.html(markup(text, marks, name=name, height_rem=height_rem))
    if len(text) > MOST_CHARS:
        st.caption(f"The first {MOST_CHARS:,} of {len(text):,} characters.")


def markup(text: str, marks: Sequence[Mark], *, name: str = "Text", height_rem: int = 26) -> str:
    """The HTML of a text with its marks."""
    shown = list(segments(text[:MOST_CHARS], marks))
    return _template().render(segments=shown, name=name, height_rem=height_rem)


@lru_cache(maxsize=1)
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    return Environment(autoescape=True, undefined=StrictUndefined).from_string(_SOURCE)


# Half-transparent tones on the page's own background and text colour stand in the light theme and in the dark one.
_SOURCE = """\
<style>
.rd-marked { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; line-height: 1.75;
  overflow-y: auto; padding: .5rem .75rem; border: 1px solid rgba(128, 140, 138, .45); border-radius: .4rem;
  font-size: .9rem; }
.rd-marked span[data-tone] { padding-block: .12em; }
.rd-marked span[data-tone="one"] { background: rgba(43, 143, 134, .22); }
.rd-marked span[data-tone="two"] { background: rgba(199, 123, 48, .22); }
.rd-marked span[data-tone="three"] { background: rgba(123, 104, 196, .24); }
.rd-marked span[data-tone="hit"] { background: rgba(214, 170, 40, .32); }
.rd-marked span[data-tone="shared"] { background: repeating-linear-gradient(135deg, rgba(128, 140, 138, .42) 0 5px,
  rgba(128, 140, 138, .18) 5px 10px); text-decoration: underline dotted 1px; text-underline-offset: .25em; }
.rd-marked span[data-pair="one-two"] { background: repeating-linear-gradient(135deg, rgba(43, 143, 134, .34) 0 5px,
  rgba(199, 123, 48, .34) 5px 10px); }
.rd-marked span[data-pair="three-two"] { background: repeating-linear-gradient(135deg, rgba(199, 123, 48, .34) 0 5px,
  rgba(123, 104, 196, .36) 5px 10px); }
.rd-marked span[data-pair="one-three"] { background: repeating-linear-gradient(135deg, rgba(123, 104, 196, .36) 0 5px,
  rgba(43, 143, 134, .34) 5px 10px); }
.rd-marked .rd-begins { border-inline-start: 2px solid; padding-inline-start: .2em; }
.rd-marked .rd-ends { border-inline-end: 2px solid; padding-inline-end: .2em; }
.rd-marked [data-number]::before { content: attr(data-number); font-size: .68em; font-weight: 700;
  vertical-align: .35em; margin-inline-end: .35em; }
</style>
<div class="rd-marked" dir="auto" role="region" tabindex="0" aria-label="{{ name }}" \
style="max-height: {{ height_rem }}rem">
{%- for one in segments -%}
{%- if one.tone -%}
<span data-tone="{{ one.tone }}"{% if one.pair %} data-pair="{{ one.pair }}"{% endif %}\
{% if one.begins or one.ends %} class="{{ 'rd-begins' if one.begins }}\
{{ ' rd-ends' if one.ends }}"{% endif %}{% if one.numbers %} data-number="{{ one.numbers | join(' ') }}"{% endif %}\
{% if one.title %} title="{{ one.title }}"{% endif %}>{{ one.text }}</span>
{%- else -%}
{{ one.text }}
{%- endif -%}
{%- endfor -%}
</div>
"""
