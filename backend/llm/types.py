"""The ChatModel seam: requests, replies, endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import SecretStr


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """An OpenAI-compatible chat endpoint and a model there. The key never shows in a repr.

    Attributes:
        base_url: Normalised (scheme, ``/v1``, no trailing slash).
        model: Model name there.
        api_key: May be empty: local servers want none.
        timeout_s: Seconds one attempt may take.
        max_retries: Repeats after 429 and 5xx.
        price_input_usd: USD per million prompt tokens; 0 means unknown.
        price_output_usd: USD per million completion tokens.
    """

    base_url: str
    model: str
    api_key: SecretStr = field(default=SecretStr(""), repr=False)
    timeout_s: float = 60.0
    max_retries: int = 2
    price_input_usd: float = 0.0
    price_output_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is asked.

    Attributes:
        messages: In order.
        json_schema: The reply's JSON schema, asked for in the strongest form the endpoint takes; None: plain text.
        schema_name: Name that goes with it.
        temperature: Left out where the endpoint refuses it (reasoning models).
        max_tokens: Most completion tokens; sent as ``max_completion_tokens`` where the endpoint wants that.
        seed: Sent where the endpoint takes it.
        cut_off_counts: A reply that the token limit ended is an answer too, and is kept; not sent.
        every_reply_counts: Refusals and empty replies are kept as well, since they were paid for: whoever asks says
            when to ask anew (``ChatModel.forget``); not sent.
        reasoning_effort: For reasoning models; sent where it is set and the endpoint takes it.
    """

    messages: tuple[ChatMessage, ...]
    json_schema: Mapping[str, Any] | None = None
    schema_name: str = "reply"
    temperature: float = 0.0
    max_tokens: int = 2048
    seed: int | None = None
    cut_off_counts: bool = False
    every_reply_counts: bool = False
    reasoning_effort: str = ""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back.

    Attributes:
        text: The content; "" where it was null.
        finish_reason: As the server said: stop, length, content_filter, …
        refusal: The server's refusal text, or "".
        reasoning: Reasoning text beside the content, or "".
        n_prompt_tokens: Usage, None where not given.
        n_completion_tokens: Likewise.
        cost_usd: At the endpoint's prices; None without usage or prices.
        latency_ms: Time the answer took when it was paid for.
        from_store: Answered from the store, free of charge.
        response_format: "json_schema", "json_object" or "text": what the endpoint took.
    """

    text: str
    finish_reason: str = "stop"
    refusal: str = ""
    reasoning: str = ""
    n_prompt_tokens: int | None = None
    n_completion_tokens: int | None = None
    cost_usd: float | None = None
    latency_ms: float = 0.0
    from_store: bool = False
    response_format: str = "text"


class ChatModel(Protocol):
    """A chat model at an endpoint. Every implementation passes ``tests/contract/test_chat_models.py``."""

    @property
    def endpoint(self) -> ChatEndpoint:
        """Where it is."""

    def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once; an equal request answered before comes from the store.

        Raises:
            ProviderError: Nothing usable came back; ``fault`` says why. Failures are never stored.
        """

    def forget(self, request: ChatRequest) -> None:
        """Drop the stored reply to a request, so that it is asked (and paid) anew."""
