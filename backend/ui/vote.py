"""The reader's blind vote, and the reveal."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from backend.judging import Vote
from backend.judging.types import Side
from backend.retrieval.types import Duel
from backend.ui import state
from backend.ui.reader import reader_id
from backend.ui.sides import Sides, left_side
from backend.ui.text import label
from backend.workspace import Workspace

Choice = Literal["a", "b", "tie", "both_bad"]


def sides_of(ws: Workspace, duel: Duel) -> Sides:
    """How to show this duel: blind until this reader voted on it, or until this session revealed it."""
    revealed = st.session_state.get(state.DUEL_REVEALED) == duel.duel_id or bool(_own_votes(ws, duel.duel_id))
    return Sides(duel, left_side(duel), revealed)


def show(ws: Workspace, sides: Sides) -> None:
    """The ballot, or what was voted."""
    votes = _own_votes(ws, sides.duel.duel_id)
    if votes:
        st.markdown(f":material/how_to_vote: Your vote: {_told(sides, votes[-1].choice)}. [To the verdict](#verdict)")
    elif sides.revealed:
        st.caption("Names were shown before a vote, so a vote on this duel would no longer be blind.")
    else:
        _ballot(ws, sides)


def _own_votes(ws: Workspace, duel_id: str) -> list[Vote]:
    reader = reader_id()
    return [vote for vote in ws.votes.for_duel(duel_id) if vote.rater == reader]


def _ballot(ws: Workspace, sides: Sides) -> None:
    left, right = sides.order
    # At the foot of the window: the reader scrolls through the lists and always has the ballot at hand.
    with st.bottom, st.container(key="ballot", gap="xsmall"):
        st.markdown("**Which side is better?** Names stay hidden till then.")
        ballot: tuple[tuple[str, Choice, str], ...] = (
            ("Left", left, "The left side answers the question better."),
            ("Right", right, "The right side answers the question better."),
            ("Tie", "tie", "Both answer it equally well."),
            ("Both bad", "both_bad", "Neither answers it."),
        )
        with st.container(horizontal=True, gap="xsmall"):
            for words, choice, meaning in ballot:
                if st.button(words, key=f"vote_{words.lower().replace(' ', '_')}", help=meaning):
                    ws.votes.cast(sides.duel.duel_id, choice, sides.left, reader_id())
                    st.rerun()
            if st.button("Reveal", type="tertiary", key="vote_reveal", help="Show names and scores without a vote."):
                st.session_state[state.DUEL_REVEALED] = sides.duel.duel_id
                st.rerun()


def _told(sides: Sides, choice: str) -> str:
    if choice in ("a", "b"):
        side: Side = "a" if choice == "a" else "b"
        return f"**{sides.place(side)}**, which is **{label(sides.results(side).model)}**"
    return "**a tie**" if choice == "tie" else "**both bad**"
