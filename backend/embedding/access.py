"""Whether a model can be used now, told without the network and without torch; and getting it."""

from __future__ import annotations

import os
from pathlib import Path

from backend.embedding.model_files import (
    how_to_download,
    how_to_install,
    hub_folder,
    package_folder,
    what_is_missing,
)
from backend.embedding.types import Availability, AvailabilityState, ModelSpec, Source
from backend.errors import InputError, UnavailableError
from backend.settings import Settings, current_settings

_ANSWER_WITHIN_S = 10.0
_WANTED = ("*.json", "*.txt", "*.model", "*.safetensors")
_UNWANTED = ("onnx/*", "openvino/*", "gguf/*")


def availability(spec: ModelSpec, settings: Settings) -> Availability:
    """The model's state and the way to get it. Never touches the network."""
    problem = ""
    if spec.source is Source.PACKAGE and package_folder(spec) is None:
        problem = how_to_install(spec)
    elif spec.source is Source.FOLDER:
        missing = what_is_missing(Path(spec.name).expanduser())
        problem = f"The folder {spec.name} can't be used: {missing}." if missing else ""
    elif spec.source is Source.HUB and hub_folder(spec) is None:
        if not _is_offline(settings):
            return Availability(AvailabilityState.DOWNLOADABLE, how_to_download(spec))
        problem = f"Downloads are off (RAGDUEL_OFFLINE or HF_HUB_OFFLINE). With a network: {how_to_download(spec)}"
    return Availability(AvailabilityState.UNAVAILABLE if problem else AvailabilityState.READY, problem)


def download(spec: ModelSpec, settings: Settings | None = None) -> Path:
    """Fetch a hub model's files at its pinned revision into the local hub cache; only ever on a person's request.

    Args:
        spec: A hub model.
        settings: Says whether downloads are allowed; by default this process's settings.

    Returns:
        The folder of the snapshot.

    Raises:
        InputError: The model doesn't come from a hub.
        UnavailableError: Downloads are off, the hub doesn't answer, or it has no such model.
    """
    if spec.source is not Source.HUB:
        raise InputError(f"The model “{spec.key}” doesn't come from a hub; there is nothing to download.")
    found = hub_folder(spec)
    if found is not None:
        return found
    if _is_offline(settings or current_settings()):
        raise UnavailableError(
            f"{spec.name} isn't on this machine, and downloads are off.",
            hint="Unset RAGDUEL_OFFLINE and HF_HUB_OFFLINE, or copy the model into a folder and add that.",
        )
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    try:
        # A small question with a time-out first: a dead network is told in seconds, not after every file's retries.
        HfApi().model_info(spec.name, revision=spec.revision or None, timeout=_ANSWER_WITHIN_S)
        folder = snapshot_download(
            spec.name,
            revision=spec.revision or None,
            allow_patterns=list(_WANTED),
            ignore_patterns=list(_UNWANTED),
            etag_timeout=_ANSWER_WITHIN_S,
        )
    except GatedRepoError as error:
        raise UnavailableError(
            f"{spec.name} is gated: its owner must let you in first.", hint="Ask on its page, then set HF_TOKEN."
        ) from error
    except (RepositoryNotFoundError, RevisionNotFoundError) as error:
        raise UnavailableError(
            f"The hub has no model {spec.name}" + (f" at revision {spec.revision[:12]}." if spec.revision else "."),
            hint="Check the spelling; a private model needs HF_TOKEN.",
        ) from error
    except Exception as error:  # any transport's own error: what people need is the same
        raise UnavailableError(
            f"{spec.name} couldn't be downloaded: {_first_line(error)}.",
            hint="Check the network, or copy the model into a folder and add that.",
        ) from error
    problem = what_is_missing(Path(folder))
    if problem:
        raise UnavailableError(f"{spec.name} was downloaded, but can't be used: {problem}.")
    return Path(folder)


def _is_offline(settings: Settings) -> bool:
    from huggingface_hub import constants

    asked = os.environ.get("HF_HUB_OFFLINE", "").strip().upper() in {"1", "ON", "YES", "TRUE"}
    return settings.offline or asked or bool(constants.HF_HUB_OFFLINE)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
