"""Content-addressed files: written to a temporary name, then renamed, so that a crash leaves no half file."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backend.errors import NotFoundError


def sha256_hex(data: bytes | str) -> str:
    """The sha256 of bytes, or of a text's UTF-8 (lone surrogates pass), in hexadecimal."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return hashlib.sha256(raw).hexdigest()


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path``; rename it to ``path`` if the block succeeds, else remove it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


class FileStore:
    """Files under one folder, each named by the content it stands for.

    Args:
        root: Folder that holds ``documents/``, ``vectors/`` and ``indexes/``.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, kind: str, name: str) -> Path:
        """Where a file of this kind lies (it may not exist yet); spread over 256 folders by its first letters."""
        return self.root / kind / name[:2] / name

    def put_text(self, text: str) -> str:
        """Keep a document's text and return the sha256 that names it."""
        digest = sha256_hex(text)
        path = self.path("documents", digest)
        if not path.exists():
            with written_whole(path) as temporary:
                temporary.write_bytes(text.encode("utf-8", "surrogatepass"))
        return digest

    def get_text(self, digest: str) -> str:
        """The text kept under this sha256.

        Raises:
            NotFoundError: The file is gone.
        """
        path = self.path("documents", digest)
        if not path.exists():
            raise NotFoundError(f"The text {digest[:12]} is missing from the data folder.", hint="Add the file again.")
        return path.read_bytes().decode("utf-8", "surrogatepass")

    def put_bytes(self, data: bytes, holder: str) -> str:
        """Hold an uploaded file until its holder has read it; return the sha256 that names it.

        Args:
            data: The file.
            holder: Names who needs it: two who hold the same file each have their own, so that neither drops the
                other's.
        """
        digest = sha256_hex(data)
        path = self._upload(holder, digest)
        if not path.exists():
            with written_whole(path) as temporary:
                temporary.write_bytes(data)
        return digest

    def get_bytes(self, digest: str, holder: str) -> bytes:
        """The bytes that a holder has under this sha256.

        Raises:
            NotFoundError: They were read before, or never came.
        """
        path = self._upload(holder, digest)
        if not path.exists():
            raise NotFoundError("An uploaded file is no longer held.", hint="Upload it again.")
        return path.read_bytes()

    def drop_bytes(self, digest: str, holder: str) -> None:
        """Let go of an uploaded file."""
        self._upload(holder, digest).unlink(missing_ok=True)

    def _upload(self, holder: str, digest: str) -> Path:
        return self.path("uploads", sha256_hex(f"{holder} {digest}"))

    def size_bytes(self) -> dict[str, int]:
        """Bytes used, by kind of file."""
        return {
            folder.name: sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
            for folder in sorted(self.root.iterdir() if self.root.exists() else [])
            if folder.is_dir()
        }
