"""Every strategy, in every unit, with every kind of tokenizer: bounded, shared as said, short ones joined, quick."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.corpus import Chunking, ChunkStrategy, JsonTokenizer, Section, SizeUnit, chunk_spans, default_tokenizer
from backend.corpus.chunking import chunk_records
from backend.corpus.graphemes import splits_cluster
from tests.unit.corpus.made_tokenizers import KINDS, tokenizers_of_each_kind

CUTTING = [strategy for strategy in ChunkStrategy if strategy is not ChunkStrategy.WHOLE]
CHARACTERS = SizeUnit.CHARACTERS

parts = st.sampled_from(
    [
        "The keeper", " ", "\n", "\n\n", ". ", "! ", "level", "水库管理处。", "เขื่อนปิด", "ماء ", "👨\u200d👩\u200d👧",
        "🇩🇪", "e\u0301", "क्षि", "각", "3.5", "https://example.org/a_b", "\n- item", "\t", "\u00a0", "\u200b", "。",
        "...", "x" * 90,
    ]
)  # fmt: skip
mixed = st.lists(parts, max_size=60).map("".join)
numbers = st.integers(2, 60).flatmap(
    lambda size: st.tuples(st.just(size), st.integers(0, size - 1), st.integers(0, size))
)


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, JsonTokenizer]:
    return tokenizers_of_each_kind(tmp_path_factory.mktemp("tokenizers"))


def sections_of(text: str, places: list[int]) -> list[Section]:
    edges = sorted({min(at, len(text)) for at in places} | {0, len(text)})
    return [Section(start, end, f"Part {n}") for n, (start, end) in enumerate(pairwise(edges))]


def hold(text: str, sections: list[Section], chunking: Chunking, tokenizer: JsonTokenizer | None) -> None:
    """The rules that every way of cutting holds to."""
    spans = [span[:2] for span in chunk_spans(text, sections, chunking, tokenizer)]

    def size(start: int, end: int) -> int:
        return tokenizer.count([text[start:end]])[0] if tokenizer else end - start

    covered = {at for start, end in spans for at in range(start, end)}
    assert {at for at, char in enumerate(text) if not char.isspace()} <= covered
    for start, end in spans:
        assert text[start:end] == text[start:end].strip() != ""
        assert not splits_cluster(text, start)
        assert not splits_cluster(text, end)
        is_one_character = all(splits_cluster(text, at) for at in range(start + 1, end))
        assert size(start, end) <= chunking.size or is_one_character
    for (start, end), (next_start, next_end) in pairwise(spans):
        assert start < next_start
        assert end < next_end
        if next_start < end:
            assert size(next_start, end) <= chunking.overlap
        if min(size(start, end), size(next_start, next_end)) < chunking.min_size:
            assert size(start, next_end) > chunking.size, "a short chunk that fits to its neighbour"
    assert [span[:2] for span in chunk_spans(text, sections, chunking, tokenizer)] == spans


@pytest.mark.parametrize("strategy", [s for s in CUTTING if s is not ChunkStrategy.TOKENS])
@settings(max_examples=120, deadline=None)
@given(text=mixed, numbers=numbers, places=st.lists(st.integers(0, 400), max_size=4))
def test_characters(strategy: ChunkStrategy, text: str, numbers: tuple[int, int, int], places: list[int]) -> None:
    size, overlap, least = numbers
    hold(text, sections_of(text, places), Chunking(size, overlap, strategy, least, CHARACTERS), None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strategy", CUTTING)
@settings(max_examples=40, deadline=None)
@given(text=mixed, numbers=numbers, places=st.lists(st.integers(0, 400), max_size=4))
def test_tokens(
    kinds: dict[str, JsonTokenizer],
    kind: str,
    strategy: ChunkStrategy,
    text: str,
    numbers: tuple[int, int, int],
    places: list[int],
) -> None:
    size, overlap, least = numbers
    hold(text, sections_of(text, places), Chunking(size, overlap, strategy, least), kinds[kind])


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(["Rain fell.", "Who has the key?", "It lies there!", "The gate is shut."]),
        min_size=1,
        max_size=60,
    ),
    st.integers(20, 120),
    st.integers(0, 19),
)
def test_sentences_that_fit_are_never_cut(parts: list[str], size: int, overlap: int) -> None:
    text = " ".join(parts)
    for start, end, _ in chunk_spans(text, (), Chunking(size, overlap, ChunkStrategy.SENTENCES, unit=CHARACTERS)):
        assert text[end - 1] in ".?!"
        assert start == 0 or text[start - 2] in ".?!"


def cut(text: str, chunking: Chunking, sections: tuple[Section, ...] = ()) -> list[str]:
    return [text[start:end] for start, end, _ in chunk_spans(text, sections, chunking, default_tokenizer())]


def test_a_heading_that_is_too_short_takes_text_with_it() -> None:
    text = "Winter\n\nThe pump is drained. The gate is left open by a hand. Nobody sleeps at the weir until March."
    apart = Chunking(70, 0, ChunkStrategy.RECURSIVE, unit=CHARACTERS)
    assert cut(text, apart)[0] == "Winter"
    assert cut(text, Chunking(70, 0, ChunkStrategy.RECURSIVE, 20, CHARACTERS))[0].endswith("by a hand.")


def test_structure_looks_for_paragraphs_then_lines_then_sentences_then_words() -> None:
    def first(text: str) -> str:
        return cut(text, Chunking(40, 0, ChunkStrategy.RECURSIVE, unit=CHARACTERS))[0]

    assert first("One two.\nThree four.\n\nFive six. Seven\neight nine ten eleven") == "One two.\nThree four."
    assert first("One two. Three four.\nFive six. Seven eight nine ten eleven") == "One two. Three four."
    assert first("One two. Three four. Five six seven eight nine ten eleven") == "One two. Three four."
    assert first("One two three four five six seven eight nine ten eleven") == "One two three four five six seven eight"
    assert first("x" * 100) == "x" * 40


def test_a_long_section_is_cut_and_a_short_one_is_not_joined() -> None:
    text = "A short note.\n\n" + "The gate is shut at night. " * 10 + "\n\nThe end."
    cuts = (0, 15, text.index("The end"), len(text))
    sections = tuple(Section(a, b, f"H{n}") for n, (a, b) in enumerate(pairwise(cuts)))
    spans = chunk_spans(text, sections, Chunking(120, 0, ChunkStrategy.HEADINGS, unit=CHARACTERS))
    assert [place for _, _, place in spans] == ["H0", "H1", "H1", "H1", "H2"]


def test_an_overlap_gives_way_before_a_sentence_is_cut() -> None:
    text = "Rain fell at night. The keeper of the weir opened all three gates."
    chunks = cut(text, Chunking(47, 30, ChunkStrategy.SENTENCES, unit=CHARACTERS))
    assert chunks == ["Rain fell at night.", "The keeper of the weir opened all three gates."]


def test_chinese_is_cut_where_it_is_full_not_at_a_far_blank() -> None:
    text = "使用 " + "水库管理处每天清晨记录水位" * 20
    for strategy in CUTTING:
        unit = SizeUnit.TOKENS if strategy is ChunkStrategy.TOKENS else CHARACTERS
        assert len(cut(text, Chunking(50, 0, strategy, unit=unit))[0]) > 45


def test_closing_marks_stay_with_their_words_in_chinese() -> None:
    text = "他说，（很好）。" * 40
    for chunk in cut(text, Chunking(21, 4, ChunkStrategy.RECURSIVE, unit=CHARACTERS)):
        assert chunk[0] not in "，。）"


@pytest.mark.parametrize("strategy", CUTTING)
@pytest.mark.parametrize(
    "text",
    ["." * 100_000, "\n" * 100_000 + "x", "a\n\n" * 30_000, " " * 100_000 + "x" + " \n" * 50_000 + "y", "🇩🇪" * 30_000,
     "\u0301" * 60_000, "。" * 100_000, "é" * 100_000, "ab. " * 25_000, "é\n" * 40_000],
    ids=["stops", "lines", "paragraphs", "blanks", "flags", "marks", "stops-zh", "word", "sentences", "short-lines"],
)  # fmt: skip
def test_odd_texts_are_quick(strategy: ChunkStrategy, text: str) -> None:
    before = time.process_time()
    spans = chunk_spans(text, (), Chunking(500, 50, strategy, unit=CHARACTERS), default_tokenizer())
    assert time.process_time() - before < 6
    assert spans
    assert spans[-1][1] == len(text.rstrip())


def test_many_rows_are_read_and_counted_in_batches() -> None:
    calls: list[int] = []

    class Counting(JsonTokenizer):
        def offsets(self, texts):  # type: ignore[no-untyped-def]
            calls.append(len(texts))
            return super().offsets(texts)

    tokenizer = Counting.__new__(Counting)
    tokenizer.__dict__.update(default_tokenizer().__dict__)
    taken = 0

    def rows():  # type: ignore[no-untyped-def]
        nonlocal taken
        for n in range(10_000):
            taken += 1
            yield Section(n * 10, n * 10 + 8, f"row {n}", True, str(n)), f"row {n:04d}"

    stream = chunk_records(rows(), Chunking(), tokenizer)
    assert next(stream) == (0, 8, "row 0", "0", "row 0000")
    assert taken < 5_000, "the rest is not read yet"
    assert sum(1 for _ in stream) == 9_999
    assert len(calls) == 3
