"""The duel page: empty, by link, blind, voted, judged, and what goes wrong."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from backend.errors import ProviderError, ProviderFault
from backend.jobs import JobState
from backend.judging import JudgeIdentity, JudgeKind, Outcome, Verdict
from backend.ui import state
from backend.ui.sides import left_side
from backend.workspace import DuelRequest, JudgeChoice, Workspace
from tests.pages.conftest import Open, click, linked, settle, shown

LIKELIHOOD = JudgeIdentity(JudgeKind.LIKELIHOOD, "small", "1-aaaaaaaa")


def test_an_empty_folder_invites(workspace: Workspace, open_page: Open) -> None:
    at = open_page()
    assert not at.exception
    assert not at.error
    assert "Which embedding model finds the better answer" in shown(at)
    assert at.button(key="sample_prepare").label == "Try it on the sample"


def test_a_typed_question_becomes_a_duel_with_a_link(notes: Workspace, open_page: Open) -> None:
    at = open_page()
    at.text_area(key=state.DUEL_QUERY).set_value("Why does honey keep?").run()
    settle(click(at, "duel_run"), notes)
    duel = notes.duels.get(linked(at, "duel"))
    assert (duel.query, duel.a.model, duel.b.model) == ("Why does honey keep?", "fake-a", "fake-b")
    assert at.header[0].value == "Why does honey keep?"
    assert [h.value for h in at.subheader][:2] == ["Left 1", "Right 1"]
    assert duel.a.hits[0].text in [text.value for text in at.text]
    again = open_page(duel=duel.duel_id)  # by link, in another session
    assert [s.value for s in again.subheader] == [s.value for s in at.subheader]


def test_the_newest_duel_shows_without_a_link(notes: Workspace, duel_id: str, open_page: Open) -> None:
    at = open_page()
    assert "Why does honey keep?" in [h.value for h in at.header]
    assert at.text_area(key=state.DUEL_QUERY).value == "Why does honey keep?"
    assert linked(at, "duel") == ""


def test_the_form_follows_the_link(notes: Workspace, duel_id: str, open_page: Open) -> None:
    other = notes.duel(DuelRequest("Notes", "How do I store bread?", "fake-b", "fake-a", 3))
    at = open_page(duel=duel_id)
    assert at.number_input(key=state.DUEL_K).value == 2
    at.query_params["duel"] = other.duel_id  # the back button
    at.run()
    assert at.text_area(key=state.DUEL_QUERY).value == "How do I store bread?"
    assert at.selectbox(key=state.DUEL_MODEL_A).value == "fake-b"
    assert at.number_input(key=state.DUEL_K).value == 3


def test_a_duel_outlives_its_corpus(notes: Workspace, duel_id: str, open_page: Open) -> None:
    notes.corpora.delete("Notes")
    at = open_page(duel=duel_id)
    assert not at.error
    assert "Why does honey keep?" in [h.value for h in at.header]
    assert "This corpus was deleted" in shown(at)


def test_a_suggestion_fills_the_question(notes: Workspace, open_page: Open) -> None:
    at = open_page()
    at.selectbox(key=state.DUEL_SUGGESTION).set_value("How do I **store** bread?").run()
    assert not at.exception
    assert at.text_area(key=state.DUEL_QUERY).value == "How do I **store** bread?"


@pytest.mark.parametrize(("query", "model_b", "words"), [
    ("  ", "fake-b", "no question yet"),
    ("Why?", "fake-a", "Both sides have the same model"),
    ("Why?", "bge-small-en", "is not on this machine"),
])  # fmt: skip
def test_wrong_input_is_told_and_starts_nothing(
    notes: Workspace, open_page: Open, query: str, model_b: str, words: str
) -> None:
    at = open_page()
    at.text_area(key=state.DUEL_QUERY).set_value(query)
    at.selectbox(key=state.DUEL_MODEL_B).set_value(model_b).run()
    click(at, "duel_run")
    assert words in at.error[0].value
    assert notes.duels.recent() == []
    assert notes.jobs.recent() == []


def test_an_unavailable_model_says_how_to_get_it(notes: Workspace, open_page: Open) -> None:
    at = open_page()
    at.selectbox(key=state.DUEL_MODEL_B).set_value("wordllama").run()
    assert any("Run make install" in caption.value for caption in at.caption)
    assert "wordllama (unavailable)" in at.selectbox(key=state.DUEL_MODEL_B).options


def test_blind_until_the_vote_then_names_and_scores(notes: Workspace, duel_id: str, open_page: Open) -> None:
    at = open_page(duel=duel_id)
    results = "\n".join(
        [*(h.value for h in at.header), *(s.value for s in at.subheader), *(m.value for m in at.markdown)]
    )
    assert "fake" not in results
    assert "cosine" not in shown(at)
    assert " ms" not in shown(at)
    click(at, "vote_right")
    duel = notes.duels.get(duel_id)
    right = "b" if left_side(duel) == "a" else "a"
    (vote,) = notes.votes.for_duel(duel_id)
    assert (vote.choice, vote.left_side) == (right, left_side(duel))
    assert "cosine" in shown(at)
    assert "encode" in shown(at)
    heads = [h.value.replace("\\", "").replace("\u2060", "") for h in at.header]
    assert f"Right: {duel.a.model if right == 'a' else duel.b.model}" in heads
    later = open_page(duel=duel_id)  # a reload keeps it
    assert "Your vote" in shown(later)
    assert "vote_left" not in [button.key for button in later.button]


def test_reveal_ends_the_ballot(notes: Workspace, duel_id: str, open_page: Open) -> None:
    at = click(open_page(duel=duel_id), "vote_reveal")
    assert "cosine" in shown(at)
    assert "no longer be blind" in shown(at)
    assert notes.votes.for_duel(duel_id) == []
    assert "vote_left" not in [button.key for button in at.button]


def test_which_side_stands_left_is_drawn_and_stays(notes: Workspace) -> None:
    duels = [notes.duel(DuelRequest("Notes", f"Question {n}?", "fake-a", "fake-b", 1)) for n in range(24)]
    sides = [left_side(duel) for duel in duels]
    assert set(sides) == {"a", "b"}
    assert sides == [left_side(notes.duels.get(duel.duel_id)) for duel in duels]


def test_what_both_found_is_marked_with_the_other_rank(notes: Workspace, duel_id: str, open_page: Open) -> None:
    at = open_page(duel=duel_id)
    shared = notes.duels.get(duel_id).shared_chunks()
    links = [m.value for m in at.markdown if "found by both" in m.value]
    assert len(shared) > 0
    assert len(links) == 2 * len(shared)
    assert all("](#left-" in link or "](#right-" in link for link in links)


def test_cut_chunks_are_counted(notes: Workspace, duel_id: str, open_page: Open) -> None:
    at = click(open_page(duel=duel_id), "vote_tie")
    assert notes.duels.get(duel_id).b.n_cut == 3
    assert "3 chunks longer than it reads, cut" in shown(at)


def test_a_stored_verdict_is_folded_away_while_blind(notes: Workspace, duel_id: str, open_page: Open) -> None:
    verdict = Verdict(Outcome.A, "Side A makes the query more likely.", LIKELIHOOD, margin=0.4, tie_band=0.1)
    notes.verdicts.save(duel_id, verdict)
    at = open_page(duel=duel_id)
    assert "wins" not in shown(at)
    click(at, "verdict_peek")
    place = "Left" if left_side(notes.duels.get(duel_id)) == "a" else "Right"
    assert f"{place} wins" in [s.value for s in at.subheader]
    assert f"{place} makes the query more likely." in [t.value for t in at.text]
    click(at, "vote_tie")
    assert "fake-a wins" in [s.value.replace("\\", "") for s in at.subheader]
    assert "relevance only" in shown(at)


def test_asking_the_judge_shows_its_verdict(
    notes: Workspace, duel_id: str, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[JudgeChoice] = []

    def judge(duel: str, choice: JudgeChoice, *_: object, **__: object) -> object:
        asked.append(choice)
        return notes.verdicts.save(duel, Verdict(Outcome.TIE, "A tie.", LIKELIHOOD, margin=0.01, tie_band=0.1))

    monkeypatch.setattr(notes, "judge", judge)
    at = settle(click(open_page(duel=duel_id), "judge_ask"), notes)
    assert asked == [JudgeChoice(JudgeKind.LIKELIHOOD, rank=1)]
    assert linked(at, "duel") == duel_id
    assert any("Tie: within the tie band" in s.value.replace("\\", "") for s in at.subheader)


def test_the_llm_judge_without_an_endpoint_says_so(notes: Workspace, duel_id: str, open_page: Open) -> None:
    at = open_page(duel=duel_id)
    at.segmented_control[0].set_value(JudgeKind.LLM).run()
    assert "No chat endpoint is set" in shown(at)
    click(at, "judge_ask")
    assert "has no chat endpoint yet" in at.error[0].value


def test_a_failed_job_says_why_and_can_be_tried_again(
    notes: Workspace, duel_id: str, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ProviderError("The endpoint answered **500**.", fault=ProviderFault.SERVER_ERROR)

    monkeypatch.setattr(notes, "judge", fail)
    at = click(open_page(duel=duel_id), "judge_ask")
    job = linked(at, "job")
    notes.jobs.wait(job, 20)
    at.run()
    assert "The endpoint answered" in at.error[0].value
    assert "**500**" not in at.error[0].value  # escaped
    monkeypatch.setattr(
        notes, "judge", lambda duel, *_, **__: notes.verdicts.save(duel, Verdict(Outcome.B, "B.", LIKELIHOOD))
    )
    click(at, "job_resume")
    settled = notes.jobs.wait(job, 20)
    assert settled.state is JobState.DONE
    assert not at.run().error


def test_a_finished_job_reached_by_the_back_button_does_not_trap(notes: Workspace, open_page: Open) -> None:
    job = notes.start_duel(DuelRequest("Notes", "Why does honey keep?", "fake-a", "fake-b", 2))
    notes.jobs.wait(job, 20)
    at = open_page(job=job)
    assert linked(at, "job") == job
    assert "Why does honey keep?" in [h.value for h in at.header]


@pytest.mark.parametrize("name", ["duel", "job"])
def test_a_bad_id_in_the_link_is_told(notes: Workspace, open_page: Open, name: str) -> None:
    at = open_page(**{name: "nowhere<b>"})
    assert not at.exception
    assert "nowhere" in at.error[0].value
    assert at.button(key="duel_run")


def test_an_unforeseen_error_shows_an_id_and_no_details(
    notes: Workspace, duel_id: str, open_page: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def explode(_: str) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(notes.duels, "get", explode)
    at = open_page(duel=duel_id)
    assert "incident" in at.error[0].value
    assert "secret detail" not in shown(at)
    assert not at.exception
    assert "secret detail" in caplog.text


def test_hyde_is_off_by_default_and_explains_itself(notes: Workspace, open_page: Open) -> None:
    at = open_page()
    toggle = at.toggle(key=state.DUEL_HYDE)
    assert toggle.value is False
    toggle.set_value(True).run()
    assert at.number_input(key=state.DUEL_HYDE_PASSAGES).value == 1
    assert "Written by" in shown(at)
    assert any("HyDE with 1 passage" in caption.value for caption in at.caption)


def test_the_session_holds_less_than_a_kilobyte(notes: Workspace, duel_id: str, open_page: Open) -> None:
    at = click(open_page(duel=duel_id), "vote_left")
    held = at.session_state._state.filtered_state
    assert len(json.dumps(held, default=str)) < 1024


def test_the_guard_sends_a_stray_page_through_the_registry(notes: Workspace) -> None:
    """AppTest can't show the cold start itself (a browser test does); it shows what the guard notes down."""
    at = AppTest.from_file("../../pages/verdicts.py", default_timeout=60)
    at.query_params["verdict"] = "v1"
    at.run()
    assert at.session_state[state.PENDING] == {"page": "pages/verdicts.py", "params": {"verdict": "v1"}}
    assert not at.title
