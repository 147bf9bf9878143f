"""Chunks: exact spans, bounded, nothing lost, natural ends, whole characters."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backend.corpus import Chunking, Section, chunk_spans, default_tokenizer
from backend.corpus.graphemes import splits_cluster
from backend.errors import InputError

FAMILY = "👨\u200d👩\u200d👧"


class WordTokenizer:
    """A token a word; long words are several."""

    name = "words"

    def spans(self, text: str) -> list[tuple[int, int]]:
        return [m.span() for m in re.finditer(r"\S{1,8}", text)]


words = st.text(st.sampled_from("aábc é.!?\n\n 水库。ก็한각🎂\u0301\u200d👩👧🇩🇪\u00a0\u200b-_/\t"), max_size=400)
texts = st.one_of(words, st.text(max_size=200), st.lists(words, max_size=4).map("\n\n".join))
chunkings = st.integers(2, 40).flatmap(
    lambda size: st.builds(Chunking, st.just(size), st.integers(0, size - 1), st.booleans())
)
tokenizers = st.sampled_from([WordTokenizer(), default_tokenizer()])


@st.composite
def sectioned(draw: st.DrawFn) -> tuple[str, list[Section]]:
    text = draw(texts)
    edges = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    sections = [
        Section(start, end, f"row {at}", is_row=draw(st.booleans())) for at, (start, end) in enumerate(pairwise(edges))
    ]
    return text, sections


@settings(max_examples=300, deadline=None)
@given(sectioned(), chunkings, tokenizers)
@example(("a" * 5000, []), Chunking(10, 9), default_tokenizer())
@example(("한국어" * 300, []), Chunking(8, 7), default_tokenizer())
@example((FAMILY * 200, []), Chunking(8, 3), default_tokenizer())
@example(("\u0301" * 500, []), Chunking(8, 3), default_tokenizer())
@example(("ab\x1fcd " * 50, []), Chunking(3, 1), default_tokenizer())
def test_the_rules_that_always_hold(document: tuple[str, list[Section]], chunking: Chunking, tokenizer) -> None:
    text, sections = document
    spans = chunk_spans(text, sections, chunking, tokenizer)

    covered: set[int] = set()
    for start, end, place in spans:
        piece = text[start:end]
        assert piece
        assert piece == piece.strip()
        if not chunking.whole_documents and len(tokenizer.spans(piece)) > chunking.size_tokens:
            # Only one visible character that has more tokens than a chunk may hold.
            assert all(splits_cluster(text, at) for at in range(start + 1, end))
        for section in sections:
            if section.is_row:
                assert not start < section.start < end
                assert not start < section.end < end
        holding = [s.place for s in sections if s.start <= start < s.end]
        assert place == (holding[-1] if holding else "")
        covered.update(range(start, end))
    assert {at for at, char in enumerate(text) if not char.isspace()} <= covered
    assert [s for s, _, _ in spans] == sorted({s for s, _, _ in spans})
    assert [e for _, e, _ in spans] == sorted({e for _, e, _ in spans})


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(["water", "gate.", "the", "weir", "opens!", "café", "na\u0308ive"]), min_size=1, max_size=300
    ),
    st.integers(12, 60).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1))),
)
def test_neighbours_share_at_most_the_overlap_and_cut_no_word(parts: list[str], numbers: tuple[int, int]) -> None:
    text = " ".join(parts)
    tokenizer = default_tokenizer()
    spans = chunk_spans(text, (), Chunking(*numbers), tokenizer)
    for (_, end, _), (start, _, _) in pairwise(spans):
        shared = text[start:end] if start < end else ""
        assert len(tokenizer.spans(shared)) <= numbers[1]
        assert start == 0 or text[start - 1] == " "
        assert text[end] == " "


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([FAMILY, "🇩🇪", "e\u0301", "👍🏽", "각", "กำ", "क्षि", "❤️"]), min_size=1, max_size=120))
def test_visible_characters_stay_whole(clusters: list[str]) -> None:
    text = "".join(clusters)
    edges = {0}
    for cluster in clusters:
        edges.add(max(edges) + len(cluster))
    for start, end, _ in chunk_spans(text, (), Chunking(20, 5), default_tokenizer()):
        assert start in edges
        assert end in edges


def test_a_chunk_prefers_to_end_with_a_paragraph_then_a_sentence_then_a_line() -> None:
    def first(text: str) -> str:
        start, end, _ = chunk_spans(text, (), Chunking(12, 0), WordTokenizer())[0]
        return text[start:end]

    assert first("a b c d e f g h. i\n\nj k. l m n o p").endswith(" i")
    assert first("a b c d e f g h i. j\nk l m n o p").endswith("i.")
    assert first("a b c d e f g h i j\nk l m n o p").endswith(" j")
    assert first("a b. c d e f g h i j k l m n o p").endswith(" l"), "a stop in the first two thirds is too early"
    assert first('a b c d e f g h i "j." k l m n o p').endswith('j."')


def test_a_heading_begins_a_chunk_where_it_can() -> None:
    text = "# A\none two three four five six\n# B\nseven eight nine ten eleven"
    sections = [Section(0, 32, "A"), Section(32, len(text), "B")]
    spans = chunk_spans(text, sections, Chunking(12, 0), WordTokenizer())
    assert [(text[s:e].split()[1], place) for s, e, place in spans] == [("A", "A"), ("B", "B")]


def test_chinese_without_blanks_is_cut_with_overlap() -> None:
    text = "水库管理处每天清晨记录水位" * 40
    spans = chunk_spans(text, (), Chunking(50, 10), default_tokenizer())
    assert len(spans) > 10
    assert spans[1][0] == spans[0][1] - 10


def test_chinese_sentences_end_chunks() -> None:
    text = "值班人员沿大坝巡查。" * 40
    for start, end, _ in chunk_spans(text, (), Chunking(50, 10), default_tokenizer()):
        assert text[start:end].endswith("。")


def test_rows_are_never_joined_and_whole_documents_are_whole_rows() -> None:
    text = "one two\n\nthree four"
    rows = [Section(0, 7, "row 1", is_row=True), Section(9, 19, "row 2", is_row=True)]
    for chunking in (Chunking(100, 0), Chunking(100, 0, whole_documents=True)):
        assert chunk_spans(text, rows, chunking, WordTokenizer()) == [(0, 7, "row 1"), (9, 19, "row 2")]
    assert chunk_spans(text, (), Chunking(2, 0, whole_documents=True), WordTokenizer()) == [(0, 19, "")]


@pytest.mark.parametrize("chunking", [Chunking(0, 0), Chunking(10, 10), Chunking(10, 12), Chunking(10, -1)])
def test_a_chunking_that_can_not_end_is_refused(chunking: Chunking) -> None:
    with pytest.raises(InputError):
        chunk_spans("text", (), chunking, WordTokenizer())


def test_blank_text_has_no_chunks() -> None:
    assert chunk_spans(" \n\t\u3000 ", (), Chunking(), WordTokenizer()) == []
    assert chunk_spans("", (), Chunking(), WordTokenizer()) == []
