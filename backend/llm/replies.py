"""Reading a chat completion that may lack anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.errors import ProviderError, ProviderFault
from backend.llm.types import ChatEndpoint, ChatReply, ChatRequest

# Reasons for stopping that mean: this is not the whole answer.
_CUT_OFF = frozenset({"length", "max_tokens"})
_UNFINISHED = _CUT_OFF | {"content_filter", "error", "cancelled", "abort"}


def read_reply(
    body: Any,
    *,
    what: str,
    endpoint: ChatEndpoint,
    response_format: str,
    latency_ms: float,
    scrub: Callable[[str], str],
) -> ChatReply:
    """Turn a decoded body into a reply.

    Args:
        body: The JSON value, of any shape.
        what: The endpoint, for messages.
        endpoint: For the prices.
        response_format: What was asked for.
        latency_ms: Time it took.
        scrub: Takes the key out of a text.

    Raises:
        ProviderError: There is no message in it (BAD_REPLY).
    """
    choice = _first(body.get("choices")) if isinstance(body, dict) else None
    message = choice.get("message") if choice is not None else None
    if choice is None or not isinstance(message, dict):
        raise ProviderError(
            f"{what} sent a reply without a message{_own_words(body, scrub)}.",
            fault=ProviderFault.BAD_REPLY,
            hint="Try again, and see the server's log.",
        )
    usage = body.get("usage") if isinstance(body.get("usage"), dict) else {}
    n_prompt, n_completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    finish = choice.get("finish_reason")
    return ChatReply(
        text=scrub(_text(message.get("content"))),
        finish_reason=finish if isinstance(finish, str) and finish else "stop",
        refusal=scrub(_text(message.get("refusal"))),
        reasoning=scrub(_text(message.get("reasoning_content")) or _text(message.get("reasoning"))),
        n_prompt_tokens=n_prompt,
        n_completion_tokens=n_completion,
        cost_usd=_cost_usd(endpoint, n_prompt, n_completion),
        latency_ms=latency_ms,
        response_format=response_format,
    )


def is_kept(reply: ChatReply, request: ChatRequest) -> bool:
    """Whether a reply answers its request for good: some text, not refused, not cut off, unless that counts too."""
    if request.every_reply_counts:
        return True
    unfinished = _UNFINISHED - _CUT_OFF if request.cut_off_counts else _UNFINISHED
    return bool(reply.text.strip()) and not reply.refusal and reply.finish_reason.lower() not in unfinished


def _first(choices: Any) -> dict[str, Any] | None:
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None


def _text(value: Any) -> str:
    """A text, or the texts of a list of parts; "" for anything else."""
    if isinstance(value, list):
        return "".join(_text(part.get("text")) if isinstance(part, dict) else _text(part) for part in value)
    return value if isinstance(value, str) else ""


def _own_words(body: Any, scrub: Callable[[str], str]) -> str:
    """Some servers send their error with status 200."""
    error = body.get("error") if isinstance(body, dict) else None
    words = error.get("message") if isinstance(error, dict) else error
    return f' but an error: "{scrub(" ".join(words.split()))[:400]}"' if isinstance(words, str) and words else ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _cost_usd(endpoint: ChatEndpoint, n_prompt: int | None, n_completion: int | None) -> float | None:
    if n_prompt is None or n_completion is None or not (endpoint.price_input_usd or endpoint.price_output_usd):
        return None
    return (n_prompt * endpoint.price_input_usd + n_completion * endpoint.price_output_usd) / 1e6
