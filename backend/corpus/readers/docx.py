"""DOCX: paragraphs, tables, text boxes and content controls in reading order, with headings as places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from backend.corpus.files import Check, FileFacts, Reading, SourceFile, TextSink, UnreadableFile
from backend.corpus.readers.ooxml import core_title
from backend.corpus.readers.packages import opened, zip_names
from backend.corpus.text import HeadingPath

_MOST_BASES = 50  # styles above a style; Word itself allows about ten
_BLOCKS_A_CHECK = 1_000
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_NOT_SHOWN = {_W + "del", _W + "moveFrom", _W + "rPr", _W + "pPr", _FALLBACK}
_BREAKS = {_W + "tab": "\t", _W + "br": "\n", _W + "cr": "\n", _W + "noBreakHyphen": "-", _W + "ptab": "\t"}
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)


class DocxReader:
    """Reads Word documents by content, whatever the suffix."""

    media_type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

    def accepts(self, file: SourceFile) -> bool:
        """A ZIP with a Word body, or a DOCX name."""
        return "word/document.xml" in zip_names(file) or file.name.lower().endswith((".docx", ".docm"))

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """Paragraphs and table rows (cells joined by `` | ``) in the order a reader meets them.

        Raises:
            UnreadableFile: No Word document inside, broken, too large unpacked, or blank.
            CancelledError: From ``check``, between batches of paragraphs.
        """
        # Not python-docx: it unpacks and parses every part of the archive before one can look.
        with opened(file, "a Word document", "Save it again as .docx.", reading) as package:
            document = package.xml("word/document.xml")
            if document is None:
                raise package.not_of_this_kind()
            levels = _heading_levels(package.xml("word/styles.xml"))
            title = core_title(package)
            _fill(out, document.find(_W + "body"), levels, reading.check)
        if not out.n_chars:
            raise UnreadableFile(
                "no text: the document holds only pictures or blanks.", hint="Export it as PDF with text."
            )
        return FileFacts(title=title, media_type=self.media_type, warnings=tuple(out.replaced.notes()))


def _heading_levels(styles: Any) -> dict[str, int]:
    """Heading level by style id; a style without one takes that of the style it is based on."""
    levels: dict[str, int] = {}
    bases: dict[str, str] = {}
    for style in styles.iter(_W + "style") if styles is not None else ():
        style_id = style.get(_W + "styleId") or ""
        name_element, outline, base = (style.find(path) for path in (f"{_W}name", f".//{_W}outlineLvl", f"{_W}basedOn"))
        name = (name_element.get(_W + "val") if name_element is not None else None) or ""
        match = _HEADING.fullmatch(name)
        if match:
            levels[style_id] = int(match.group(1))
        elif name.lower() == "title":
            levels[style_id] = 1
        elif outline is not None and (outline.get(_W + "val") or "9").isdigit() and int(outline.get(_W + "val")) < 9:
            levels[style_id] = int(outline.get(_W + "val")) + 1
        elif base is not None:
            bases[style_id] = base.get(_W + "val") or ""
    for style_id, base_id in bases.items():
        seen, above = {style_id}, base_id
        while above in bases and above not in seen and len(seen) < _MOST_BASES:
            seen.add(above)
            above = bases[above]
        if above in levels:
            levels[style_id] = levels[above]
    return levels


def _fill(builder: TextSink, body: Any, levels: dict[str, int], check: Check) -> None:
    path = HeadingPath()
    for n, block in enumerate(_blocks(body)):
        if n % _BLOCKS_A_CHECK == 0:
            check()
        if block.tag == _W + "tbl":
            for at, row in enumerate(_rows(block)):
                builder.add(row, tight=at > 0)
            continue
        text = _paragraph_text(block)
        level = _level(block, levels)
        if level and text.strip():
            builder.begin(path.enter(level, text))
        builder.add(text)
        for inner in _text_box_blocks(block):
            if inner.tag == _W + "tbl":
                builder.add("\n".join(_rows(inner)))
            else:
                builder.add(_paragraph_text(inner))


def _level(paragraph: Any, levels: dict[str, int]) -> int:
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    outline = paragraph.find(f"{_W}pPr/{_W}outlineLvl")
    if outline is not None and (outline.get(_W + "val") or "").isdigit() and int(outline.get(_W + "val")) < 9:
        return int(outline.get(_W + "val")) + 1
    return levels.get(style.get(_W + "val") or "", 0) if style is not None else 0


def _blocks(container: Any) -> Iterator[Any]:
    """Paragraphs and tables directly in a container, content controls and the like opened."""
    for child in container:
        if child.tag in (_W + "p", _W + "tbl"):
            yield child
        elif child.tag not in _NOT_SHOWN and child.tag not in (_W + "sectPr", _W + "tcPr", _W + "sdtPr"):
            yield from _blocks(child)


def _shown(element: Any, *, into_boxes: bool = False) -> Iterator[Any]:
    for child in element:
        if child.tag in _NOT_SHOWN or (child.tag == _W + "txbxContent" and not into_boxes):
            continue
        yield child
        yield from _shown(child, into_boxes=into_boxes)


def _paragraph_text(paragraph: Any) -> str:
    parts = []
    for element in _shown(paragraph):
        if element.tag == _W + "t":
            parts.append(element.text or "")
        elif element.tag in _BREAKS:
            parts.append(_BREAKS[element.tag])
    return "".join(parts)


def _text_box_blocks(paragraph: Any) -> Iterator[Any]:
    for element in _shown(paragraph, into_boxes=True):
        if element.tag == _W + "txbxContent":
            yield from _blocks(element)


def _rows(table: Any) -> list[str]:
    """Each row as one line."""
    lines = []
    for row in _children(table, "tr"):
        cells = [_cell_text(cell) for cell in _children(row, "tc")]
        if any(cells):
            lines.append(" | ".join(cells))
    return lines


def _children(element: Any, name: str) -> Iterator[Any]:
    for child in element:
        if child.tag == _W + name:
            yield child
        elif child.tag in (_W + "sdt", _W + "sdtContent", _W + "customXml", _W + "ins"):
            yield from _children(child, name)


def _cell_text(cell: Any) -> str:
    parts: list[str] = []
    for block in _blocks(cell):
        if block.tag == _W + "tbl":
            parts.append("; ".join(_rows(block)))
        else:
            parts.append(_paragraph_text(block))
            parts += [_paragraph_text(inner) for inner in _text_box_blocks(block) if inner.tag == _W + "p"]
    return " ".join(" ".join(parts).split())
