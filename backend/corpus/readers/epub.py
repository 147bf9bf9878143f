"""EPUB: chapters in reading order, named as the book's table of contents names them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote

from backend.corpus.decoding import declared_charset, decode
from backend.corpus.files import FileFacts, Reading, Replaced, Section, SourceFile, TextSink, UnreadableFile
from backend.corpus.readers.html import MOST_PAGE_BYTES, write_page
from backend.corpus.readers.packages import Package, opened, package_kind, zip_names
from backend.corpus.text import numbered

_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_NCX = "{http://www.daisy.org/z3986/2005/ncx/}"
_ENCRYPTION = "{http://www.w3.org/2001/04/xmlenc#}"
_XHTML = "{http://www.w3.org/1999/xhtml}"
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")  # fonts made unusable elsewhere
_LOCKS = ("META-INF/rights.xml", "META-INF/sinf.xml", "META-INF/license.lcpl")  # Adobe, Apple, LCP
_PAGES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document")
# XHTML may close any tag at once; a parser of HTML would leave it open, and swallow the page after <script/>.
_CLOSED_AT_ONCE = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|wbr)\b)([a-zA-Z][\w:-]{0,40})((?:\s[^<>]*)?)/>"
)
_MOST_LABEL_CHARS = 200


class EpubReader:
    """Reads books by content, whatever the suffix."""

    media_type = "application/epub+zip"

    def accepts(self, file: SourceFile) -> bool:
        """A ZIP with a book's container, or an EPUB name."""
        return package_kind(zip_names(file)) == "epub" or file.name.lower().endswith(".epub")

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """The visible text of each chapter, at ``Chapter > Heading``.

        Raises:
            UnreadableFile: No book inside, locked, broken, too large, too many chapters, or without text.
            CancelledError: From ``reading.check``, between chapters.
        """
        with opened(file, "an EPUB book", "Convert it to EPUB anew, or to HTML or text.", reading) as pack:
            _refuse_locked(pack)
            opf = _opf_part(pack)
            package = pack.xml(opf)
            if package is None:
                raise pack.not_of_this_kind()
            title = " ".join((package.findtext(f"{_OPF}metadata/{_DC}title") or "").split())[:300]
            chapters = _chapters(package, posixpath.dirname(opf))
            if len(chapters) > reading.limits.max_pages:
                raise UnreadableFile(
                    f"{len(chapters):,} chapters, the most of one file is {reading.limits.max_pages:,}.",
                    hint="Split it, or raise RAGDUEL_MAX_PAGES.",
                )
            labels = _labels(pack, package, posixpath.dirname(opf))
            left_out, label = [], ""
            for number, part in enumerate(chapters, start=1):
                reading.check()
                reading.step("chapter", number, len(chapters))
                label = labels.get(part, label)  # a long chapter is cut into files, of which the first is named
                if not _write_chapter(pack, part, _Chapter(out, label)):
                    left_out.append(number)
        warnings = [f"{numbered('chapter file', left_out)}: missing or unreadable, left out"] if left_out else []
        if not out.n_chars:
            raise UnreadableFile(
                "; ".join(["no text in any chapter", *warnings]) + ".",
                hint="If its pages are pictures, run text recognition (OCR) and add the result.",
            )
        return FileFacts(title=title, media_type=self.media_type, warnings=(*warnings, *out.replaced.notes()))


class _Chapter:
    """A sink that puts the chapter's name before the places of its headings."""

    def __init__(self, out: TextSink, label: str) -> None:
        self._out = out
        self._label = label
        out.begin(label)

    @property
    def replaced(self) -> Replaced:
        return self._out.replaced

    @replaced.setter
    def replaced(self, value: Replaced) -> None:
        self._out.replaced = value

    @property
    def n_chars(self) -> int:
        return self._out.n_chars

    def begin(
        self, place: str, *, record_id: str = "", title: str = "", metadata: tuple[tuple[str, str], ...] = ()
    ) -> None:
        first, arrow, rest = place.partition(" > ")
        above, _, own = self._label.rpartition(" > ")
        if own and (own.casefold() in first.casefold() or first.casefold() in own.casefold()):
            own = max(own, first, key=len)  # the chapter's own heading repeats its name
            place = own + arrow + rest
            place = f"{above} > {place}" if above else place
        elif own:
            place = f"{self._label} > {place}"
        self._out.begin(place, record_id=record_id, title=title, metadata=metadata)

    def add(self, piece: str, *, tight: bool = False, is_row: bool = False) -> bool:
        return self._out.add(piece, tight=tight, is_row=is_row)

    def add_whole(self, text: str, sections: Sequence[Section] = ()) -> None:
        self._out.add_whole(text, sections)


def _refuse_locked(pack: Package) -> None:
    encryption = pack.xml("META-INF/encryption.xml")
    methods = [
        method.get("Algorithm") or ""
        for data in (encryption.iter(_ENCRYPTION + "EncryptedData") if encryption is not None else ())
        for method in data.iterfind(_ENCRYPTION + "EncryptionMethod")
    ]
    if any(method not in _FONTS for method in methods) or (methods and any(lock in pack.names for lock in _LOCKS)):
        raise UnreadableFile(
            "an EPUB book that is locked (DRM): its text is encrypted.", hint="Add an edition without copy protection."
        )


def _opf_part(pack: Package) -> str:
    container = pack.xml("META-INF/container.xml")
    root = container.find(f"{_CONTAINER}rootfiles/{_CONTAINER}rootfile") if container is not None else None
    named = posixpath.normpath(unquote(root.get("full-path") or "")) if root is not None else ""
    return named if named in pack.names else next((name for name in sorted(pack.names) if name.endswith(".opf")), "")


def _manifest(package: Any, folder: str) -> Iterator[tuple[str, str, str, str]]:
    """(id, part, media type, properties) of what the book lists."""
    for item in package.iterfind(f"{_OPF}manifest/{_OPF}item"):
        href, ident = item.get("href") or "", item.get("id") or ""
        yield ident, _part(folder, href), item.get("media-type") or "", item.get("properties") or ""


def _part(folder: str, href: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0])))


def _chapters(package: Any, folder: str) -> list[str]:
    """Parts in reading order, each once; the page with the table of contents holds no text of its own."""
    listed = {ident: (part, kind, what) for ident, part, kind, what in _manifest(package, folder)}
    found: dict[str, None] = {}
    for element in package.iterfind(f"{_OPF}spine/{_OPF}itemref"):
        part, kind, what = listed.get(element.get("idref") or "", ("", "", ""))
        if part and kind in _PAGES and "nav" not in what.split():
            found[part] = None
    return list(found)


def _labels(pack: Package, package: Any, folder: str) -> dict[str, str]:
    """Name of each chapter in the table of contents: ``Part > Chapter``; the first entry of a file names it."""
    labels: dict[str, str] = {}
    for _, part, kind, properties in _manifest(package, folder):
        try:
            if "nav" in properties.split() and (root := pack.xml(part)) is not None:
                entries = _nav_entries(root)
            elif kind == "application/x-dtbncx+xml" and (root := pack.xml(part)) is not None:
                entries = _ncx_entries(root)
            else:
                continue
            for href, label in entries:
                if label:
                    labels.setdefault(_part(posixpath.dirname(part), href), label[:_MOST_LABEL_CHARS])
        except SyntaxError:  # headings name the chapters then
            continue
    return labels


def _nav_entries(root: Any) -> Iterator[tuple[str, str]]:
    """(address, label) of an EPUB 3 table of contents."""
    for nav in root.iter(_XHTML + "nav"):
        if any(name.endswith("}type") and "toc" in value.split() for name, value in nav.attrib.items()):
            for link in nav.iter(_XHTML + "a"):
                above = [
                    " ".join("".join(found[0].itertext()).split())
                    for item in link.iterancestors(_XHTML + "li")
                    if (found := [child for child in item if child.tag in (_XHTML + "a", _XHTML + "span")])
                ]
                yield link.get("href") or "", " > ".join(reversed(above))


def _ncx_entries(root: Any) -> Iterator[tuple[str, str]]:
    """(address, label) of an EPUB 2 table of contents."""
    for point in root.iter(_NCX + "navPoint"):
        content = point.find(_NCX + "content")
        path = [point, *point.iterancestors(_NCX + "navPoint")]
        names = [" ".join((at.findtext(f"{_NCX}navLabel/{_NCX}text") or "").split()) for at in path]
        yield (content.get("src") or "") if content is not None else "", " > ".join(n for n in reversed(names) if n)


def _write_chapter(pack: Package, part: str, out: _Chapter) -> bool:
    data = pack.content(part, MOST_PAGE_BYTES)
    if data is None:
        return False
    try:
        text = decode(data, declared_charset(data)).text
    except UnreadableFile:
        return False
    write_page(_CLOSED_AT_ONCE.sub(r"<\1\2></\1>", text), out)
    return True
