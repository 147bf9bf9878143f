"""Archives: a ZIP, tar or packed file is opened to its files, a mail to its attachments, each read like any other.

Nothing that an archive says of itself is believed: bytes are counted as they come, no name becomes a path, and what
is written lies in one folder under numbers.
"""

from __future__ import annotations

import shutil
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from backend.corpus.files import Reading, SkippedFile, SourceFile, Unpacked, UnreadableFile
from backend.corpus.readers.archive_entries import DamagedEntryError, Entry
from backend.corpus.readers.archive_kinds import Opened, opened_archive
from backend.corpus.readers.archive_names import free_name, harmless
from backend.corpus.side_files import side_file, side_folder

_SMALL_BYTES = 1_000_000  # that grows however much
_MOST_NOTES = 1_000  # about single files of one archive


def unpack(file: SourceFile, folder: Path, reading: Reading) -> Unpacked | None:
    """Write an archive's files to ``folder``, those of archives in it as well; None if the file is no archive.

    ZIP (documents that are a ZIP are none), tar, gzip, bzip2, xz, and mails with attachments: the mail itself is the
    first file then. A part that is damaged, locked, a link or too large is skipped and named, and the rest comes.

    Args:
        file: As it came.
        folder: Takes the files, under names of our own.
        reading: Its limits bound the archive with everything in it.

    Raises:
        UnreadableFile: Broken, empty, all of it behind a password, or more than the limits allow; nothing is left
            in the folder then.
        CancelledError: From ``reading.check``.
    """
    unpacking = _Unpacking(folder, reading)
    try:
        if not unpacking.open(file, 0):
            return None
    except BaseException:
        unpacking.remove_all()
        raise
    return unpacking.outcome()


class _LimitError(UnreadableFile):
    """More than a limit allows: the whole archive is refused, not only the part that goes beyond it."""


class _TooLargeError(Exception):
    """One entry is larger than a file may be."""


class _Unpacking:
    """One archive on its way to disk, with all that is in it."""

    def __init__(self, folder: Path, reading: Reading) -> None:
        self._folder = folder
        self._reading = reading
        self._limits = reading.limits
        self._paths: list[Path] = []
        self._files: list[SourceFile] = []
        self._mails: set[Path | bytes] = set()
        self._skipped: list[SkippedFile] = []
        self._n_unnamed = 0
        self._warnings: list[str] = []
        self._names: set[str] = set()
        self._times_used: Counter[str] = Counter()
        self._n_entries = 0
        self._n_bytes = 0

    def outcome(self) -> Unpacked:
        """What came of it."""
        if self._n_unnamed:
            self._warnings.append(f"{self._n_unnamed:,} more entries of the archive were left out.")
        return Unpacked(tuple(self._files), tuple(self._skipped), tuple(self._warnings))

    def remove_all(self) -> None:
        """Leave nothing in the folder."""
        for path in self._paths:
            path.unlink(missing_ok=True)

    def open(self, file: SourceFile, depth: int) -> bool:
        """Take out what is in a file; False if it is no archive.

        Args:
            file: At the top, or an entry that was written.
            depth: Archives around it.
        """
        with opened_archive(file, self._limits, self._watch) as archive:
            if archive is None or (archive.is_mail and depth > self._limits.max_nesting):
                return False
            if depth > self._limits.max_nesting:
                raise _LimitError(
                    f"archives within archives: more than {self._limits.max_nesting} inside each other ({file.name}).",
                    hint="Unpack it and add the files, or raise RAGDUEL_MAX_ARCHIVE_NESTING.",
                )
            if archive.is_overlapping:
                raise _LimitError(
                    f"{archive.kind} whose entries share their bytes, as only hostile ones do.",
                    hint="Pack the files again.",
                )
            if archive.is_mail:
                self._keep_mail(file if depth else SourceFile(file.name, self._copy(file)))
            self._warnings.extend(f"{file.name}: {note}" for note in archive.notes)
            self._take_all(archive, file.name, depth)
        return True

    def _take_all(self, archive: Opened, container: str, depth: int) -> None:
        reading = self._reading
        n_wanted = n_locked = n_noted = 0
        folders: dict[str, None] = {}
        used_folders: set[str] = set()
        noted: set[str] = set()
        for number, entry in enumerate(self._until_damaged(archive.entries, container), start=1):
            reading.check()
            reading.step("file", number, archive.n_entries)
            self._count_entry()
            name = harmless(entry.name)
            used_folders.update(_above(name))
            if note := _side_note(name):
                n_noted += 1
                if note.file not in noted or not note.file.endswith("/"):
                    noted.add(note.file)
                    self._skip(f"{container}/{note.file}", note.reason)
            elif entry.is_folder:
                folders[name] = None
            else:
                n_wanted += 1
                n_locked += entry.is_locked
                self._take(entry, f"{container}/{name}", depth)
        for name in folders:
            if name in used_folders:
                continue
            self._skip(f"{container}/{name}/", "an empty folder.")
        if n_wanted and n_wanted == n_locked:
            raise UnreadableFile(f"{archive.kind} with a password.", hint="Unpack it and add the files.")
        if not n_wanted and not n_noted and not archive.is_mail:
            raise UnreadableFile(f"{archive.kind} without files.", hint="Check that it was saved or copied whole.")

    def _until_damaged(self, entries: Iterable[Entry], container: str) -> Iterator[Entry]:
        """Entries up to where the archive breaks off; nothing at all is a broken archive."""
        n_given = 0
        try:
            for entry in entries:
                yield entry
                n_given += 1
        except DamagedEntryError as error:
            if not n_given:
                raise UnreadableFile(f"a broken archive ({error}).", hint="Copy or download it again.") from error
            self._warnings.append(f"{container}: {error}; what comes after is missing.")

    def _take(self, entry: Entry, wanted: str, depth: int) -> None:
        """Write one file and look into it."""
        if entry.refusal:
            self._skip(wanted, entry.refusal)
            return
        name = free_name(wanted, self._names, self._times_used[wanted] + 1)
        self._times_used[wanted] += 1
        path = self._new_path()
        try:
            self._write(entry, path)
            inner = SourceFile(name, path)
            is_opened = self.open(inner, depth + 1)
        except (UnreadableFile, DamagedEntryError, _TooLargeError) as error:
            if isinstance(error, _LimitError):
                raise
            path.unlink(missing_ok=True)
            self._skip(name, self._reason(error))
            return
        self._names.add(name)
        if name != wanted:
            self._warnings.append(f"{name}: another file is named {wanted}")
        if not is_opened:
            self._files.append(inner)
        elif path not in self._mails:
            path.unlink()

    def _reason(self, error: Exception) -> str:
        if isinstance(error, _TooLargeError):
            return (
                f"too large: unpacked it is more than {self._limits.max_file_bytes / 1e6:.0f} MB. "
                "Split it, or raise RAGDUEL_MAX_UPLOAD_MB."
            )
        if isinstance(error, DamagedEntryError):
            return f"damaged in the archive ({error}). Pack or download it again."
        return str(error)

    def _write(self, entry: Entry, path: Path) -> None:
        if entry.stated_bytes > self._limits.max_file_bytes:
            raise _TooLargeError
        n_bytes = 0
        with path.open("wb") as out:
            for piece in entry.pieces():
                self._reading.check()
                n_bytes += len(piece)
                self._n_bytes += len(piece)
                self._bound(entry.packed_bytes, n_bytes)
                if n_bytes > self._limits.max_file_bytes:
                    raise _TooLargeError
                out.write(piece)

    def _watch(self, n_read: int, n_unpacked: int) -> None:
        """Of a packed stream, whose parts may be passed over without being written."""
        self._reading.check()
        self._bound(n_read, n_unpacked, max(self._n_bytes, n_unpacked))

    def _bound(self, packed_bytes: int, n_bytes: int, all_bytes: int = 0) -> None:
        limits = self._limits
        if packed_bytes and n_bytes > _SMALL_BYTES and n_bytes > limits.max_ratio * packed_bytes:
            raise _LimitError(
                f"an archive that grows more than {limits.max_ratio} times when it is unpacked.",
                hint="Unpack it and add the files, or raise RAGDUEL_MAX_ARCHIVE_RATIO.",
            )
        if max(self._n_bytes, all_bytes) > limits.max_unpacked_bytes:
            raise _LimitError(
                f"an archive that holds more than {limits.max_unpacked_bytes / 1e6:,.0f} MB unpacked.",
                hint="Add its files in parts, or raise RAGDUEL_MAX_UNPACKED_MB.",
            )

    def _count_entry(self) -> None:
        self._n_entries += 1
        if self._n_entries > self._limits.max_entries:
            raise _LimitError(
                f"an archive of more than {self._limits.max_entries:,} files.",
                hint="Add its files in parts, or raise RAGDUEL_MAX_ARCHIVE_ENTRIES.",
            )

    def _keep_mail(self, mail: SourceFile) -> None:
        """A mail is a document itself, beside its attachments."""
        self._files.append(mail)
        self._mails.add(mail.content)

    def _copy(self, file: SourceFile) -> Path:
        path = self._new_path()
        with file.open() as stream, path.open("wb") as out:
            shutil.copyfileobj(stream, out)
        return path

    def _new_path(self) -> Path:
        path = self._folder / f"{uuid.uuid4().hex}.file"
        self._paths.append(path)
        return path

    def _skip(self, name: str, reason: str) -> None:
        if len(self._skipped) < _MOST_NOTES:
            self._skipped.append(SkippedFile(name, reason))
        else:
            self._n_unnamed += 1


def _above(name: str) -> Iterator[str]:
    """The folders that a name lies in."""
    while name := name.rpartition("/")[0]:
        yield name


def _side_note(name: str) -> SkippedFile | None:
    """What is left out as a side file, or as part of a folder of them."""
    parts = name.split("/")
    for at, part in enumerate(parts[:-1], start=1):
        if kind := side_folder(part):
            return SkippedFile("/".join(parts[:at]) + "/", f"{kind}, left out.")
    kind = side_file(parts[-1]) or side_folder(parts[-1])
    return SkippedFile(name, f"{kind}, left out.") if kind else None
