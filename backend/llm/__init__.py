"""Chat models at OpenAI-compatible endpoints, calls to such servers, and the local chat server."""

from backend.llm.base_url import is_loopback, normalise_base_url, without_invisible
from backend.llm.chat import OpenAIChat
from backend.llm.local_server import LocalChatServer
from backend.llm.pace import Pace
from backend.llm.provider import Provider, check_endpoint
from backend.llm.types import ChatEndpoint, ChatMessage, ChatModel, ChatReply, ChatRequest
from backend.llm.weights import SMOLLM2_MODEL, find_smollm2

__all__ = [
    "SMOLLM2_MODEL",
    "ChatEndpoint",
    "ChatMessage",
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "LocalChatServer",
    "OpenAIChat",
    "Pace",
    "Provider",
    "check_endpoint",
    "find_smollm2",
    "is_loopback",
    "normalise_base_url",
    "without_invisible",
]
