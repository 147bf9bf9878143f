"""Documents that are a ZIP of XML parts (Word, Excel, PowerPoint, OpenDocument, EPUB), opened within bounds."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from backend.corpus.files import Reading, SourceFile, UnreadableFile
from backend.errors import CancelledError

MOST_PART_BYTES = 32_000_000
"""Of a part that is parsed to a tree."""
_MOST_MARKUP = 3_000_000  # tags and attributes of a part: six bytes of one take two hundred in memory
_PIECE_BYTES = 1 << 18
# "Strict Open XML" names the same elements by another address (ISO/IEC 29500-1, annex A).
_STRICT = b"http://purl.oclc.org/ooxml/"
_STRICT_KINDS = {
    b"wordprocessingml/main": b"wordprocessingml/2006/main",
    b"presentationml/main": b"presentationml/2006/main",
    b"spreadsheetml/main": b"spreadsheetml/2006/main",
    b"drawingml/main": b"drawingml/2006/main",
    b"drawingml/chart": b"drawingml/2006/chart",
    b"drawingml/diagram": b"drawingml/2006/diagram",
    b"officeDocument/relationships": b"officeDocument/2006/relationships",
}
_OPEN = b"http://schemas.openxmlformats.org/"


class _OtherKindError(Exception):
    """The archive is not of the kind that it was opened as."""


class Package:
    """The parts of an open document.

    Args:
        archive: Open.
        kind: For people, with its article: ``a Word document``.
        most_bytes: That all parts together may unpack to.
    """

    def __init__(self, archive: zipfile.ZipFile, kind: str, most_bytes: int) -> None:
        self._archive = archive
        self._kind = kind
        self._most_bytes = most_bytes
        self._left_bytes = most_bytes
        self._counted: set[str] = set()  # a part that is read twice counts once
        self.names = frozenset(archive.namelist())

    def not_of_this_kind(self) -> Exception:
        """To be raised where a part is missing without which it is no such document."""
        return _OtherKindError()

    def xml(self, name: str) -> Any:
        """The root element of an XML part, or None if the archive has none of this name.

        Raises:
            UnreadableFile: It is too large to be parsed.
        """
        content = self.content(name)
        if content is None:
            return None
        if content.count(b"<") + content.count(b"=") > _MOST_MARKUP:
            raise UnreadableFile(
                f"{self._kind} whose {name} holds more than {_MOST_MARKUP:,} tags and attributes.",
                hint="Split it, or save it as text.",
            )
        return _xml(_transitional(content))

    def content(self, name: str, most_bytes: int = MOST_PART_BYTES) -> bytes | None:
        """The bytes of a part, or None if the archive has none of this name.

        Raises:
            UnreadableFile: There are more than that.
        """
        info = self._info(name, most_bytes)
        if info is None:
            return None
        with self._archive.open(
            info
        ) as packed:  # read() without a size unpacks past one that the archive falsely states
            content = packed.read(most_bytes)
        self._spend(len(content))
        self._counted.add(name)
        return content

    def pieces(self, name: str) -> Iterator[bytes]:
        """The bytes of a large part, piece by piece; none if the archive has no such part.

        Raises:
            UnreadableFile: All parts together unpack to more than they may.
        """
        info = self._info(name, self._most_bytes)
        if info is None:
            return
        with self._archive.open(info) as packed:
            while piece := packed.read(_PIECE_BYTES):
                self._spend(0 if name in self._counted else len(piece))
                yield piece
        self._counted.add(name)

    def _info(self, name: str, most_bytes: int) -> zipfile.ZipInfo | None:
        if name not in self.names:
            return None
        info = self._archive.getinfo(name)
        if info.file_size > most_bytes:
            raise UnreadableFile(
                f"{self._kind} whose {name} unpacks to {info.file_size / 1e6:,.0f} MB, "
                f"the most is {most_bytes / 1e6:.0f} MB.",
                hint="Split it, or save it as text.",
            )
        if info.flag_bits & 1:
            raise UnreadableFile(
                f"{self._kind} with a password.", hint="Save a copy without the password and add that."
            )
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise _OtherKindError  # no such document is packed in another way
        return info

    def _spend(self, n_bytes: int) -> None:
        self._left_bytes -= n_bytes
        if self._left_bytes < 0:
            raise UnreadableFile(
                f"{self._kind} that unpacks to more than {self._most_bytes / 1e6:,.0f} MB.",
                hint="Split it, or save it as text.",
            )


@contextmanager
def opened(file: SourceFile, kind: str, resave: str, reading: Reading) -> Iterator[Package]:
    """The package in a file; whatever a damaged one raises inside becomes a refusal for people.

    Args:
        file: As it came.
        kind: For people, with its article: ``a Word document``.
        resave: What to do about a damaged one: ``Save it again as .docx.``
        reading: Its limits bound what is unpacked.

    Raises:
        UnreadableFile: Not such a document, broken, or too large unpacked.
    """
    noun = kind.split(" ", 1)[1]
    try:
        with file.open() as stream, _archive(stream) as archive:
            yield Package(archive, kind, max(reading.limits.max_file_bytes, MOST_PART_BYTES))
    except (UnreadableFile, CancelledError):
        raise
    except _OtherKindError as error:
        raise UnreadableFile(f"not {kind} inside, whatever its name.", hint=resave) from error
    except MemoryError as error:
        raise UnreadableFile(
            f"{kind} that takes more memory than there is.", hint="Split it, or save it as text."
        ) from error
    except Exception as error:  # damaged files raise whatever their damage leads to
        said = str(error)[:120].rstrip(".") or type(error).__name__
        raise UnreadableFile(f"a broken {noun} ({said}).", hint=resave) from error


def _archive(stream: Any) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(stream)
    except zipfile.BadZipFile as error:
        raise _OtherKindError from error


def zip_names(file: SourceFile) -> set[str]:
    """File names inside a ZIP; empty for anything else."""
    if file.head(4) != b"PK\x03\x04":
        return set()
    try:
        with file.open() as stream, zipfile.ZipFile(stream) as archive:
            return set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return set()


def package_kind(names: set[str]) -> str:
    """What a ZIP with these entries is: ``docx``, ``pptx``, ``xlsx``, ``xlsb``, ``odf``, ``epub``, ``iwork`` or empty.

    An archive that merely holds documents is none: its entries are files of their own.
    """
    for main, kind in (
        ("word/document.xml", "docx"),
        ("ppt/presentation.xml", "pptx"),
        ("xl/workbook.xml", "xlsx"),
        ("xl/workbook.bin", "xlsb"),
        ("META-INF/container.xml", "epub"),
    ):
        if main in names and (kind != "epub" or "mimetype" in names or any(n.endswith(".opf") for n in names)):
            return kind
    if "content.xml" in names and names & {"mimetype", "META-INF/manifest.xml"}:
        return "odf"
    if "Index/Document.iwa" in names or "Index.zip" in names or "index.apxl" in names:
        return "iwork"
    return ""


def _transitional(content: bytes) -> bytes:
    """Strict Open XML under the names that everybody else uses."""
    if _STRICT not in content[:8192]:
        return content
    for strict, usual in _STRICT_KINDS.items():
        content = content.replace(_STRICT + strict, _OPEN + usual)
    return content


def _xml(content: bytes) -> Any:
    """Parsed XML: no entity is expanded, nothing is fetched, and the depth is libxml2's 256."""
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    return etree.fromstring(content, parser)
