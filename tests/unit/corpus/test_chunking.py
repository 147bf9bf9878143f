"""Chunks: exact spans, bounded, nothing lost, natural ends, whole characters."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backend.corpus import (
    WHOLE_DOCUMENTS,
    Chunking,
    ChunkStrategy,
    Section,
    SizeUnit,
    Tokenizer,
    check_chunking,
    chunk_spans,
    default_tokenizer,
)
from backend.corpus.chunking import chunk_records, split_sentences
from backend.corpus.graphemes import splits_cluster
from backend.errors import InputError

FAMILY = "👨\u200d👩\u200d👧"


class WordTokenizer:
    """A token a word; long words are several."""

    name = "words"

    def spans(self, text: str) -> list[tuple[int, int]]:
        return [m.span() for m in re.finditer(r"\S{1,8}", text)]


def measure(chunking: Chunking, tokenizer: Tokenizer, piece: str) -> int:
    return len(tokenizer.spans(piece)) if chunking.counts_tokens else len(piece)


words = st.text(st.sampled_from("aábc é.!?\n\n 水库。ก็한각🎂\u0301\u200d👩👧🇩🇪\u00a0\u200b-_/\t"), max_size=400)
texts = st.one_of(words, st.text(max_size=200), st.lists(words, max_size=4).map("\n\n".join))
chunkings = st.integers(2, 40).flatmap(
    lambda size: st.builds(
        Chunking,
        st.just(size),
        st.integers(0, size - 1),
        st.sampled_from(ChunkStrategy),
        st.integers(0, size),
        st.sampled_from(SizeUnit),
    )
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
@example(("? _ 库", []), Chunking(2, 0), WordTokenizer())
def test_the_rules_that_always_hold(document: tuple[str, list[Section]], chunking: Chunking, tokenizer) -> None:
    text, sections = document
    spans = chunk_spans(text, sections, chunking, tokenizer)

    covered: set[int] = set()
    for start, end, place in spans:
        piece = text[start:end]
        assert piece
        assert piece == piece.strip()
        if chunking.strategy is not ChunkStrategy.WHOLE and measure(chunking, tokenizer, piece) > chunking.size:
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
    assert first("a b c d e f g h it. So\nk l m n o p").endswith("it.")
    assert first("a b c d e f g h i j\nk l m n o p").endswith(" j")
    assert first("a b. c d e f g h i j k l m n o p").endswith(" l"), "a stop in the first two thirds is too early"
    assert first('a b c d e f g h i "it." Key l m n o p').endswith('it."')


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
    for chunking in (Chunking(100, 0), WHOLE_DOCUMENTS):
        assert chunk_spans(text, rows, chunking, WordTokenizer()) == [(0, 7, "row 1"), (9, 19, "row 2")]
    assert chunk_spans(text, (), Chunking(2, 0, ChunkStrategy.WHOLE), WordTokenizer()) == [(0, 19, "")]


@pytest.mark.parametrize(
    "chunking", [Chunking(0, 0), Chunking(10, 10), Chunking(10, 12), Chunking(10, -1), Chunking(10, 2, min_size=11)]
)
def test_a_chunking_that_can_not_end_is_refused(chunking: Chunking) -> None:
    with pytest.raises(InputError):
        chunk_spans("text", (), chunking, WordTokenizer())


def test_blank_text_has_no_chunks() -> None:
    assert chunk_spans(" \n\t\u3000 ", (), Chunking(), WordTokenizer()) == []
    assert chunk_spans("", (), Chunking(), WordTokenizer()) == []


CHARACTERS = SizeUnit.CHARACTERS


@settings(max_examples=200, deadline=None)
@given(st.lists(texts.map(str.strip).filter(bool), max_size=12), chunkings, tokenizers)
def test_a_table_is_cut_row_by_row_as_its_text_would_be(rows: list[str], chunking: Chunking, tokenizer) -> None:
    """Streaming and whole give the same chunks."""
    sections, at = [], 0
    for n, row in enumerate(rows):
        sections.append(Section(at, at + len(row), f"row {n}", True, f"id{n}"))
        at += len(row) + 2
    text = "\n\n".join(rows)
    streamed = list(chunk_records(zip(sections, rows, strict=True), chunking, tokenizer))
    assert [(start, end, place) for start, end, place, _, _ in streamed] == chunk_spans(
        text, sections, chunking, tokenizer
    )
    for start, end, place, record_id, piece in streamed:
        assert text[start:end] == piece
        assert record_id == place.replace("row ", "id")


def test_sentences_are_whole_where_they_fit() -> None:
    text = "Dr. Weir sleeps at 3.5 bar, e.g. in winter. The gate opens! Is it dry? It is."
    assert [text[s:e] for s, e in split_sentences(text)] == [
        "Dr. Weir sleeps at 3.5 bar, e.g. in winter.", "The gate opens!", "Is it dry?", "It is.",
    ]  # fmt: skip
    chunking = Chunking(60, 0, ChunkStrategy.SENTENCES, unit=CHARACTERS)
    assert [text[s:e] for s, e, _ in chunk_spans(text, (), chunking, None)] == [
        "Dr. Weir sleeps at 3.5 bar, e.g. in winter. The gate opens!", "Is it dry? It is.",
    ]  # fmt: skip


def test_structure_keeps_paragraphs_together_where_they_fit() -> None:
    text = "First short paragraph.\n\nSecond one, a bit longer than that.\n\nThird.\n\nFourth."
    chunking = Chunking(45, 0, ChunkStrategy.RECURSIVE, unit=CHARACTERS)
    assert [text[s:e] for s, e, _ in chunk_spans(text, (), chunking, None)] == [
        "First short paragraph.", "Second one, a bit longer than that.\n\nThird.", "Fourth.",
    ]  # fmt: skip


def test_headings_make_chunks_of_their_own_unless_they_are_too_small() -> None:
    text = "# A\none\n# B\ntwo three\n# C\nfour"
    sections = [Section(0, 8, "A"), Section(8, 22, "B"), Section(22, len(text), "C")]
    apart = Chunking(40, 0, ChunkStrategy.HEADINGS, unit=CHARACTERS)
    assert [place for _, _, place in chunk_spans(text, sections, apart, None)] == ["A", "B", "C"]
    joined = Chunking(40, 0, ChunkStrategy.HEADINGS, 12, CHARACTERS)
    assert len(chunk_spans(text, sections, joined, None)) < 3


@pytest.mark.parametrize("strategy", [s for s in ChunkStrategy if s is not ChunkStrategy.WHOLE])
@pytest.mark.parametrize("unit", SizeUnit)
def test_a_token_of_200000_characters_ends(strategy: ChunkStrategy, unit: SizeUnit) -> None:
    text = "x" * 200_000
    spans = chunk_spans(text, (), Chunking(300, 30, strategy, unit=unit), default_tokenizer())
    assert spans[0][0] == 0
    assert spans[-1][1] == 200_000
    assert all(end - start <= 300 * 64 for start, end, _ in spans)


def test_a_line_of_three_megabytes_is_cut() -> None:
    text = ("word " * 600_000).strip()
    spans = chunk_spans(text, (), Chunking(1000, 100, ChunkStrategy.RECURSIVE, unit=CHARACTERS), None)
    assert 2_900 < len(spans) < 4_500
    assert max(end - start for start, end, _ in spans) <= 1000


def test_tokens_need_a_tokenizer() -> None:
    with pytest.raises(InputError, match="tokenizer"):
        chunk_spans("some words", (), Chunking(), None)
    check_chunking(WHOLE_DOCUMENTS)
