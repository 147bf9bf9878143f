"""The chat endpoint in force, for people: who writes HyDE passages, who would judge, and whether it is fit to."""

from __future__ import annotations

from backend.ui.text import label
from backend.workspace import ChatSettings, Workspace

LOCAL_NAME = "SmolLM2-135M-Instruct"
NOT_FIT = (
    f"{LOCAL_NAME} is not fit to judge. So small a model says A nearly always; with both orders asked that turns into "
    "order-dependent ties. It is here to try the steps without a key, not to decide anything."
)


def judge_name(chat: ChatSettings) -> str:
    """The LLM that would judge, as markdown; empty where no endpoint is set."""
    if chat.use_local:
        return f"{label(LOCAL_NAME)} on this machine"
    if not chat.base_url:
        return ""
    return f"{label(chat.model or 'no model named')} at {label(chat.base_url)}"


def writer(ws: Workspace) -> str:
    """The LLM that would write HyDE passages, as markdown: without any endpoint it is the local one."""
    return judge_name(ws.chat_settings()) or f"{label(LOCAL_NAME)} on this machine, as no chat endpoint is set"


def is_unfit(chat: ChatSettings) -> bool:
    """Whether the model is the tiny local one, under whatever address it is reached."""
    return chat.use_local or "smollm2-135m" in chat.model.lower()
