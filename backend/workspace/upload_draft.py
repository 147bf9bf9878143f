"""Files that somebody uploaded and has not added yet: on disk, with what was decided about each."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from backend.corpus import AS_IT_IS, ReadOptions, SourceFile
from backend.corpus.reading.wire import options_of
from backend.errors import NotFoundError
from backend.store import FileStore, sha256_hex
from backend.store.files import written_whole

_SECOND_CLICK_S = 15.0


@dataclass(frozen=True, slots=True)
class DraftFile:
    """An uploaded file.

    Attributes:
        name: Relative path where the browser told it; unlike any other in the draft.
        came_as: The name before it got a number.
        upload_id: What its upload is called in the page's widget.
        options: What was decided about it.
    """

    name: str
    came_as: str
    sha256: str
    size_bytes: int
    upload_id: str = ""
    options: ReadOptions = AS_IT_IS


@dataclass(frozen=True, slots=True)
class Draft:
    """What is in a draft.

    Attributes:
        files: In the order in which they came.
        doubles: Upload ids of files that were in it already.
        generation: Grows when the browser's lists of files start afresh; part of their widgets' keys.
        n_started: How often the form's files went into a job; part of the keys of its other widgets.
        job_id: Of the work that the files before these went into.
        started_at: When that was, in seconds.
    """

    files: tuple[DraftFile, ...] = ()
    doubles: tuple[str, ...] = ()
    generation: int = 0
    n_started: int = 0
    job_id: str = ""
    started_at: float = 0.0

    @property
    def size_bytes(self) -> int:
        """Of all files."""
        return sum(one.size_bytes for one in self.files)

    @property
    def upload_ids(self) -> set[str]:
        """Of all uploads that came."""
        return {one.upload_id for one in self.files} | set(self.doubles)

    @property
    def options(self) -> dict[str, ReadOptions]:
        """What was decided, by file name; files about which nothing was decided are not in it."""
        return {one.name: one.options for one in self.files if one.options != AS_IT_IS}

    def just_started(self) -> str:
        """Id of the job that this form started a moment ago: where a second click belongs. Else empty."""
        return self.job_id if time.time() - self.started_at < _SECOND_CLICK_S else ""


class UploadDraft:
    """The draft of one form in one session. It outlives a change of the page, and is swept after a week.

    Args:
        files: Holds what is uploaded.
        draft_id: Names form and session; not guessable.
    """

    def __init__(self, files: FileStore, draft_id: str) -> None:
        self._files = files
        self._holder = f"draft {draft_id}"
        self._path = files.path("uploads", sha256_hex(f"{self._holder} list"))

    def read(self) -> Draft:
        """What is in it now."""
        try:
            data = json.loads(self._path.read_bytes())
        except (FileNotFoundError, ValueError):
            return Draft()
        return _draft(data)

    def add(self, uploads: Iterable[tuple[str, str, BinaryIO]]) -> Draft:
        """Put files in.

        Args:
            uploads: (upload id, name, stream at its start) of each. The same content under the same name is kept once;
                other content under a name that is taken gets a number.
        """
        draft = self.read()
        files, doubles = list(draft.files), list(draft.doubles)
        for upload_id, told, stream in uploads:
            name = told.replace("\\", "/").strip("/") or "file"
            digest = self._files.hold(stream, self._holder)
            if any(one.sha256 == digest and one.came_as == name for one in files):
                doubles.append(upload_id)
                continue
            size_bytes = self._files.held(digest, self._holder).stat().st_size
            free = _free_name(name, {one.name for one in files})
            files.append(DraftFile(free, name, digest, size_bytes, upload_id))
        return self._write(replace(draft, files=tuple(files), doubles=tuple(doubles)))

    def drop(self, names: Collection[str]) -> Draft:
        """Take files out, with what was decided about them."""
        draft = self.read()
        kept = tuple(one for one in draft.files if one.name not in names)
        after = self._write(replace(draft, files=kept))
        for digest in {one.sha256 for one in draft.files} - {one.sha256 for one in kept}:
            self._files.let_go(digest, self._holder)
        return after

    def decide(self, name: str, options: ReadOptions) -> Draft:
        """Keep what was decided about a file."""
        draft = self.read()
        files = (replace(one, options=options) if one.name == name else one for one in draft.files)
        return self._write(replace(draft, files=tuple(files)))

    def renew(self) -> Draft:
        """Start the browser's lists of files afresh; the files stay."""
        draft = self.read()
        return self._write(replace(draft, doubles=(), generation=draft.generation + 1))

    def finish(self, job_id: str) -> None:
        """The files went into a job, which holds them itself: take them out and start the form afresh."""
        draft = self.read()
        self._write(Draft((), (), draft.generation + 1, draft.n_started + 1, job_id, time.time()))
        for one in draft.files:
            self._files.let_go(one.sha256, self._holder)

    def source(self, file: DraftFile) -> SourceFile:
        """A file as it lies on disk.

        Raises:
            NotFoundError: It lay there for so long that it was swept away.
        """
        return SourceFile(file.name, self.path(file))

    def path(self, file: DraftFile) -> Path:
        """Where a file lies.

        Raises:
            NotFoundError: As ``source``.
        """
        try:
            return self._files.held(file.sha256, self._holder)
        except NotFoundError:
            raise NotFoundError(
                f"{file.name} was uploaded too long ago and is gone.",
                hint="Remove it from the list and upload it again.",
            ) from None

    def _write(self, draft: Draft) -> Draft:
        with written_whole(self._path) as temporary:
            temporary.write_text(json.dumps(asdict(draft)), encoding="utf-8")
        return draft


def _draft(data: dict[str, Any]) -> Draft:
    files = tuple(DraftFile(**{**one, "options": options_of(one["options"])}) for one in data["files"])
    return Draft(**{**data, "files": files, "doubles": tuple(data["doubles"])})


def _free_name(name: str, taken: Collection[str]) -> str:
    """The name itself, or with the first free number: ``notes (2).md``."""
    folder, slash, base = name.rpartition("/")
    stem, dot, suffix = base.rpartition(".")
    if not stem:
        stem, dot, suffix = base, "", ""
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{folder}{slash}{stem} ({number}){dot}{suffix}"
    return candidate
