"""What the URL and the session hold: ids and drafts, under 1 KB. Keys are constants, prefixed by their page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st
from pydantic import SecretStr

from backend.llm import normalise_base_url
from backend.workspace import SessionKeys

T = TypeVar("T")

# the shell
ROUTED = "shell_routed"
PENDING = "shell_pending"
SIDEBAR = "shell_sidebar"  # "open" or "close": what the next run does with the sidebar
JOB_WATCHED = "job_watched"  # id of the job whose progress this session saw running

# names in the URL
URL_DUEL = "duel"
URL_CORPUS = "corpus"
URL_VERDICT = "verdict"
URL_JOB = "job"
URL_DOCUMENT = "document"
URL_FROM = "from"  # first character of the stretch that the reading pane shows; with URL_TO: of the chunk it marks
URL_TO = "to"

# the duel page: drafts of the form
DUEL_CORPUS = "duel_corpus"
DUEL_QUERY = "duel_query"
DUEL_MODEL_A = "duel_model_a"
DUEL_MODEL_B = "duel_model_b"
DUEL_K = "duel_k"
DUEL_CUT_A = "duel_cut_a"
DUEL_CUT_B = "duel_cut_b"
DUEL_HYDE = "duel_hyde"
DUEL_HYDE_PASSAGES = "duel_hyde_passages"
DUEL_HYDE_MODE = "duel_hyde_mode"
DUEL_SUGGESTION = "duel_suggestion"
DUEL_FOLLOWED = "duel_followed"  # id of the duel that the form was last filled from
DUEL_REVEALED = "duel_revealed"  # id of the duel whose names were revealed without a vote
DUEL_PEEKED = "duel_peeked"  # id of the duel whose verdict was asked for before the vote

# the judge's form
JUDGE_KIND = "judge_kind"
JUDGE_UNIT = "judge_unit"
JUDGE_RANK = "judge_rank"
JUDGE_BOTH_ORDERS = "judge_both_orders"

# the corpora page
CORPUS_DRAFT = "corpora_draft"  # id of the uploads that are not added yet
CORPUS_TAB = "corpora_tab"
CORPUS_OPEN = "corpora_open"  # which form stands open under a corpus' header: "", "add" or "cut"
CHUNKS_FIRST = "corpora_chunks_first"  # position of the first chunk on the page of chunks
CHUNKS_DOCUMENT = "corpora_chunks_document"
CHUNKS_WORDS = "corpora_chunks_words"
CORPUS_CUTS = "corpora_cuts"  # id of the corpus whose cuts were asked for

# keys typed on the settings page: in this session only
CHAT_KEY = "settings_chat_key"
CHAT_KEY_URL = "settings_chat_key_url"  # the address that the key was typed for
EMBEDDING_KEYS = "settings_embedding_keys"  # base URL -> key


def linked(name: str) -> str:
    """The id under this name in the URL, or ""."""
    return str(st.query_params.get(name, "")).strip()


def go(**ids: str) -> None:
    """Put exactly these ids into the URL and run the page again, so that its link shows what it shows."""
    st.query_params.from_dict({name: value for name, value in ids.items() if value})
    st.rerun()


def keep_choice(key: str, options: Sequence[object]) -> bool:
    """Forget a remembered choice that is no longer offered (a deleted corpus, a removed model); whether that was so."""
    gone = key in st.session_state and st.session_state[key] not in options
    if gone:
        del st.session_state[key]
    return gone


def session_keys() -> SessionKeys:
    """Keys typed in this session, each with its address; those of the environment and st.secrets are the settings'."""
    embedding = {url: SecretStr(key) for url, key in st.session_state.get(EMBEDDING_KEYS, {}).items()}
    chat_url = str(st.session_state.get(CHAT_KEY_URL, ""))
    return SessionKeys(SecretStr(str(st.session_state.get(CHAT_KEY, ""))), chat_url, embedding)


def keep_embedding_key(base_url: str, key: str) -> None:
    """Remember a key for one embedding endpoint, in this session; a blank one changes nothing."""
    if key.strip():
        kept = st.session_state.get(EMBEDDING_KEYS, {})
        st.session_state[EMBEDDING_KEYS] = {**kept, normalise_base_url(base_url): key.strip()}
