"""Calls to an OpenAI-compatible server: clients, time limits, repeats, and JSON that may be anything.

The key goes into the client and nowhere else: errors that leave this module are new ones, with no link to the
client's own exception, since that one holds the request and the server's unscrubbed words.
"""

from __future__ import annotations

import contextlib
import email.utils
import json
import os
import queue
import re
import threading
import time
import weakref
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from backend.errors import InputError, ProviderError, ProviderFault
from backend.llm.base_url import is_loopback, normalise_base_url
from backend.llm.faults import scrub, server_words, translate

if TYPE_CHECKING:
    import httpx2
    import openai
    import tenacity
    from openai._types import RequestOptions

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 8.0
LONGEST_RETRY_AFTER_S = 60.0
_CONNECT_TIMEOUT_S = 10.0
_MOST_IDLE_CLIENTS = 64
# Servers that want no key take any; without one the client refuses to start.
_PLACEHOLDER_KEY = "no-key"
_OPENAI = "https://api.openai.com/v1"
# This key and no other that the environment may hold for OpenAI itself.
_OPTIONS: RequestOptions = {"security": {"bearer_auth": True}}


def checked_key(api_key: SecretStr) -> str:
    """The key, trimmed.

    Raises:
        InputError: It holds a character that can't stand in an HTTP header; the key itself is not quoted.
    """
    key = api_key.get_secret_value().strip()
    if not re.fullmatch(r"[!-~]*", key):
        raise InputError(
            "The API key holds a blank, a line break or a letter outside ASCII.", hint="Copy the key again, whole."
        )
    return key


def openai_client(base_url: str, api_key: SecretStr, timeout_s: float) -> openai.OpenAI:
    """A client that repeats nothing by itself; close it after use.

    Raises:
        InputError: The key can't be sent.
    """
    import httpx2
    import openai

    timeout = httpx2.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_TIMEOUT_S))
    # A proxy of the environment must not stand between this machine and itself.
    http = httpx2.Client(timeout=timeout, follow_redirects=True, trust_env=not is_loopback(base_url))
    key = checked_key(api_key) or _PLACEHOLDER_KEY
    client = openai.OpenAI(base_url=base_url, api_key=key, timeout=timeout, max_retries=0, http_client=http)
    if not _is_the_environments(base_url):
        # OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS (a gateway's token, say) are for no other host.
        client.organization = client.project = None
        client._custom_headers = {}
    return client


def _is_the_environments(base_url: str) -> bool:
    try:
        return base_url == normalise_base_url(os.environ.get("OPENAI_BASE_URL", "").strip() or _OPENAI)
    except InputError:
        return False


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What one attempt brought: the body, or the error with whether to try again and how long to wait first."""

    body: Any = None
    error: ProviderError | None = None
    repeat: bool = False
    retry_after_s: float | None = None


class Provider:
    """An OpenAI-compatible server. Safe to share between threads.

    Every attempt has a time limit in total, not only between two bytes: it runs in a thread of its own with a
    client of its own, and at the limit that client is closed under it, which ends the thread too.

    Args:
        base_url: Normalised.
        api_key: May be empty.
        timeout_s: Seconds one attempt may take.
        max_retries: Repeats after 429 (not for an empty account), 5xx and dropped connections. A time-out, a
            refused connection and every other 4xx are told at once.
        what: The endpoint as the subject of a sentence.
        on_asked_to_wait: Told the seconds that a server asks to wait (``Retry-After``), so that others wait too.

    Raises:
        InputError: The key can't be sent.
    """

    def __init__(
        self,
        base_url: str,
        api_key: SecretStr,
        *,
        timeout_s: float,
        max_retries: int,
        what: str,
        on_asked_to_wait: Callable[[float], None] | None = None,
    ) -> None:
        self._on_asked_to_wait = on_asked_to_wait
        self.base_url = base_url
        self.what = f"{what} {base_url}"
        self._api_key = api_key
        self._key = SecretStr(checked_key(api_key))
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._idle: list[openai.OpenAI] = []
        self._lock = threading.Lock()
        weakref.finalize(self, _close_all, self._idle)  # for callers that just drop it

    def get(self, path: str) -> Any:
        """GET a JSON value. Raises as ``post`` does."""
        return self._call(lambda client, cast_to: client.get(path, cast_to=cast_to, options=_OPTIONS))

    def post(self, path: str, body: dict[str, Any], *, never_repeat: Container[int] = ()) -> Any:
        """POST a JSON object and return the JSON value that comes back.

        Args:
            path: Below the base URL.
            body: Must be free of lone surrogates (``backend.store.storable``).
            never_repeat: HTTP statuses that are told at once, though another caller would try again.

        Raises:
            ProviderError: Nothing usable came back.
        """
        return self._call(
            lambda client, cast_to: client.post(path, body=body, cast_to=cast_to, options=_OPTIONS),
            model=str(body.get("model", "")),
            never_repeat=never_repeat,
        )

    def scrub(self, text: str) -> str:
        """Take the key out of a text that the server sent."""
        return scrub(text, self._key.get_secret_value())

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            _close_all(self._idle)

    def _call(
        self,
        ask: Callable[[openai.OpenAI, type[httpx2.Response]], httpx2.Response],
        *,
        model: str = "",
        never_repeat: Container[int] = (),
    ) -> Any:
        import tenacity

        last: _Attempt = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self._max_retries + 1),
            retry=tenacity.retry_if_result(lambda a: a.repeat and a.error.status not in never_repeat),
            wait=_wait_s,
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        )(self._attempt, ask, model)
        if last.error is not None:
            raise last.error
        return last.body

    def _attempt(self, ask: Callable[[openai.OpenAI, type[httpx2.Response]], httpx2.Response], model: str) -> _Attempt:
        import httpx2

        client = self._take_client()
        box: queue.SimpleQueue[httpx2.Response | Exception] = queue.SimpleQueue()

        def run() -> None:
            try:
                box.put(ask(client, httpx2.Response))
            except Exception as error:  # the thread that asked raises it, translated
                box.put(error)

        threading.Thread(target=run, name="provider-call", daemon=True).start()
        try:
            came: httpx2.Response | Exception = box.get(timeout=self._timeout_s)
        except queue.Empty:
            came = TimeoutError()
        if isinstance(came, TimeoutError):
            with contextlib.suppress(RuntimeError):  # "closed while a request was in flight": just that is meant
                client.close()
        else:
            self._give_back(client)
        if isinstance(came, Exception):
            return self._failed(came, model)
        return self._decoded(came)

    def _failed(self, error: Exception, model: str) -> _Attempt:
        import httpx2
        import openai

        if not isinstance(error, openai.APIError | httpx2.HTTPError | TimeoutError):
            raise error  # a fault of ours, not the server's
        told = translate(
            error, what=self.what, model=model, key=self._key.get_secret_value(), timeout_s=self._timeout_s
        )
        dropped = told.fault is ProviderFault.UNREACHABLE and isinstance(
            error.__cause__, httpx2.NetworkError | httpx2.RemoteProtocolError
        )
        dropped = dropped and not isinstance(error.__cause__, httpx2.ConnectError)
        repeat = dropped or told.fault in {ProviderFault.RATE_LIMIT, ProviderFault.SERVER_ERROR}
        headers = error.response.headers if isinstance(error, openai.APIStatusError) else {}
        wait_s = _retry_after_s(headers)
        if wait_s is not None and repeat and self._on_asked_to_wait is not None:
            self._on_asked_to_wait(min(wait_s, LONGEST_RETRY_AFTER_S))
        return _Attempt(error=told, repeat=repeat, retry_after_s=wait_s)

    def _decoded(self, response: httpx2.Response) -> _Attempt:
        try:
            return _Attempt(body=json.loads(response.content))
        except (ValueError, RecursionError):
            words = self.scrub(server_words(response))
        told = f'"{words}"' if words else "an empty body"
        error = ProviderError(
            f"{self.what} sent something that is not JSON: {told}.",
            fault=ProviderFault.BAD_REPLY,
            status=response.status_code,
            hint="Check the address: most servers want it to end in /v1.",
        )
        return _Attempt(error=error)

    def _take_client(self) -> openai.OpenAI:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return openai_client(self.base_url, self._api_key, self._timeout_s)

    def _give_back(self, client: openai.OpenAI) -> None:
        with self._lock:
            if len(self._idle) < _MOST_IDLE_CLIENTS:
                self._idle.append(client)
                return
        client.close()


def _close_all(clients: list[openai.OpenAI]) -> None:
    while clients:
        clients.pop().close()


def _wait_s(state: tenacity.RetryCallState) -> float:
    attempt = state.outcome.result() if state.outcome else _Attempt()
    if attempt.retry_after_s is not None:
        return min(float(attempt.retry_after_s), LONGEST_RETRY_AFTER_S)
    return float(min(FIRST_WAIT_S * 2 ** (state.attempt_number - 1), LONGEST_WAIT_S))


def _retry_after_s(headers: Any) -> float | None:
    """Seconds that the server asks to wait: ``retry-after-ms``, or ``Retry-After`` in seconds or as a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = str(headers.get(name) or "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d*)?", value):
            return float(value) * unit
        try:
            at = email.utils.parsedate_to_datetime(value) if value else None
        except (ValueError, TypeError):
            continue
        if at is not None:
            return max(0.0, at.timestamp() - time.time())
    return None


def check_endpoint(base_url: str, api_key: SecretStr, timeout_s: float) -> list[str]:
    """Ask a server for the names of its models.

    Raises:
        InputError: The address or the key can't be used.
        ProviderError: The server can't be reached, refuses the key, or offers no list (NOT_FOUND: it may still
            work, and the model's name has to be typed).
    """
    provider = Provider(normalise_base_url(base_url), api_key, timeout_s=timeout_s, max_retries=0, what="The endpoint")
    try:
        body = provider.get("/models")
    except ProviderError as error:
        if error.status not in {404, 405, 501}:
            raise
        listless = _no_list(provider, error.status)
    else:
        names = _model_names(body)
        if names is not None:
            return names
        listless = _no_list(provider, None)
    finally:
        provider.close()
    raise listless


def _no_list(provider: Provider, status: int | None) -> ProviderError:
    return ProviderError(
        f"{provider.what} answers, but gives no list of models.",
        fault=ProviderFault.NOT_FOUND,
        status=status,
        hint="Check that the address ends as the server wants it (mostly /v1), and type the model's name by hand.",
    )


def _model_names(body: Any) -> list[str] | None:
    """Names in the forms that servers use; None where this is no list of models."""
    rows = body if isinstance(body, list) else None
    if isinstance(body, dict):
        rows = next((body[name] for name in ("data", "models") if isinstance(body.get(name), list)), None)
    if rows is None:
        return None
    names = (row if isinstance(row, str) else _first_name(row) for row in rows)
    return list(dict.fromkeys(name for name in names if name))


def _first_name(row: Any) -> str:
    if not isinstance(row, dict):
        return ""
    return next((str(row[name]) for name in ("id", "name", "model") if row.get(name)), "")
