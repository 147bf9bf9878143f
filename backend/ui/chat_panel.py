"""The chat endpoint of the LLM judge and of HyDE, and the local chat server."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from backend.ui import chat_facts, key_field, state
from backend.ui.shell import errors
from backend.ui.text import count, label
from backend.workspace import ChatSettings, Workspace


def show(ws: Workspace) -> None:
    """Draw the panel."""
    chat = ws.chat_settings()
    st.header("Chat endpoint", anchor="chat")
    st.caption("Only the LLM judge and HyDE need one. Any OpenAI-compatible server will do: OpenAI, vLLM, Ollama, TGI.")
    _local_switch(ws, chat)
    if not chat.use_local:
        _endpoint(ws, chat)
    with errors():
        _check(ws, chat)


def _local_switch(ws: Workspace, chat: ChatSettings) -> None:
    wanted = st.toggle("Use the local chat server", value=chat.use_local, key="settings_use_local")
    st.caption(f":material/warning: {chat_facts.NOT_FIT} Its HyDE passages show how HyDE works, and are often wrong.")
    if wanted != chat.use_local:
        with errors():
            if wanted:
                with st.spinner(f"Starting {chat_facts.LOCAL_NAME} on loopback…"):
                    ws.local_chat.start()
            else:
                ws.local_chat.stop()
            ws.save_chat_settings(replace(chat, use_local=wanted))
            st.rerun()
    if chat.use_local:
        running = (
            f"running at {label(ws.local_chat.base_url)}" if ws.local_chat.running else "starts when it is first asked"
        )
        st.caption(f":material/dns: {chat_facts.LOCAL_NAME}: {running}")


def _endpoint(ws: Workspace, chat: ChatSettings) -> None:
    with st.form("settings_chat_form"):
        base_url = st.text_input(
            "Base URL", value=chat.base_url, key="settings_chat_url", placeholder="https://api.openai.com/v1"
        )
        model = st.text_input("Model", value=chat.model, key="settings_chat_model", placeholder="gpt-5-mini")
        left, right = st.columns(2)
        price_in = left.number_input(
            "Price in, USD a million tokens", min_value=0.0, value=chat.price_input_usd, key="settings_price_in"
        )
        price_out = right.number_input(
            "Price out, USD a million tokens", min_value=0.0, value=chat.price_output_usd, key="settings_price_out"
        )
        with st.container(horizontal=True):
            save = st.form_submit_button("Save", type="primary", icon=":material/save:", key="settings_chat_save")
            reset = st.form_submit_button("Back to the environment’s", type="tertiary", key="settings_chat_reset")
    with errors():
        if save:
            ws.save_chat_settings(ChatSettings(base_url or "", model or "", price_in, price_out))
            _after_change(ws, chat)
        if reset:
            ws.save_chat_settings(None)
            for key in ("url", "model"):
                st.session_state.pop(f"settings_chat_{key}", None)
            _after_change(ws, chat)
    if not chat.base_url:
        st.caption("Save a base URL first; its key can be typed then.")
        return
    key_field.show(
        state.CHAT_KEY,
        state.CHAT_KEY_URL,
        chat.base_url,
        "Chat key",
        "Or set RAGDUEL_LLM_API_KEY before the start. A local server mostly wants none. "
        "A key typed here is for this base URL and goes to no other server.",
    )


def _after_change(ws: Workspace, before: ChatSettings) -> None:
    if ws.chat_settings().base_url != before.base_url:
        st.session_state.pop(state.CHAT_KEY, None)
    st.toast("Chat endpoint saved.", icon=":material/check:")
    st.rerun()


def _check(ws: Workspace, chat: ChatSettings) -> None:
    if not (chat.base_url or chat.use_local):
        st.caption("No chat endpoint is set: the likelihood judge works without one.")
        return
    if st.button("Check the endpoint", icon=":material/network_check:", key="settings_chat_check"):
        with st.spinner("Asking for its models…"):
            names = ws.check_chat(state.session_keys())
        st.success(f"It answers, with {count(len(names), 'model')}.", icon=":material/check:")
        if names:
            st.dataframe(
                {"Model": names}, hide_index=True, height=min(38 * (len(names) + 1), 260), alt="Models offered."
            )
        if chat.model and names and not chat.use_local and chat.model not in names:
            st.warning(f"It does not list {label(chat.model)}.", icon=":material/warning:")
