"""Text of OpenDocument files: paragraphs, lists, tables and notes in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from backend.corpus.files import Check, TextSink
from backend.corpus.text import HeadingPath

OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_SVG = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
_PARAGRAPHS = (TEXT + "p", TEXT + "h")
# Deletions, comments, sounds of characters, titles of pictures, and what stands elsewhere.
_UNSEEN = {
    TEXT + "tracked-changes", OFFICE + "annotation", OFFICE + "annotation-end", TEXT + "ruby-text", _SVG + "title",
    _SVG + "desc", TEXT + "hidden-text", OFFICE + "forms", TEXT + "sequence-decls", TEXT + "variable-decls",
    OFFICE + "event-listeners", TEXT + "note-citation",
}  # fmt: skip
_SPACES = re.compile(r"[ \t\r\n]+")
_MOST_SPACES = 100
_BLOCKS_A_CHECK = 1_000


def write_blocks(root: Any, out: TextSink, check: Check) -> None:
    """Write paragraphs and tables of a text document, headings as places."""
    path = HeadingPath()
    for n, (block, item) in enumerate(_blocks(root)):
        if n % _BLOCKS_A_CHECK == 0:
            check()
        if block.tag == TABLE + "table":
            for at, row in enumerate(table_lines(block)):
                out.add(row, tight=at > 0)
            continue
        text, apart = paragraph(block)
        if block.tag == TEXT + "h" and text.strip():
            level = block.get(TEXT + "outline-level") or "1"
            out.begin(path.enter(int(level) if level.isdigit() and len(level) < 3 else 1, text))
        if text.strip():
            out.add(f"- {text}" if item else text, tight=item > 1)
        for line in apart:
            out.add(line)


def _blocks(container: Any) -> Iterator[tuple[Any, int]]:
    """Paragraphs and tables, and which item of a list each begins, from 1; 0: none."""
    stack: list[tuple[Iterator[Any], bool]] = [(iter(container), False)]
    n_lists = n_items = 0
    begins_item = False
    while stack:
        child = next(stack[-1][0], None)
        if child is None:
            n_lists -= stack.pop()[1]
        elif child.tag in _UNSEEN:
            continue
        elif child.tag in _PARAGRAPHS or child.tag == TABLE + "table":
            n_items += begins_item
            yield child, n_items if begins_item else 0
            begins_item = False
        else:
            is_list = child.tag == TEXT + "list"
            n_items = 0 if is_list and not n_lists else n_items  # lists in a list go on with its items
            n_lists += is_list
            begins_item = begins_item or (child.tag == TEXT + "list-item" and n_lists > 0)
            stack.append((iter(child), is_list))


def lines(container: Any) -> Iterator[str]:
    """Each paragraph and table row in a container (an element, a list of them) as a line, notes and boxes after it."""
    for block, item in _blocks(container):
        if block.tag == TABLE + "table":
            yield from table_lines(block)
            continue
        text, apart = paragraph(block)
        if text.strip():
            yield f"- {text.strip()}" if item else text.strip()
        yield from apart


def table_lines(table: Any) -> Iterator[str]:
    """Each row as one line with `` | `` between cells; tables inside stand in their cell."""
    for row in rows_of(table):
        cells = [
            " ".join(" ".join(lines(cell)).split())
            for cell in row
            if cell.tag in (TABLE + "table-cell", TABLE + "covered-table-cell")
        ]
        if any(cells):
            yield " | ".join(cells)


def rows_of(table: Any) -> Iterator[Any]:
    """Rows of a table, groups and headers opened, tables inside cells not."""
    for child in table:
        if child.tag == TABLE + "table-row":
            yield child
        elif child.tag in (TABLE + "table-row-group", TABLE + "table-header-rows", TABLE + "table-rows"):
            yield from rows_of(child)


def paragraph(block: Any) -> tuple[str, list[str]]:
    """A paragraph's own text, and what belongs to it but stands apart: footnotes and text boxes."""
    parts: list[str] = []
    apart: list[str] = []
    _inline(block, parts, apart)
    return "".join(parts), apart


def _inline(element: Any, parts: list[str], apart: list[str]) -> None:
    """The parser bounds how deep elements nest."""
    _keep(element.text, parts)
    for child in element:
        if child.tag == TEXT + "s":
            count = child.get(TEXT + "c") or "1"
            parts.append(" " * min(int(count) if count.isdigit() and len(count) < 9 else 1, _MOST_SPACES))
        elif child.tag == TEXT + "tab":
            parts.append("\t")
        elif child.tag == TEXT + "line-break":
            parts.append("\n")
        elif child.tag == TEXT + "note":
            mark = (child.findtext(TEXT + "note-citation") or "").strip()
            parts.append(f"[{mark}]" if mark else "")
            body = child.find(TEXT + "note-body")
            note = "\n".join(lines(body)) if body is not None else ""
            apart.extend([f"[{mark}] {note}" if mark else note] if note else [])
        elif child.tag.startswith(DRAW):
            if box := "\n".join(lines(child)):
                apart.append(box)
        elif child.tag not in _UNSEEN:
            _inline(child, parts, apart)
        _keep(child.tail, parts)


def _keep(text: str | None, parts: list[str]) -> None:
    """Blanks and line ends count as one blank, and as none after another (OpenDocument 1.3, part 3, 6.1.2)."""
    if text:
        text = _SPACES.sub(" ", text)
        parts.append(text[1:] if text[0] == " " and parts and parts[-1].endswith((" ", "\n")) else text)
