"""From what a server said to a ProviderError that a person understands, with the key scrubbed from it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from backend.errors import ProviderError, ProviderFault

if TYPE_CHECKING:
    import httpx2

MAX_QUOTED_CHARS = 400
_KEY_IN_TEXT = "[key]"
# Words that people type where no key is wanted: scrubbing them would garble ordinary sentences.
_NO_KEYS = {"lm-studio", "not-needed", "no-key", "no-key-needed", "placeholder", "anything", "llama.cpp"}
_MIN_KEY_CHARS = 8

_CONTEXT = re.compile(
    r"context[_ ](length|window|size)|maximum context|exceed_context|too many (input )?tokens|reduce the length"
    r"|(prompt|input|request|message)s? (is|are|was) too (long|large)"
    r"|exceeds? the (model's )?max\w* (input )?(tokens|length)"
    r"|longer than the (model's )?(maximum|max)|must have less than \d+ tokens",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content[_ ](filter|management policy|policy)|responsibleai|safety (system|filter)|usage policies|moderation",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient[_ ](quota|balance|credit|funds)|exceeded your current quota|billing|out of credits?|credit balance"
    r"|payment required",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|model\b.{0,120}?\b(not found|does not exist|doesn't exist|is not available|not exist)"
    r"|(no such|unknown|invalid) model|try pulling",
    re.IGNORECASE | re.DOTALL,
)
FORMAT_WORDS = re.compile(
    r"response_format|json_schema|json_object|structured[_ ]outputs?|json[_ ]mode|guided|grammar|requested parameters",
    re.IGNORECASE,
)


class AnsweredError(ProviderError):
    """An endpoint answered with an HTTP failure.

    Args:
        message: As for ProviderError; likewise fault, status and hint.
        words: The server's own words and codes, without the key.
        param: The parameter that the server blames, or "".
    """

    def __init__(
        self, message: str, *, fault: ProviderFault, status: int, hint: str, words: str, param: str = ""
    ) -> None:
        super().__init__(message, fault=fault, status=status, hint=hint)
        self.words = words
        self.param = param


def scrub(text: str, key: str) -> str:
    """Take a key out of a text, however it got there. Very short and well-known empty "keys" stay."""
    if len(key) < _MIN_KEY_CHARS or key.lower() in _NO_KEYS:
        return text
    return text.replace(key, _KEY_IN_TEXT)


def server_words(response: httpx2.Response) -> str:
    """What the server itself says about a failure, on one line; "" where it says nothing.

    Reads OpenAI's error object, a plain string as ``error``, FastAPI's ``detail``, HTML and plain text.
    """
    text = response.content.decode("utf-8", "replace").strip()
    try:
        words = _from_json(json.loads(text))
    except (ValueError, RecursionError):
        words = _from_html(text) if text.startswith("<") else text
    return _shortened(words)


def _details(response: httpx2.Response) -> dict[str, Any]:
    """The error object of a failed response; {} where there is none."""
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        return {}
    error = body.get("error", body) if isinstance(body, dict) else None
    return error if isinstance(error, dict) else {}


def _from_json(body: Any) -> str:
    if isinstance(body, str):
        return body
    if isinstance(body, list):
        return "; ".join(filter(None, (_from_json(item) for item in body[:5])))
    if not isinstance(body, dict):
        return ""
    for name in ("error", "message", "detail", "error_description", "msg", "title"):
        if (value := body.get(name)) and (words := _from_json(value)):
            place = body.get("loc")  # FastAPI names the field apart from the message
            return f"{'.'.join(map(str, place))}: {words}" if isinstance(place, list) else words
    return json.dumps(body, ensure_ascii=False) if body else ""


def _from_html(text: str) -> str:
    title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    without = re.sub(r"<(script|style)\b.*?</\1>", " ", text, flags=re.IGNORECASE | re.DOTALL)
    return title[1] if title else re.sub(r"<[^>]*>", " ", without)


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_QUOTED_CHARS else text[: MAX_QUOTED_CHARS - 1] + "…"


def translate(error: Exception, *, what: str, model: str = "", key: str = "", timeout_s: float = 0) -> ProviderError:
    """Say what went wrong in words for people.

    Args:
        error: What the client raised.
        what: The endpoint, as the subject of a sentence: "The chat endpoint http://…/v1".
        model: Model name asked for.
        key: The key that was sent; it is taken out of everything quoted.
        timeout_s: The time limit, for the message.

    Returns:
        The error, with no link to ``error``: that one holds the server's unscrubbed words.
    """
    import openai

    if isinstance(error, openai.APIStatusError):
        return _from_status(error.response, what=what, model=model, key=key)
    if isinstance(error, openai.APITimeoutError | TimeoutError) and not _is_connect(error):
        return ProviderError(
            f"{what} did not finish its answer within {timeout_s:g} s.",
            fault=ProviderFault.TIMEOUT,
            hint="Raise RAGDUEL_LLM_TIMEOUT_S, or use a faster model or server.",
        )
    if _is_connect(error):
        return ProviderError(
            f"{what} can't be reached: nothing answers there.",
            fault=ProviderFault.UNREACHABLE,
            hint="Start the server, or check the address and the port.",
        )
    cause = error.__cause__ or error
    return ProviderError(
        f"{what} broke the connection off ({scrub(_shortened(f'{type(cause).__name__}: {cause}'), key)}).",
        fault=ProviderFault.UNREACHABLE,
        hint="Check that the server is running, and its log.",
    )


def _is_connect(error: Exception) -> bool:
    import httpx2

    cause = error.__cause__ or error
    return isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout)


def _from_status(response: httpx2.Response, *, what: str, model: str, key: str) -> ProviderError:
    status = response.status_code
    words = scrub(server_words(response), key)
    told = f'"{words}"' if words else "no explanation"
    error = _details(response)
    codes = (scrub(str(error.get(name) or ""), key) for name in ("code", "type"))
    text = " ".join(filter(None, (words, *codes)))
    fault, hint = _judge(status, text, model=model, has_key=bool(key))
    param = scrub(str(error.get("param") or ""), key)
    return AnsweredError(
        f"{what} answered HTTP {status}: {told}.", fault=fault, status=status, hint=hint, words=text, param=param
    )


def _judge(  # noqa: PLR0911
    status: int, text: str, *, model: str, has_key: bool
) -> tuple[ProviderFault, str]:
    """The kind of failure and what to do. The order matters: a filter's 400 may speak of formats, and so on."""
    if status == 402 or (status in {403, 429} and _QUOTA.search(text)):
        return ProviderFault.QUOTA, "The account has no credit left: top it up, or use another endpoint."
    if status == 429:
        return ProviderFault.RATE_LIMIT, "The server limits how often it is asked: wait, then try again."
    if 400 <= status < 500 and _FILTER.search(text):
        return ProviderFault.CONTENT_FILTER, "The server's content filter refused this text."
    if status in {401, 403}:
        if has_key:
            return ProviderFault.AUTHENTICATION, "Check the API key: the server does not accept it."
        return ProviderFault.AUTHENTICATION, "This server wants an API key: see docs/configuration.md."
    if status == 408:
        return ProviderFault.TIMEOUT, "Raise RAGDUEL_LLM_TIMEOUT_S, or use a faster model or server."
    # Also as a 5xx: some servers say so when a text is too long.
    if status in {400, 413, 422, 500} and _CONTEXT.search(text):
        return ProviderFault.CONTEXT_LENGTH, "The text is longer than the model reads: use smaller chunks or fewer."
    if status in {400, 404} and _NO_MODEL.search(text):
        name = model or "NAME"
        return (
            ProviderFault.NOT_FOUND,
            f"Check the model's name (case and colon count). On Ollama first run: ollama pull {name}",
        )
    if status == 404 and not FORMAT_WORDS.search(text):
        return ProviderFault.NOT_FOUND, "Check the address: most servers want it to end in /v1."
    # A server that fails over the reply's format fails so every time: not worth a repeat.
    if status >= 500 and status != 501 and not FORMAT_WORDS.search(text):
        return ProviderFault.SERVER_ERROR, "The server failed: try again, and see its log."
    if status < 400:
        return ProviderFault.BAD_REPLY, "Check the address: the server sends callers elsewhere."
    return ProviderFault.BAD_REQUEST, ""
