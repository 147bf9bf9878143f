"""Looking up where examples stand: their place in the document, and how their text begins."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

from backend.corpus.files import Section
from backend.corpus.quality.duplicates import Found, SameText, Span
from backend.corpus.quality.near import Linked
from backend.corpus.quality.types import DuplicateGroup, Duplicates, NearGroup, Place
from backend.corpus.quality.walk import TextWindow
from backend.corpus.types import Document
from backend.store import storable

TextOf = Callable[[Document], Iterator[str]]
SectionsOf = Callable[[Document], Iterator[Section]]

_EXCERPT_CHARS = 160
_MOST_GROUPS = 10
_MOST_PLACES = 5


class Lookup:
    """Reads documents a second time, and only those that hold an example.

    Args:
        documents: In the order in which spans number them.
        text_of: As in ``build_report``.
        sections_of: As in ``build_report``.
    """

    def __init__(self, documents: Sequence[Document], text_of: TextOf, sections_of: SectionsOf) -> None:
        self._documents = documents
        self._text_of = text_of
        self._sections_of = sections_of

    def duplicates(self, found: Found, *, of_documents: bool = False) -> Duplicates:
        """The duplicates with their places; whole documents have none inside themselves."""
        spans = [] if of_documents else [span for group in found.largest for span in group.spans]
        places = self._places(spans)
        excerpts = self._excerpts([group.spans[0] for group in found.largest])
        examples = tuple(self._group(group, places, excerpts) for group in found.largest)
        return Duplicates(found.n_units, found.n_groups, found.n_copies, examples)

    def near_groups(self, groups: Sequence[Linked], span_of: Callable[[int], Span]) -> tuple[NearGroup, ...]:
        """The first groups with their places; ``span_of`` tells where a record stands."""
        shown = [(group, [span_of(unit) for unit in group.units[:_MOST_PLACES]]) for group in groups[:_MOST_GROUPS]]
        places = self._places([span for _, spans in shown for span in spans])
        return tuple(
            NearGroup(len(group.units), group.lowest, group.highest, tuple(self._place(s, places) for s in spans))
            for group, spans in shown
        )

    def near_documents(self, groups: Sequence[Linked]) -> tuple[NearGroup, ...]:
        """The first groups of whole documents."""
        return tuple(
            NearGroup(
                len(group.units), group.lowest, group.highest,
                tuple(Place(self._name(unit)) for unit in group.units[:_MOST_PLACES]),
            )
            for group in groups[:_MOST_GROUPS]
        )  # fmt: skip

    def _group(self, group: SameText, places: dict[Span, str], excerpts: dict[Span, str]) -> DuplicateGroup:
        found = tuple(self._place(span, places) for span in group.spans)
        return DuplicateGroup(group.n_units, excerpts.get(group.spans[0], ""), found)

    def _place(self, span: Span, places: dict[Span, str]) -> Place:
        return Place(self._name(span.document), places.get(span, ""))

    def _name(self, document: int) -> str:
        return storable(self._documents[document].name) if 0 <= document < len(self._documents) else ""

    def _places(self, spans: Iterable[Span]) -> dict[Span, str]:
        found: dict[Span, str] = {}
        for document, wanted in _by_document(spans, len(self._documents)):
            starts = [span.start for span in wanted]
            for section in self._sections_of(self._documents[document]):
                first, last = bisect_left(starts, section.start), bisect_left(starts, section.end)
                found.update((span, storable(section.place)) for span in wanted[first:last])
        return found

    def _excerpts(self, spans: Iterable[Span]) -> dict[Span, str]:
        found: dict[Span, str] = {}
        for document, wanted in _by_document(spans, len(self._documents)):
            window = TextWindow(self._text_of(self._documents[document]))
            for span in wanted:
                text = window.take(span.start, min(span.end, span.start + 4 * _EXCERPT_CHARS))
                found[span] = storable(shortened(text))
        return found


def shortened(text: str) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT_CHARS else line[: _EXCERPT_CHARS - 1].rstrip() + "…"


def _by_document(spans: Iterable[Span], n_documents: int) -> Iterator[tuple[int, list[Span]]]:
    wanted: dict[int, list[Span]] = {}
    for span in set(spans):
        if 0 <= span.document < n_documents:
            wanted.setdefault(span.document, []).append(span)
    for document in sorted(wanted):
        yield document, sorted(wanted[document], key=lambda span: (span.start, span.end))
