"""A small loopback HTTP server with scripted behaviours: replies, delays, dripping, dropped connections, garbage.

::

    with ScriptedServer(Reply(status=429), chat("hello")) as server:
        ...  # speak to server.base_url
        assert len(server.log) == 2
"""

from __future__ import annotations

import base64
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One behaviour.

    Attributes:
        status: HTTP status.
        body: JSON value, or a string or bytes sent as they are.
        headers: More headers.
        delay_s: Wait before anything is sent.
        drip_s: Seconds between single bytes of the body (or of raw): a server that never quite goes silent.
        drop: Close the connection without a reply: "before" anything, or in the "middle" of the body.
        raw: These bytes instead of an HTTP reply.
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drip_s: float = 0.0
    drop: str = ""
    raw: bytes = b""


@dataclass(frozen=True)
class Request:
    """A request that came in. ``n`` counts from 1; header names are in lower case."""

    n: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    at_s: float


Behaviour = Reply | Callable[[Request], Reply]


class ScriptedServer:
    """Answers request n with behaviour n, and with the last behaviour ever after.

    Args:
        behaviours: Replies, or functions from the request to one. None: every request gets a chat reply "OK".

    Attributes:
        log: The requests, in order of arrival.
        most_at_once: The most requests that were being answered at the same moment.
    """

    def __init__(self, *behaviours: Behaviour) -> None:
        self.behaviours: list[Behaviour] = list(behaviours) or [chat("OK")]
        self.log: list[Request] = []
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def bodies(self, suffix: str = "") -> list[Any]:
        """The decoded bodies of the requests whose path ends so."""
        return [request.body for request in self.log if request.path.endswith(suffix)]

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def _take(self, method: str, path: str, headers: Mapping[str, str], body: Any) -> Reply:
        with self._lock:
            request = Request(len(self.log) + 1, method, path, headers, body, time.monotonic())
            self.log.append(request)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            behaviour = self.behaviours[min(request.n, len(self.behaviours)) - 1]
        return behaviour if isinstance(behaviour, Reply) else behaviour(request)

    def _done(self) -> None:
        with self._lock:
            self._now -= 1

    def _wait(self, seconds: float) -> None:
        self._closing.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the tests; nothing is printed."""


def _handler(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:
            """Quiet."""

        def _answer(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                body = json.loads(raw) if raw else None
            except ValueError:
                body = raw
            reply = server._take(
                self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, body
            )
            try:
                self._send(reply)
            except OSError:
                self.close_connection = True
            finally:
                server._done()

        def _send(self, reply: Reply) -> None:
            if reply.delay_s:
                server._wait(reply.delay_s)
            if reply.drop == "before":
                self._reset()
                return
            if reply.raw:
                self._write(reply.raw, reply.drip_s)
                self.close_connection = True
                return
            data = reply.body if isinstance(reply.body, bytes) else _as_text(reply.body).encode("utf-8")
            kind = "application/json" if not isinstance(reply.body, str | bytes) else "text/plain"
            self.send_response(reply.status)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if reply.drop == "middle":
                self.wfile.write(data[: len(data) // 2])
                self.wfile.flush()
                self._reset()
            else:
                self._write(data, reply.drip_s)

        def _write(self, data: bytes, drip_s: float) -> None:
            if not drip_s:
                self.wfile.write(data)
                return
            for i in range(len(data)):
                self.wfile.write(data[i : i + 1])
                self.wfile.flush()
                server._wait(drip_s)

        def _reset(self) -> None:
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

        do_GET = do_POST = _answer

    return Handler


def _as_text(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body)


def chat(text: str | None, *, finish_reason: str = "stop", usage: Any = (12, 4), **message: Any) -> Reply:
    """An ordinary chat completion; ``message`` adds fields to the assistant's message."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1795000000,
        "model": "scripted",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": finish_reason,
            }
        ],
    }
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Reply(body=body)


def error(status: int, message: str, *, code: str | None = None, param: str | None = None, **headers: str) -> Reply:
    """An error in OpenAI's form."""
    fields = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return Reply(status=status, body={"error": fields}, headers={k.replace("_", "-"): v for k, v in headers.items()})


def models(*names: str) -> Reply:
    """The list at /models."""
    return Reply(body={"object": "list", "data": [{"id": name, "object": "model"} for name in names]})


def embeddings(vector_of: Callable[[str], Any], *, shuffled: bool = False) -> Callable[[Request], Reply]:
    """A behaviour that embeds each input text by ``vector_of`` (in the encoding asked for)."""

    def answer(request: Request) -> Reply:
        texts: Sequence[str] = (
            [request.body["input"]] if isinstance(request.body["input"], str) else request.body["input"]
        )
        rows = []
        for i, text in enumerate(texts):
            vector = vector_of(text)
            if request.body.get("encoding_format") == "base64" and vector is not None and None not in vector:
                vector = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
            rows.append({"object": "embedding", "index": i, "embedding": vector})
        if shuffled:
            rows.reverse()
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return Reply(body={"object": "list", "model": request.body["model"], "data": rows, "usage": usage})

    return answer
