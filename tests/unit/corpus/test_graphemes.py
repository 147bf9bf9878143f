"""Where a cut tears no visible character, against the full rules of a library that has their tables."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.corpus.graphemes import splits_cluster

regex = pytest.importorskip("regex", reason="comes with transformers")

CLUSTERS = (
    "a", " ", "é", "e\u0301", "각", "\u1100\u1161\u11a8", "\u1100", "👩", "👨\u200d👩\u200d👧", "👍🏽", "🇩🇪",
    "🇫", "กำ", "水", "क्षि",
    "\u09ac\u09cd\u09a4", "\u0928", "❤\ufe0f", "\r\n", "।", "।\u0301", "1\ufe0f\u20e3",
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(CLUSTERS), max_size=16).map("".join))
def test_no_cut_inside_what_the_full_rules_keep_together(text: str) -> None:
    ends = {match.end() for match in regex.finditer(r"\X", text)}
    for at in range(1, len(text)):
        if at not in ends:
            assert splits_cluster(text, at), f"{text[at - 1]!a} {text[at]!a}"


@pytest.mark.parametrize(
    "cluster", ["👨\u200d👩\u200d👧", "🇩🇪", "e\u0301", "👍🏽", "กำ", "क्षि", "❤️", "\u1100\u1161\u11a8"]
)
def test_known_ones_are_whole(cluster: str) -> None:
    text = f"{cluster}{cluster}"
    assert [at for at in range(1, len(text)) if not splits_cluster(text, at)] == [len(cluster)]


def test_a_text_of_flags_is_looked_at_quickly() -> None:
    text = "🇩🇪" * 100_000
    assert [splits_cluster(text, at) for at in (99_999, 100_000, 199_999)] == [True, False, True]
