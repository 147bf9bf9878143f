"""What an endpoint was found to accept, remembered in the database so that it is found out once."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy.exc import IntegrityError

from backend.errors import ProviderError, ProviderFault
from backend.llm.faults import FORMAT_WORDS, AnsweredError
from backend.llm.types import ChatEndpoint, ChatRequest
from backend.store import Database, sha256_hex

LADDER = ("json_schema", "json_object", "text")

_REFUSED = re.compile(
    r"unsupported|not support|only the default|unknown|unrecogni[sz]ed|unexpected|extra|not permitted|not allowed"
    r"|deprecated|not available",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What is known of an endpoint and model.

    Attributes:
        proven: A call has succeeded.
        format_known: A call that wanted JSON has succeeded.
        refused_formats: Steps of the ladder that the endpoint refused.
        max_tokens_name: How it wants the limit of the reply's length called.
        temperature: It takes a temperature.
        seed: It takes a seed.
        reasoning_effort: It takes a reasoning effort.
    """

    proven: bool = False
    format_known: bool = False
    refused_formats: tuple[str, ...] = ()
    max_tokens_name: str = "max_tokens"
    temperature: bool = True
    seed: bool = True
    reasoning_effort: bool = True

    def response_format(self, request: ChatRequest) -> str:
        """The strongest form of reply that this request can be asked for."""
        if request.json_schema is None:
            return "text"
        # Servers refuse JSON mode where the messages do not say the word.
        says_json = any("json" in message.content.lower() for message in request.messages)
        return next(
            step for step in LADDER if step not in self.refused_formats and (step != "json_object" or says_json)
        )

    def settles(self, request: ChatRequest) -> bool:
        """Nothing is left to find out for this request."""
        return self.proven and (self.format_known or request.json_schema is None)

    def after(self, request: ChatRequest) -> Abilities:
        """What is known once this request has succeeded."""
        return replace(self, proven=True, format_known=self.format_known or request.json_schema is not None)

    def payload(self, model: str, request: ChatRequest) -> dict[str, Any]:
        """The request's body in the form that the endpoint takes."""
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
            self.max_tokens_name: request.max_tokens,
        }
        if self.temperature:
            body["temperature"] = request.temperature
        if self.seed and request.seed is not None:
            body["seed"] = request.seed
        if self.reasoning_effort and request.reasoning_effort:
            body["reasoning_effort"] = request.reasoning_effort
        chosen = self.response_format(request)
        if chosen == "json_schema":
            described = {"name": request.schema_name, "strict": True, "schema": request.json_schema}
            body["response_format"] = {"type": chosen, "json_schema": described}
        elif chosen == "json_object":
            body["response_format"] = {"type": chosen}
        return body


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a refusal teaches. ``sure``: the server named what it refuses; else it is a guess that success proves."""

    abilities: Abilities
    sure: bool


def learn(abilities: Abilities, request: ChatRequest, error: ProviderError) -> Lesson | None:
    """What to do differently after this error, or None where another form of the request would not help.

    A content filter, a text that is too long, a wrong key, an empty account or a failing server is never taken
    for a refusal of the request's form.
    """
    if not isinstance(error, AnsweredError) or error.fault not in {ProviderFault.BAD_REQUEST, ProviderFault.NOT_FOUND}:
        return None
    chosen = abilities.response_format(request)
    refuse_format = replace(abilities, refused_formats=(*abilities.refused_formats, chosen))
    if chosen != "text" and (error.param.startswith("response_format") or FORMAT_WORDS.search(error.words)):
        return Lesson(refuse_format, sure=True)
    if error.fault is not ProviderFault.BAD_REQUEST:
        return None
    without = _without_parameter(abilities, request, error)
    if without is not None:
        return Lesson(without, sure=True)
    return Lesson(refuse_format, sure=False) if chosen != "text" and not abilities.format_known else None


def _without_parameter(abilities: Abilities, request: ChatRequest, error: AnsweredError) -> Abilities | None:
    renamed = "max_completion_tokens" in error.words or _refuses("max_tokens", error)
    if abilities.max_tokens_name == "max_tokens" and renamed:
        return replace(abilities, max_tokens_name="max_completion_tokens")
    if abilities.temperature and _refuses("temperature", error):
        return replace(abilities, temperature=False)
    if abilities.seed and request.seed is not None and _refuses("seed", error):
        return replace(abilities, seed=False)
    if abilities.reasoning_effort and request.reasoning_effort and _refuses("reasoning_effort", error):
        return replace(abilities, reasoning_effort=False)
    return None


def _refuses(name: str, error: AnsweredError) -> bool:
    named = error.param == name or re.search(rf"\b{name}\b", error.words) is not None
    return named and _REFUSED.search(error.words) is not None


def _note_name(endpoint: ChatEndpoint) -> str:
    return f"chat-abilities:{sha256_hex(f'{endpoint.base_url} {endpoint.model}')}"


def load_abilities(database: Database, endpoint: ChatEndpoint) -> Abilities:
    """What earlier calls found out."""
    note: Mapping[str, Any] = database.note(_note_name(endpoint)) or {}
    return Abilities(
        proven=bool(note.get("proven")),
        format_known=bool(note.get("format_known")),
        refused_formats=tuple(step for step in LADDER[:-1] if step in note.get("refused_formats", ())),
        max_tokens_name=str(note.get("max_tokens_name", "max_tokens")),
        temperature=bool(note.get("temperature", True)),
        seed=bool(note.get("seed", True)),
        reasoning_effort=bool(note.get("reasoning_effort", True)),
    )


def save_abilities(database: Database, endpoint: ChatEndpoint, abilities: Abilities) -> None:
    """Remember what was found out."""
    note = {**asdict(abilities), "refused_formats": list(abilities.refused_formats)}
    # Another process that wrote the same note first found out the same.
    with contextlib.suppress(IntegrityError):
        database.set_note(_note_name(endpoint), {**note, "base_url": endpoint.base_url, "model": endpoint.model})
