"""DOCX: paragraphs, tables, text boxes and content controls in reading order, with headings as places."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from backend.corpus.text import HeadingPath, TextBuilder
from backend.corpus.types import ParsedDocument, SourceFile, UnreadableFile

_MOST_UNPACKED_BYTES = 1 << 29
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_NOT_SHOWN = {_W + "del", _W + "moveFrom", _W + "rPr", _W + "pPr", _FALLBACK}
_BREAKS = {_W + "tab": "\t", _W + "br": "\n", _W + "cr": "\n", _W + "noBreakHyphen": "-", _W + "ptab": "\t"}
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
# "Strict Open XML" names the same elements by other addresses (ISO/IEC 29500-1, annex A).
_STRICT = (
    (
        b"http://purl.oclc.org/ooxml/wordprocessingml/main",
        b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    ),
    (
        b"http://purl.oclc.org/ooxml/officeDocument/relationships",
        b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    ),
)


class DocxReader:
    """Reads Word documents by content, whatever the suffix."""

    media_type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

    def accepts(self, file: SourceFile) -> bool:
        """A ZIP with a Word body, or a DOCX name."""
        return "word/document.xml" in zip_names(file.data) or file.name.lower().endswith((".docx", ".docm"))

    def read(self, file: SourceFile) -> ParsedDocument:
        """Paragraphs and table rows (cells joined by `` | ``) in the order a reader meets them.

        Raises:
            UnreadableFile: No Word document inside, broken, too large unpacked, or blank.
        """
        try:
            document = _open(file.data)
            levels = _heading_levels(document)
            builder = TextBuilder()
            _fill(builder, document.element.body, levels)
            title = " ".join((document.core_properties.title or "").split())[:300]
        except UnreadableFile:
            raise
        except Exception as error:  # damaged files raise whatever their damage leads to
            raise UnreadableFile(
                f"a broken Word document ({str(error)[:120] or type(error).__name__}).", hint="Save it again as .docx."
            ) from error
        if not builder.text:
            raise UnreadableFile(
                "no text: the document holds only pictures or blanks.", hint="Export it as PDF with text."
            )
        return ParsedDocument(
            text=builder.text,
            title=title,
            media_type=self.media_type,
            sections=builder.sections,
            warnings=tuple(builder.replaced.notes()),
        )


def zip_names(data: bytes) -> set[str]:
    """File names inside a ZIP; empty for anything else."""
    if not data.startswith(b"PK\x03\x04"):
        return set()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return set()


def _open(data: bytes) -> Any:
    import docx

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(info.file_size for info in archive.infolist()) > _MOST_UNPACKED_BYTES:
                raise UnreadableFile("a Word document that unpacks to more than 512 MB.", hint="Split it.")
            strict = b"purl.oclc.org/ooxml" in archive.read("word/document.xml")[:4096]
    except (zipfile.BadZipFile, KeyError) as error:
        raise UnreadableFile(
            "not a Word document inside, whatever its name.", hint="Save it again as .docx."
        ) from error
    return docx.Document(io.BytesIO(_transitional(data) if strict else data))


def _transitional(data: bytes) -> bytes:
    """The same package under the addresses that python-docx knows."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as written:
        for info in source.infolist():
            content = source.read(info)
            if info.filename.endswith((".xml", ".rels")):
                for old, new in _STRICT:
                    content = content.replace(old, new)
            written.writestr(info.filename, content)
    return target.getvalue()


def _heading_levels(document: Any) -> dict[str, int]:
    """Heading level by style id; a style without one takes that of the style it is based on."""
    levels: dict[str, int] = {}
    bases: dict[str, str] = {}
    for style in document.styles.element.iter(_W + "style"):
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
        while above in bases and above not in seen:
            seen.add(above)
            above = bases[above]
        if above in levels:
            levels[style_id] = levels[above]
    return levels


def _fill(builder: TextBuilder, body: Any, levels: dict[str, int]) -> None:
    path = HeadingPath()
    for block in _blocks(body):
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
