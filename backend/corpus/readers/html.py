"""HTML: the words a reader sees, block by block, with the headings above as places."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from backend.corpus.decoding import declared_charset
from backend.corpus.files import FileFacts, Reading, SourceFile, TextSink, UnreadableFile
from backend.corpus.readers.plain import decoded_text, text_facts
from backend.corpus.text import HeadingPath

if TYPE_CHECKING:
    from bs4.element import PageElement, Tag

MOST_PAGE_BYTES = 10_000_000
_MOST_TAGS = 200_000  # start and end tags; each element takes a kilobyte or two
_SUFFIXES = (".html", ".htm", ".xhtml")
# A comment, once read, is not read another way (?>): else time doubles with each comment at the top.
_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:(?><!--.*?-->)\s*)*+<(?:!doctype\s+html|html|head|body)[\s>]", re.I | re.S
)
_PROLOG = re.compile(r"\s*<\?xml[^>]*>")
_UNSEEN = {
    "script", "style", "noscript", "template", "svg", "head", "iframe", "object", "embed", "canvas", "datalist",
}  # fmt: skip
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr",
    "li", "main", "nav", "ol", "option", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr",
    "ul",
}  # fmt: skip
_GROUPS = {"ul", "ol", "dl", "table"}
_TIGHT = {"li", "tr", "dd", "dt", "option"}
_SPACE = re.compile(r"[^\S\u2028\n]*\n[^\S\n]*|[^\S\n]+")
_ANY_SPACE = re.compile(r"\s+")


class HtmlReader:
    """Reads pages; scripts, styles and other unseen parts are dropped."""

    media_type = "text/html"

    def accepts(self, file: SourceFile) -> bool:
        """A page's first tags, whatever the name; else the name and any tag."""
        head = file.head(4096).replace(b"\x00", b"").decode("latin-1")
        if _START.match(head.removeprefix("ï»¿").removeprefix("ÿþ").removeprefix("þÿ")):
            return True
        return file.name.lower().endswith(_SUFFIXES) and "<" in head

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """Visible text; table rows as one line with `` | `` between cells.

        Raises:
            UnreadableFile: Not text, too large for a page, or nothing visible in it.
        """
        if file.size_bytes > MOST_PAGE_BYTES:
            raise UnreadableFile(
                f"{file.size_bytes / 1e6:.1f} MB of HTML, the most of one page is {MOST_PAGE_BYTES / 1e6:.0f} MB.",
                hint="Split it, or save it as text.",
            )
        data, replaced = file.data, out.replaced
        text, decoded = decoded_text(data, replaced, declared=declared_charset(data), forced=reading.options.encoding)
        reading.check()
        title = write_page(text, out)
        if not out.n_chars:
            raise UnreadableFile("no text: the page shows none.", hint="Pages filled in by scripts: save as text.")
        return text_facts(self.media_type, decoded, replaced, title)


def write_page(text: str, out: TextSink) -> str:
    """Write what a reader sees of a page, with the headings above as places, and return its title.

    Raises:
        UnreadableFile: It has too many tags to be parsed.
    """
    from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning

    if (n_tags := text.count("<")) > _MOST_TAGS:
        raise UnreadableFile(
            f"{n_tags:,} tags, the most of one page is {_MOST_TAGS:,}.", hint="Split it, or save it as text."
        )
    prolog = _PROLOG.match(text)
    # A page may say that it is XML; it is shown as a page all the same.
    warnings.filterwarnings("ignore", category=XMLParsedAsHTMLWarning)
    soup = BeautifulSoup(text[prolog.end() if prolog else 0 :], "lxml")
    _Page(out).walk(soup)
    return " ".join(soup.title.get_text().split())[:300] if soup.title else ""


Event = Literal["open", "close", "text"]


def _events(root: Tag) -> Iterator[tuple[Event, Tag | str]]:
    """Depth first, without recursion: pages nest as deep as they like."""
    from bs4.element import Comment, NavigableString, PreformattedString, Tag

    stack: list[tuple[Tag, Iterator[PageElement]]] = [(root, iter(root.children))]
    while stack:
        tag, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            yield "close", tag
        elif isinstance(child, Tag):
            if child.name in _UNSEEN or child.has_attr("hidden"):
                continue
            yield "open", child
            stack.append((child, iter(child.children)))
        elif isinstance(child, NavigableString) and not isinstance(child, Comment | PreformattedString):
            yield "text", str(child)


class _Page:
    """Collects inline text until a block ends."""

    def __init__(self, out: TextSink) -> None:
        self._out = out
        self._path = HeadingPath()
        self._inline: list[str] = []
        self._says = False  # whether the inline text has more than blanks
        self._preformatted = 0
        self._rows = 0  # depth of table rows we are in
        self._groups = 0  # depth of lists and tables
        self._tight = False
        self._after_tight = False
        self._prefix = ""

    def walk(self, root: Tag) -> None:
        for event, element in _events(root):
            if isinstance(element, str):
                self._inline.append(element if self._preformatted else _ANY_SPACE.sub(" ", element))
                self._says = self._says or not element.isspace()
            elif event == "open":
                self._open(element.name)
            else:
                self._close(element.name)
        self._flush()

    def _open(self, name: str) -> None:
        if name == "br":
            self._inline.append(" " if self._rows else "\n")
        elif name in ("td", "th"):
            if self._says:
                self._inline.append(" | ")
        elif name in _BLOCKS:
            self._boundary(name)
            self._group(name, 1)
            if name == "tr":
                self._rows += 1
            elif name == "li":
                self._prefix = "- "
            elif name == "pre":
                self._preformatted += 1

    def _close(self, name: str) -> None:
        if name in ("h1", "h2", "h3", "h4", "h5", "h6"):
            heading = "".join(self._inline)
            if heading.strip():
                self._out.begin(self._path.enter(int(name[1]), heading))
            self._flush()
        elif name in _BLOCKS:
            if name == "tr":
                self._rows -= 1
            self._tight = name in _TIGHT
            self._boundary(name)
            self._group(name, -1)
            if name == "pre":
                self._preformatted -= 1

    def _group(self, name: str, step: int) -> None:
        if name in _GROUPS:
            self._groups += step
            if self._groups == (1 if step > 0 else 0):
                self._after_tight = False  # a list or table stands apart from what is around it

    def _boundary(self, name: str) -> None:
        # Inside a row only tables, rows and headings end the line: cells hold paragraphs, and a row is one line.
        if self._rows and name not in ("table", "tr", "h1", "h2", "h3", "h4", "h5", "h6"):
            self._inline.append(" ")
        else:
            self._flush()

    def _flush(self) -> None:
        text = "".join(self._inline)
        self._inline.clear()
        self._says = False
        if not self._preformatted:
            text = _SPACE.sub(lambda match: "\n" if "\n" in match.group() else " ", text)
        tight, self._tight = self._tight, False
        if text.strip(" |\n\t"):
            prefix, self._prefix = self._prefix, ""
            self._out.add(prefix + text.strip(), tight=tight and self._after_tight)
            self._after_tight = tight
