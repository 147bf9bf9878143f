"""Answered requests: what names one, where it is kept, and the same question asked twice at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import asdict, replace

from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError

from backend.errors import ProviderError
from backend.llm.types import ChatEndpoint, ChatReply, ChatRequest
from backend.store import Database, now_iso, sha256_hex
from backend.store.tables import ChatCallRow, JsonDict


def request_sha256(endpoint: ChatEndpoint, request: ChatRequest) -> str:
    """Names a request: everything that changes its answer, and neither the key nor time limits nor prices.

    The order of a schema's fields counts, since it is the order in which the reply is written.
    """
    return sha256_hex(json.dumps(_told(endpoint, request), ensure_ascii=True))


def _told(endpoint: ChatEndpoint, request: ChatRequest) -> JsonDict:
    # Left out where it is not set: replies that were stored before there was such a thing stay valid.
    effort = {"reasoning_effort": request.reasoning_effort} if request.reasoning_effort else {}
    return {
        **effort,
        "base_url": endpoint.base_url,
        "model": endpoint.model,
        "messages": [[m.role, m.content] for m in request.messages],
        "schema": None if request.json_schema is None else dict(request.json_schema),
        "temperature": float(request.temperature),
        "max_tokens": request.max_tokens,
        "seed": request.seed,
    }


class CallStore:
    """Replies kept in the database.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self, sha256: str) -> ChatReply | None:
        """The reply to this request, marked as from the store; None where it was never answered."""
        with self._database.session() as session:
            row = session.get(ChatCallRow, sha256)
            return None if row is None else ChatReply(**{**row.reply, "from_store": True})

    def save(self, sha256: str, endpoint: ChatEndpoint, request: ChatRequest, reply: ChatReply) -> None:
        """Keep a reply; the first one stays where another process was quicker."""
        row = ChatCallRow(
            request_sha256=sha256,
            base_url=endpoint.base_url,
            model=endpoint.model[:200],
            request=_told(endpoint, request),
            reply={**asdict(reply), "from_store": False},
            created_at=now_iso(),
        )
        try:
            with self._database.session() as session:
                session.add(row)
        except IntegrityError:
            return

    def forget(self, sha256: str) -> None:
        """Ask anew next time."""
        with self._database.session() as session:
            session.execute(delete(ChatCallRow).where(ChatCallRow.request_sha256 == sha256))


class _Flight:
    def __init__(self) -> None:
        self.landed = threading.Event()
        self.reply: ChatReply | None = None
        self.error: ProviderError | None = None


class SingleFlight:
    """Equal requests that are under way at the same moment are asked once; the others wait for the answer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[tuple[object, ...], _Flight] = {}

    def run(self, key: tuple[object, ...], ask: Callable[[], ChatReply]) -> ChatReply:
        """Ask, or take the answer (or the failure) of whoever is asking the same right now."""
        while True:
            with self._lock:
                flight = self._flights.get(key)
                if flight is None:
                    mine = self._flights[key] = _Flight()
                    break
            flight.landed.wait()
            if flight.reply is not None:
                return replace(flight.reply, from_store=True)
            if flight.error is not None:
                e = flight.error
                raise ProviderError(e.message, fault=e.fault, status=e.status, hint=e.hint)
            # The other thread was stopped by something of its own: this one asks itself.
        try:
            mine.reply = ask()
        except ProviderError as error:
            mine.error = error
            raise
        finally:
            with self._lock:
                del self._flights[key]
            mine.landed.set()
        return mine.reply
