"""PPTX: slides in the order they are shown, with their tables, charts and speaker notes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from backend.corpus.files import FileFacts, Reading, SourceFile, TextSink, UnreadableFile
from backend.corpus.readers.ooxml import Relation, core_title, main_part, relations
from backend.corpus.readers.packages import Package, opened, zip_names
from backend.corpus.text import numbered

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_DIAGRAM_DATA = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_FURNITURE = {"dt", "ftr", "sldNum", "hdr", "sldImg"}  # the same on every slide
_TITLES = {"title", "ctrTitle"}
_MOST_POINTS = 500  # of a chart's series


@dataclass(slots=True)
class _Slide:
    """Texts of a slide, the title first."""

    title: str = ""
    blocks: list[str] = field(default_factory=list)
    has_picture: bool = False


class PptxReader:
    """Reads PowerPoint presentations by content, whatever the suffix."""

    media_type = "application/vnd.openxmlformats-officedocument.presentationml.presentation"

    def accepts(self, file: SourceFile) -> bool:
        """A ZIP with a presentation, or a PPTX name."""
        return "ppt/presentation.xml" in zip_names(file) or file.name.lower().endswith((".pptx", ".pptm", ".ppsx"))

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """Each slide's title, its texts in reading order, and its speaker notes, at ``slide 3``.

        Raises:
            UnreadableFile: No presentation inside, broken, too large, too many slides, or no text on any.
            CancelledError: From ``reading.check``, between slides.
        """
        with opened(file, "a PowerPoint presentation", "Save it again as .pptx, or export it as PDF.", reading) as pack:
            part = main_part(pack, "ppt/presentation.xml")
            presentation = pack.xml(part)
            if presentation is None:
                raise pack.not_of_this_kind()
            title = core_title(pack)
            slides = _slide_parts(presentation, relations(pack, part))
            if len(slides) > reading.limits.max_pages:
                raise UnreadableFile(
                    f"{len(slides):,} slides, the most of one file is {reading.limits.max_pages:,}.",
                    hint="Split it, or raise RAGDUEL_MAX_PAGES.",
                )
            empty: list[int] = []
            pictures: list[int] = []
            hidden, broken = [], []
            for number, name in enumerate(slides, start=1):
                reading.check()
                reading.step("slide", number, len(slides))
                out.begin(f"slide {number}")
                try:
                    slide = pack.xml(name)
                    linked = relations(pack, name)
                    notes = _notes(pack, linked)
                except (ValueError, SyntaxError):  # lxml's error for broken XML is a SyntaxError
                    slide = None
                if slide is None:
                    broken.append(number)
                    continue
                if slide.get("show") in ("0", "false"):
                    hidden.append(number)
                says, has_picture = _write_slide(slide, notes, pack, linked, out)
                if not says:
                    (pictures if has_picture else empty).append(number)
        warnings = [f"{numbered('slide', broken)}: broken or missing in the file, left out"] if broken else []
        if hidden:
            warnings.append(f"{numbered('slide', hidden)}: hidden in the presentation, read all the same")
        if pictures:
            warnings.append(f"{numbered('slide', pictures)}: only pictures, their text is not read")
        if not out.n_chars:
            raise UnreadableFile(
                "; ".join([f"no text on any of its {len(slides)} slides", *warnings]) + ".",
                hint="If the slides are pictures, run text recognition (OCR) and add the result.",
            )
        return FileFacts(
            title=title,
            media_type=self.media_type,
            warnings=(*warnings, *out.replaced.notes()),
            n_pages=len(slides),
            empty_pages=tuple(empty),
            picture_pages=tuple(pictures),
        )


def _slide_parts(presentation: Any, linked: dict[str, Relation]) -> list[str]:
    """Names of the slides' parts in the order they are shown; empty for one that the file does not name."""
    listed = [element.get(_R + "id") or "" for element in presentation.iterfind(f"{_P}sldIdLst/{_P}sldId")]
    return [linked[ident].part if ident in linked else "" for ident in listed]


def _notes(pack: Package, linked: dict[str, Relation]) -> str:
    for relation in linked.values():
        if relation.kind == "notesSlide" and (root := pack.xml(relation.part)) is not None:
            return "\n".join(
                text for shape in _shapes(root) if _placeholder(shape) == "body" and (text := _text_of(shape))
            )
    return ""


def _write_slide(
    slide: Any, notes: str, pack: Package, linked: dict[str, Relation], out: TextSink
) -> tuple[bool, bool]:
    """(whether it says anything, whether it shows a picture)."""
    content = _Slide()
    for shape in _shapes(slide):
        _take(shape, content, pack, linked)
    texts = [content.title, *content.blocks, f"Notes: {notes}" if notes else ""]
    wrote = [out.add(text) for text in texts]
    return any(wrote), content.has_picture


def _shapes(root: Any) -> Iterator[Any]:
    """Shapes, groups opened, in the order that the file keeps and screen readers follow."""
    tree = root.find(f"{_P}cSld/{_P}spTree")
    stack = [iter(tree)] if tree is not None else []
    while stack:
        shape = next(stack[-1], None)
        if shape is None:
            stack.pop()
        elif shape.tag in (_P + "grpSp", _MC + "AlternateContent", _MC + "Choice"):
            stack.append(iter(shape))
        elif shape.tag in (_P + "sp", _P + "graphicFrame", _P + "pic", _P + "cxnSp"):
            yield shape


def _take(shape: Any, content: _Slide, pack: Package, linked: dict[str, Relation]) -> None:
    kind = _placeholder(shape)
    if shape.tag == _P + "pic":
        content.has_picture = True
    elif shape.tag == _P + "graphicFrame":
        table, chart, diagram = (shape.find(f".//{tag}") for tag in (_A + "tbl", _C + "chart", _DIAGRAM_DATA))
        if table is not None:
            content.blocks.append("\n".join(_table_rows(table)))
        elif chart is not None and (ident := chart.get(_R + "id")) in linked:
            content.blocks.append(_chart_text(_part_or_none(pack, linked[ident].part)))
        elif diagram is not None and (ident := diagram.get(_R + "dm")) in linked:
            root = _part_or_none(pack, linked[ident].part)
            content.blocks.append("\n".join(_paragraphs(root)) if root is not None else "")
        elif shape.find(f".//{_P}pic") is not None:
            content.has_picture = True
    elif kind in _TITLES and not content.title:
        content.title = _text_of(shape).replace("\n", " ")
    elif kind not in _FURNITURE:
        content.has_picture = content.has_picture or shape.find(f".//{_A}blip") is not None
        content.blocks.append(_text_of(shape))


def _part_or_none(pack: Package, name: str) -> Any:
    """A part that the slide can do without."""
    try:
        return pack.xml(name)
    except SyntaxError:
        return None


def _placeholder(shape: Any) -> str:
    """What the shape stands for: ``title``, ``body``; empty for a free one."""
    found = shape.find(f".//{_P}nvPr/{_P}ph")
    return (found.get("type") or "obj") if found is not None else ""


def _text_of(shape: Any) -> str:
    body = shape.find(_P + "txBody")
    return "\n".join(_paragraphs(body)) if body is not None else ""


def _paragraphs(container: Any) -> Iterator[str]:
    for paragraph in container.iter(_A + "p"):
        parts = []
        for element in paragraph.iter(_A + "t", _A + "br", _A + "tab"):
            parts.append(
                (element.text or "") if element.tag == _A + "t" else "\n" if element.tag == _A + "br" else "\t"
            )
        text = "".join(parts).strip()
        if text:
            yield text


def _table_rows(table: Any) -> Iterator[str]:
    for row in table.iterfind(_A + "tr"):
        cells = [" ".join(" ".join(_paragraphs(cell)).split()) for cell in row.iterfind(_A + "tc")]
        if any(cells):
            yield " | ".join(cells)


def _chart_text(root: Any) -> str:
    """Title and the values that the chart was last drawn with, a series a line."""
    if root is None:
        return ""
    title = root.find(f"{_C}chart/{_C}title")
    lines = [" ".join(_paragraphs(title))] if title is not None else []
    for series in root.iter(_C + "ser"):
        name = " ".join(_values(series.find(_C + "tx")))
        labels, values = _values(series.find(_C + "cat")), _values(series.find(_C + "val"))
        pairs = [f"{label} {value}" for label, value in zip(labels, values, strict=False)] or values
        if pairs:
            lines.append(f"{name}: {', '.join(pairs)}" if name else ", ".join(pairs))
    return "\n".join(lines)


def _values(element: Any) -> list[str]:
    points = element.iter(_C + "v") if element is not None else ()
    return [text for point, _ in zip(points, range(_MOST_POINTS), strict=False) if (text := (point.text or "").strip())]
