"""Where sentences end: stops, abbreviations, numbers, quotes, lists, and scripts with stops of their own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.corpus.chunking import split_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["Dr. Weir met Mrs. Lock.", "She left."],
        ["It costs 3.50 a day.", "See example.org for more."],
        ["Use a tool, e.g. a rasp, i.e. something rough.", "Then stop."],
        ["J. R. Weir wrote it.", "K. Lock read it."],
        ["The U.S. Army built it.", "It holds."],
        ["They lived in the U.S. It was cold."[:22], "It was cold."],
        ["We measured vitamin C.", "The level fell."],
        ["See Fig. 3 and no. 12.", "They agree."],
        ["He said no.", "Nobody moved."],
        ["Levels rose (see Weir et al. 2010).", "We agree."],
        ["Wait... what is that?", "Nothing."],
        ["So it ends…", "Another begins."],
        ["“Where is the key?” she asked.", "Nobody knew."],
        ['He said "stop."', "Then he left."],
        ["Really?!", "Yes!", "Good."],
        ["It rose in 1884.", "The dam broke."],
        ["The var. glabra is rare.", "It is small."],
        ["水位很高。", "闸门打开！", "谁有钥匙？", "「在这里。」", "好的。"],
        ["ダムは月曜日に閉まる。", "鍵はどこ？"],
        ["يُغلق السد.", "أين المفتاح؟", "في الصندوق."],
        ["बाँध बंद है।", "चाबी कहाँ है?"],
        ["Der Damm ist z. B. montags zu."[:22] + "u.", "Er öffnet am Dienstag."],
        ["La digue est fermée.", "«Pourquoi?» dit-elle.", "À cause du froid."],
        ["Мост закрыт.", "Ключ у А. Иванова."],
    ],
)
def test_sentences_are_told_apart(sentences: list[str]) -> None:
    blank = "" if any(char in "。！？" for char in "".join(sentences)) else " "
    text = blank.join(sentences)
    assert [text[start:end] for start, end in split_sentences(text)] == sentences


def test_what_has_no_stop_ends_with_its_line() -> None:
    text = "# Winter\nDrain the pump first and\nwait an hour.\n\nYou need\n- a rag\n- oil\n1. Turn it off.\n2. Wait."
    assert [text[start:end] for start, end in split_sentences(text)] == [
        "# Winter\nDrain the pump first and\nwait an hour.", "You need", "- a rag", "- oil",
        "1. Turn it off.", "2. Wait.",
    ]  # fmt: skip


@settings(deadline=None)
@given(st.text(st.sampled_from('aB .!?…。\n"”)1-e.g'), max_size=200))
def test_every_character_lies_in_one_sentence(text: str) -> None:
    spans = split_sentences(text)
    reached = 0
    for start, end in spans:
        assert reached <= start < end
        assert not text[reached:start].strip()
        assert text[start:end].strip() == text[start:end]
        reached = end
    assert not text[reached:].strip()
