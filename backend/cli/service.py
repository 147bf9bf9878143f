"""``ragduel serve | prepare | doctor | llm``."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from backend.cli.output import EXIT_INPUT, EXIT_PROVIDER, ProgressLine, note, print_json, say
from backend.cli.workspace import open_workspace
from backend.errors import RagduelError, UnavailableError
from backend.settings import load_settings

_ROOT = Path(__file__).resolve().parents[2]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


def serve(
    port: Annotated[int, typer.Option(help="Port of the app.", min=1, max=65535)] = 8501,
    address: Annotated[str, typer.Option(help="Address to listen on; the app has no login.")] = "127.0.0.1",
    headless: Annotated[bool, typer.Option("--headless", help="Do not open a browser.")] = False,
    sample: Annotated[bool, typer.Option(help="Prepare the sample corpus first, if it is missing.")] = True,
) -> None:
    """Open the app."""
    if not (_ROOT / "app.py").exists():
        raise UnavailableError("app.py is not beside the package.", hint="Install with make install in a checkout.")
    if sample:
        try:
            with open_workspace() as workspace:
                workspace.prepare_sample(ProgressLine())
        except RagduelError as error:
            note(f"The sample could not be prepared: {error}")
    if not _is_free(address, port):
        raise UnavailableError(
            f"Port {port} on {address} is in use: perhaps Ragduel runs already.",
            hint=f"Open http://{address}:{port}, or choose another: ragduel serve --port {port + 1}.",
        )
    command = [
        sys.executable, "-m", "backend.ui.server",
        f"--server.port={port}", f"--server.address={address}",
        f"--server.headless={str(headless).lower()}",
        f"--server.maxUploadSize={load_settings().max_upload_mb}",
    ]  # fmt: skip
    note(f"Ragduel: http://{address}:{port}  (stop with Ctrl-C)")
    environment = {**os.environ, "RAGDUEL_DATA_DIR": str(load_settings().data_dir.resolve())}
    try:
        raise SystemExit(subprocess.call(command, cwd=_ROOT, env=environment))
    except KeyboardInterrupt:
        raise SystemExit(0) from None


def _is_free(address: str, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server itself does
        try:
            probe.bind((address, port))
        except OSError as error:
            return error.errno != errno.EADDRINUSE
    return True


def prepare(as_json: Json = False) -> None:
    """Add the sample corpus, index it with the two offline models, run a first duel."""
    with open_workspace() as workspace:
        duel = workspace.prepare_sample(ProgressLine())
    if as_json:
        print_json({"corpus_id": duel.corpus_id, "duel_id": duel.duel_id})
    else:
        say(f"The sample corpus is ready: duel {duel.duel_id}.")


def doctor(as_json: Json = False) -> None:
    """Check everything that a duel and a verdict need."""
    with open_workspace() as workspace:
        checks = workspace.doctor()
    failed = [check.name for check in checks if check.state == "failed"]
    if as_json:
        print_json([asdict(check) for check in checks])
    else:
        marks = {"ok": "ok  ", "warning": "note", "failed": "FAIL"}
        for check in checks:
            say(f"{marks[check.state]}  {check.name}: {check.detail}" + (f"  {check.hint}" if check.hint else ""))
    if failed:
        raise typer.Exit(EXIT_PROVIDER if failed == ["Chat endpoint"] else EXIT_INPUT)


def llm(
    port: Annotated[int | None, typer.Option(help="Port on loopback.", min=1, max=65535)] = None,
    as_json: Json = False,
) -> None:
    """Run the local chat server (SmolLM2-135M on loopback) until interrupted."""
    from backend.llm import LocalChatServer

    settings = load_settings(**({"llm_port": port} if port else {}))
    server = LocalChatServer(settings)
    server.start()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        if as_json:
            print_json({"base_url": server.base_url, "model": server.model})
        else:
            say(f"{server.model} at {server.base_url}")
            say("For trying things out: too small to judge, and its HyDE passages are often wrong.")
        sys.stdout.flush()
        stop.wait()
    finally:
        server.stop()
