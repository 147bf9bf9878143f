"""A chat model with scripted replies, for tests of whatever asks one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from backend.errors import ProviderError, ProviderFault
from backend.llm.types import ChatEndpoint, ChatReply, ChatRequest

Scripted = str | ChatReply | ProviderError | Callable[[ChatRequest], "str | ChatReply | ProviderError"]


class FakeChat:
    """A ChatModel that answers from a script and keeps the requests that reached it.

    Args:
        replies: A text, a ChatReply, a ProviderError (raised), or a function of the request that gives one of
            these; a sequence of them is used up in order and then its last one repeats.
        endpoint: Where it claims to be.
        context_chars: Longer prompts fail with CONTEXT_LENGTH.

    Attributes:
        requests: Every request that was "paid for", in order. An equal request answered before comes from
            memory (``from_store``) and is not listed again.
    """

    def __init__(
        self,
        replies: Scripted | Sequence[Scripted] = "OK",
        *,
        endpoint: ChatEndpoint | None = None,
        context_chars: int = 1_000_000,
    ) -> None:
        single = isinstance(replies, str | ChatReply | ProviderError) or callable(replies)
        self._replies: list[Scripted] = [replies] if single else list(_items(replies))  # type: ignore[list-item]
        self._endpoint = endpoint or ChatEndpoint("http://127.0.0.1:9/v1", "fake-chat")
        self._context_chars = context_chars
        self._lock = threading.Lock()
        self._store: dict[str, ChatReply] = {}
        self.requests: list[ChatRequest] = []

    @property
    def endpoint(self) -> ChatEndpoint:
        return self._endpoint

    def complete(self, request: ChatRequest) -> ChatReply:
        with self._lock:
            known = self._store.get(repr(request))
            if known is not None:
                return replace(known, from_store=True)
            self.requests.append(request)
            reply = self._replies[min(len(self.requests), len(self._replies)) - 1]
        if sum(len(m.content) for m in request.messages) > self._context_chars:
            raise ProviderError("The prompt is too long.", fault=ProviderFault.CONTEXT_LENGTH, status=400)
        if callable(reply):
            reply = reply(request)
        if isinstance(reply, ProviderError):
            raise reply
        if isinstance(reply, str):
            wanted = "text" if request.json_schema is None else "json_schema"
            reply = ChatReply(reply, n_prompt_tokens=10, n_completion_tokens=5, latency_ms=1.0, response_format=wanted)
        if request.every_reply_counts or (reply.text.strip() and reply.finish_reason == "stop" and not reply.refusal):
            with self._lock:
                self._store[repr(request)] = reply
        return reply

    def forget(self, request: ChatRequest) -> None:
        with self._lock:
            self._store.pop(repr(request), None)

    def prompts(self) -> list[str]:
        """The text of each paid request, its messages joined."""
        return ["\n".join(m.content for m in request.messages) for request in self.requests]


def _items(replies: object) -> Iterable[Scripted]:
    assert isinstance(replies, Sequence), "replies: a text, a reply, an error, a function, or a sequence of them"
    return replies
