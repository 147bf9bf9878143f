"""A chat model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from backend.errors import InputError, ProviderError, ProviderFault
from backend.llm.abilities import Abilities, learn, load_abilities, save_abilities
from backend.llm.base_url import normalise_base_url
from backend.llm.calls import CallStore, SingleFlight, request_sha256
from backend.llm.pace import Pace
from backend.llm.provider import Provider
from backend.llm.replies import is_kept, read_reply
from backend.llm.types import ChatEndpoint, ChatMessage, ChatReply, ChatRequest
from backend.store import Database, storable

# Shared by the process: two pages or jobs with a model object each are one caller to the endpoint.
_FLIGHTS = SingleFlight()
_GATES: defaultdict[tuple[str, ...], threading.Lock] = defaultdict(threading.Lock)
_GATES_LOCK = threading.Lock()
# Three steps of the ladder and four parameters: more refusals in a row mean that nothing helps.
_MOST_FORMS = 8


class OpenAIChat:
    """Implements ChatModel; safe to share between threads.

    A JSON reply is asked for as a strict schema, else in JSON mode, else in plain words; what the endpoint
    refuses (also ``max_tokens``, a temperature, a seed) is remembered in the database for good, so that it is
    refused once. Equal requests are answered from the database.

    Args:
        endpoint: Where the model is.
        database: Keeps replies and what the endpoint takes.
        pace: Of the run that asks; None: as fast as the callers come.

    Raises:
        InputError: The address, the model's name or the key can't be used.
    """

    def __init__(self, endpoint: ChatEndpoint, database: Database, *, pace: Pace | None = None) -> None:
        if not endpoint.model.strip():
            raise InputError("No chat model is named.", hint="Name one on the settings page, or set RAGDUEL_LLM_MODEL.")
        self._endpoint = replace(
            endpoint, base_url=normalise_base_url(endpoint.base_url), model=storable(endpoint.model.strip())
        )
        self._database = database
        self._calls = CallStore(database)
        self._provider = Provider(
            self._endpoint.base_url,
            endpoint.api_key,
            timeout_s=endpoint.timeout_s,
            max_retries=endpoint.max_retries,
            what="The chat endpoint",
            on_asked_to_wait=pace.hold if pace else None,
        )
        self._pace = pace

    @property
    def endpoint(self) -> ChatEndpoint:
        """Where it is, with the address normalised."""
        return self._endpoint

    def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once; an equal request answered before, or being answered right now, costs nothing.

        Raises:
            ProviderError: Nothing usable came back; ``fault`` says why.
        """
        request = replace(request, messages=tuple(_clean(message) for message in request.messages))
        sha256 = request_sha256(self._endpoint, request)
        # With another key the answer may be another: "not allowed", say.
        key = (str(self._database.engine.url), sha256, self._endpoint.api_key.get_secret_value())
        return _FLIGHTS.run(key, lambda: self._stored_or_asked(sha256, request))

    def forget(self, request: ChatRequest) -> None:
        """Drop the stored reply to a request, so that it is asked (and paid) anew."""
        cleaned = replace(request, messages=tuple(_clean(message) for message in request.messages))
        self._calls.forget(request_sha256(self._endpoint, cleaned))

    def close(self) -> None:
        """Close idle connections."""
        self._provider.close()

    def _stored_or_asked(self, sha256: str, request: ChatRequest) -> ChatReply:
        stored = self._calls.load(sha256)
        if stored is not None:
            return stored
        with self._gate(request) as abilities:
            if self._pace is None:
                reply = self._asked(request, abilities)
            else:
                with self._pace.turn(self._endpoint, request) as tell:
                    reply = self._asked(request, abilities)
                    tell(reply)
        # Only whole answers are kept: a cut-off, empty or refused one would else be the answer for good, and
        # "judge the failed ones again" could never bring another.
        if is_kept(reply, request):
            self._calls.save(sha256, self._endpoint, request, reply)
        return reply

    @contextmanager
    def _gate(self, request: ChatRequest) -> Iterator[Abilities]:
        """What the endpoint takes. Until that is known one thread asks at a time, so that one is refused, not all."""
        abilities = load_abilities(self._database, self._endpoint)
        if abilities.settles(request):
            yield abilities
            return
        name = (str(self._database.engine.url), self._endpoint.base_url, self._endpoint.model)
        with _GATES_LOCK:
            gate = _GATES[name]
        # A first call that hangs must not hold up the others for longer than itself.
        held = gate.acquire(timeout=self._endpoint.timeout_s)
        try:
            yield load_abilities(self._database, self._endpoint)
        finally:
            if held:
                gate.release()

    def _asked(self, request: ChatRequest, abilities: Abilities) -> ChatReply:
        guessed_after: ProviderError | None = None
        trial = abilities
        for _ in range(_MOST_FORMS):
            started = time.perf_counter()
            try:
                body = self._provider.post("/chat/completions", trial.payload(self._endpoint.model, request))
            except ProviderError as error:
                lesson = learn(trial, request, error)
                if lesson is None:
                    # Where guessing did not help, the first refusal is the one to tell.
                    raise (guessed_after or error) if error.fault is ProviderFault.BAD_REQUEST else error from None
                trial = lesson.abilities
                if not lesson.sure:
                    guessed_after = guessed_after or error
                elif guessed_after is None:
                    # Kept at once: the call may still fail for another reason, and the refusal stays a fact.
                    save_abilities(self._database, self._endpoint, trial)
                continue
            reply = read_reply(
                body,
                what=self._provider.what,
                endpoint=self._endpoint,
                response_format=trial.response_format(request),
                latency_ms=(time.perf_counter() - started) * 1000,
                scrub=self._provider.scrub,
            )
            proven = trial.after(request)
            if proven != abilities:
                save_abilities(self._database, self._endpoint, proven)
            return reply
        raise guessed_after or ProviderError(
            f"{self._provider.what} refuses every form of the request.", fault=ProviderFault.BAD_REQUEST
        )


def _clean(message: ChatMessage) -> ChatMessage:
    return replace(message, content=storable(message.content))
