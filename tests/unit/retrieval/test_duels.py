"""Duels as records."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import NotFoundError
from backend.retrieval import Duel, DuelStore, HydeSettings, duel_from_json, duel_id_for, duel_to_json
from backend.retrieval.types import Expansion, Hit, RankedList
from backend.store import Database


def make_duel(duel_id: str = "d1", query: str = "q", text: str = "text", created_at: str = "2026-01-01") -> Duel:
    hit = Hit(1, 0.5, "c1", "doc", "a.txt", "page 1", 0, 4, text)
    return Duel(
        duel_id, "corpus", "Corpus", "v1", query, 5,
        RankedList("m1", "f1", (hit,), 1.0, 2.0),
        RankedList("m2", "f2", (hit, replace(hit, rank=2, chunk_id="c2")), 1.0, 2.0, n_cut=None),
        HydeSettings(), Expansion(passages=("p",)), 7, created_at,
    )  # fmt: skip


@given(text=st.text(), query=st.text())
def test_json_and_back(text: str, query: str) -> None:
    duel = make_duel(text=text, query=query)
    assert duel_from_json(duel_to_json(duel)) == duel


def test_the_store_gives_back_what_it_got(database: Database) -> None:
    store = DuelStore(database)
    duel = make_duel(text="\ud800 lone")
    store.save(duel)
    assert store.get("d1") == duel
    with pytest.raises(NotFoundError, match="zzz"):
        store.get("zzz")


def test_recent_is_newest_first(database: Database) -> None:
    store = DuelStore(database)
    for n in range(3):
        store.save(make_duel(f"d{n}", created_at=f"2026-01-0{n + 1}"))
    assert [duel.duel_id for duel in store.recent(2)] == ["d2", "d1"]
    assert store.recent(5, corpus_id="other") == []


def test_shared_chunks() -> None:
    assert make_duel().shared_chunks() == {"c1"}


BASE = {
    "corpus_id": "c", "version_id": "v", "query": "q", "k": 5, "model_a": "a", "model_b": "b",
    "hyde": None, "writer": "",
}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"version_id": "w"}, {"query": "r"}, {"k": 6}, {"model_a": "b", "model_b": "a"},
        {"hyde": HydeSettings()}, {"hyde": HydeSettings(2)}, {"writer": "m"},
    ],
)  # fmt: skip
def test_every_part_of_the_content_changes_the_id(change: dict) -> None:
    assert duel_id_for(**BASE) == duel_id_for(**BASE)
    assert duel_id_for(**BASE) != duel_id_for(**{**BASE, **change})
