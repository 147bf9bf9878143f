"""What names the files of a local model: their content, read again only where it may have changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from backend.embedding import BUILTIN_MODELS, ModelSpec, Source, changeable_content, model_files
from backend.embedding.model_files import find_files
from backend.errors import UnavailableError


@pytest.fixture
def folder(folders: dict[str, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(folders["bert-mean"], tmp_path / "own"))


@pytest.fixture
def read() -> Iterator[list[str]]:
    """Names of the files whose content was hashed, in a fresh cache."""
    names: list[str] = []
    digest = model_files.hashlib.file_digest

    def noted(file, kind):
        names.append(Path(file.name).name)
        return digest(file, kind)

    model_files._file_digest.cache_clear()
    with patch.object(model_files.hashlib, "file_digest", noted):
        yield names


def spec_of(folder: Path) -> ModelSpec:
    return ModelSpec(key="own", source=Source.FOLDER, name=str(folder))


def test_a_folder_is_read_once_and_then_only_what_changed(folder: Path, read: list[str]) -> None:
    first = changeable_content(spec_of(folder))
    assert first == find_files(spec_of(folder)).content_id
    assert read.count("model.safetensors") == 1
    read.clear()
    assert changeable_content(spec_of(folder)) == first
    assert read == []
    (folder / "config.json").write_text((folder / "config.json").read_text(encoding="utf-8") + " ", encoding="utf-8")
    assert changeable_content(spec_of(folder)) != first
    assert read == ["config.json"]


def test_a_copy_that_keeps_size_and_time_is_seen(folder: Path) -> None:
    first = changeable_content(spec_of(folder))
    path = folder / "model.safetensors"
    stat = path.stat()
    time.sleep(0.05)  # file systems tick every few milliseconds
    path.write_bytes(path.read_bytes()[::-1])
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (stat.st_size, stat.st_mtime_ns)
    assert changeable_content(spec_of(folder)) != first


def test_the_same_files_elsewhere_or_put_back_are_the_same_content(folder: Path, tmp_path: Path) -> None:
    first = changeable_content(spec_of(folder))
    assert changeable_content(spec_of(Path(shutil.copytree(folder, tmp_path / "copy")))) == first
    text = (folder / "config.json").read_bytes()
    (folder / "config.json").write_bytes(b"{}")
    assert changeable_content(spec_of(folder)) != first
    (folder / "config.json").write_bytes(text)
    assert changeable_content(spec_of(folder)) == first


def test_a_name_or_a_place_is_not_content_and_readme_files_do_not_count(folder: Path) -> None:
    first = changeable_content(spec_of(folder))
    (folder / "README.md").write_text("words", encoding="utf-8")
    assert changeable_content(spec_of(folder)) == first


def test_an_unpinned_hub_model_is_named_by_its_commit(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    unpinned = ModelSpec(key="x", source=Source.HUB, name="someone/model")
    assert changeable_content(unpinned) == ""
    home = tmp_path / "models--someone--model"
    (home / "refs").mkdir(parents=True)
    for commit in ("a" * 40, "b" * 40):
        shutil.copytree(folders["static"], home / "snapshots" / commit)
        (home / "refs" / "main").write_text(commit, encoding="utf-8")
        assert changeable_content(unpinned) == commit == find_files(unpinned).content_id
    assert changeable_content(replace(unpinned, revision="a" * 40)) == ""


def test_pinned_and_packaged_models_and_endpoints_are_named_by_their_spec() -> None:
    assert {spec.key for spec in BUILTIN_MODELS if spec.revision and changeable_content(spec)} == set()
    endpoint = ModelSpec(key="x", source=Source.ENDPOINT, name="m", base_url="http://127.0.0.1:9/v1")
    assert changeable_content(endpoint) == ""


def test_a_file_that_cannot_be_read_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: Path) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(model_files, "_digest_of", refuse)
    with pytest.raises(UnavailableError, match="Permission denied"):
        changeable_content(spec_of(folder))


def test_naming_the_content_imports_no_torch(folder: Path) -> None:
    code = (
        "import sys; from backend.embedding import ModelSpec, Source, changeable_content; "
        "assert changeable_content(ModelSpec('x', Source.FOLDER, sys.argv[1])); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True)
