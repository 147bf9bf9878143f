"""Content-addressed files: written to a temporary name, then renamed, so that a crash leaves no half file."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from backend.errors import NotFoundError

_BLOCK_BYTES = 1 << 20
_BLOCK_CHARS = 1 << 20


def sha256_hex(data: bytes | str) -> str:
    """The sha256 of bytes, or of a text's UTF-8 (lone surrogates pass), in hexadecimal."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return hashlib.sha256(raw).hexdigest()


def open_text(path: Path) -> TextIO:
    """A kept text as a stream of characters; what it reads is what was written."""
    return path.open(encoding="utf-8", errors="surrogatepass", newline="\n")


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
        return self.text_path(digest).read_bytes().decode("utf-8", "surrogatepass")

    def adopt_text(self, path: Path, digest: str) -> None:
        """Keep a text that lies in a file of ``scratch`` (UTF-8) under the sha256 that names it; the file is gone."""
        kept = self.path("documents", digest)
        kept.parent.mkdir(parents=True, exist_ok=True)
        path.replace(kept)

    def text_path(self, digest: str) -> Path:
        """Where the text with this sha256 lies, in UTF-8.

        Raises:
            NotFoundError: The file is gone.
        """
        path = self.path("documents", digest)
        if not path.exists():
            raise NotFoundError(f"The text {digest[:12]} is missing from the data folder.", hint="Add the file again.")
        return path

    def get_text_part(self, digest: str, start: int, end: int) -> str:
        """The characters ``start`` to ``end`` of a text, without reading what follows.

        Raises:
            NotFoundError: The file is gone.
        """
        with open_text(self.text_path(digest)) as stream:
            while start > 0 and (passed := len(stream.read(min(start, _BLOCK_CHARS)))):
                start, end = start - passed, end - passed
            return stream.read(max(0, end - start))

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder for files in the making, on the same disk as what is kept; gone at the end of the block."""
        parent = self.root / "scratch"
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True) as folder:
            yield Path(folder)

    def hold(self, source: BinaryIO | Path, holder: str) -> str:
        """Hold an uploaded file until its holder has read it; return the sha256 that names it.

        Args:
            source: A stream at its start, or a file on disk.
            holder: Names who needs it: two who hold the same file each have their own, so that neither drops the
                other's.
        """
        if isinstance(source, Path):
            with source.open("rb") as stream:
                return self.hold(stream, holder)
        with self.scratch() as folder:
            digest = hashlib.sha256()
            copied = folder / "upload"
            with copied.open("wb") as out:
                while block := source.read(_BLOCK_BYTES):
                    digest.update(block)
                    out.write(block)
            path = self._upload(holder, digest.hexdigest())
            path.parent.mkdir(parents=True, exist_ok=True)
            copied.replace(path)
        return digest.hexdigest()

    def held(self, digest: str, holder: str) -> Path:
        """The file that a holder has under this sha256.

        Raises:
            NotFoundError: It was read before, or never came.
        """
        path = self._upload(holder, digest)
        if not path.exists():
            raise NotFoundError("An uploaded file is no longer held.", hint="Upload it again.")
        return path

    def let_go(self, digest: str, holder: str) -> None:
        """Let go of an uploaded file."""
        self._upload(holder, digest).unlink(missing_ok=True)

    def _upload(self, holder: str, digest: str) -> Path:
        return self.path("uploads", sha256_hex(f"{holder} {digest}"))

    def remove_old(self, kind: str, days: float, keep: Collection[str] = ()) -> None:
        """Remove files of a kind that nobody wrote for some days, but those of some names."""
        oldest = time.time() - days * 86_400
        folder = self.root / kind
        for path in folder.rglob("*") if folder.exists() else ():
            with suppress(FileNotFoundError):  # somebody else removed it meanwhile
                if path.is_file() and path.name not in keep and path.stat().st_mtime < oldest:
                    path.unlink()

    def size_bytes(self) -> dict[str, int]:
        """Bytes used, by kind of file."""
        return {
            folder.name: sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
            for folder in sorted(self.root.iterdir() if self.root.exists() else [])
            if folder.is_dir()
        }
