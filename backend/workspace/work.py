"""The workspace's background work: what each kind of job does, what names it, and the keys that it gets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from backend.jobs import Handler, JobContext
from backend.judging import JudgeKind
from backend.retrieval import HydeSettings
from backend.store import sha256_hex
from backend.workspace.types import DuelRequest, JudgeChoice, SessionKeys

if TYPE_CHECKING:
    from backend.workspace.workspace import Workspace


def handlers(workspace: Workspace) -> dict[str, Handler]:
    """Who does the jobs of each kind."""
    kinds = {"duel": _duel, "judging": _judging, "download": _download, "sample": _sample}
    return {kind: partial(work, workspace) for kind, work in kinds.items()}


def work_key(kind: str, params: Mapping[str, Any]) -> str:
    """Names a piece of work by its content, so that a double click joins it."""
    return f"{kind} {sha256_hex(json.dumps(params, sort_keys=True, default=str))[:32]}"


def secrets_of(keys: SessionKeys) -> dict[str, str]:
    """Keys as a job takes them; they stay in memory."""
    embedding = {url: key.get_secret_value() for url, key in keys.embedding.items()}
    return {"chat": keys.chat.get_secret_value(), "chat_url": keys.chat_url, "embedding": json.dumps(embedding)}


def _keys(secrets: Mapping[str, str]) -> SessionKeys:
    embedding = {url: SecretStr(key) for url, key in json.loads(secrets.get("embedding") or "{}").items()}
    return SessionKeys(SecretStr(secrets.get("chat", "")), secrets.get("chat_url", ""), embedding)


def _duel(workspace: Workspace, context: JobContext) -> Mapping[str, Any]:
    params = dict(context.params)
    hyde = HydeSettings(**params["hyde"]) if params["hyde"] else None
    request = DuelRequest(**{**params, "hyde": hyde})
    duel = workspace.duel(request, _keys(context.secrets), progress=context.progress, cancelled=context.cancelled)
    return {"duel_id": duel.duel_id}


def _judging(workspace: Workspace, context: JobContext) -> Mapping[str, Any]:
    params = dict(context.params)
    duel_id = params.pop("duel_id")
    choice = JudgeChoice(**{**params, "kind": JudgeKind(params["kind"])})
    context.progress("Asking the judge", 0, 1)
    stored = workspace.judge(duel_id, choice, _keys(context.secrets), cancelled=context.cancelled)
    return {"verdict_id": stored.verdict_id}


def _download(workspace: Workspace, context: JobContext) -> Mapping[str, Any]:
    context.progress(f"Downloading {context.params['model_key']}", 0, 0)
    workspace.download(context.params["model_key"])
    return {"model_key": context.params["model_key"]}


def _sample(workspace: Workspace, context: JobContext) -> Mapping[str, Any]:
    return {"duel_id": workspace.prepare_sample(context.progress).duel_id}
