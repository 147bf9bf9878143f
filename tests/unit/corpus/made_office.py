"""Small office documents, books and messages made for tests, part by part."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence

REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"


def zipped(parts: Mapping[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return target.getvalue()


def with_parts(data: bytes, parts: Mapping[str, str | bytes]) -> bytes:
    """A ZIP with these parts in place of, or beside, its own."""
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        return zipped({**{name: old.read(name) for name in old.namelist()}, **parts})


def rels(*targets: tuple[str, str]) -> str:
    """Relationships ``rId1``, ``rId2``, … to (kind, target)."""
    inner = "".join(
        f'<Relationship Id="rId{n}" Type="{REL}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{_RELS}">{inner}</Relationships>'


# ── PowerPoint ──


def paragraphs(*texts: str) -> str:
    inner = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in texts)
    return f"<p:txBody><a:bodyPr/>{inner}</p:txBody>"


def shape(*texts: str, kind: str = "") -> str:
    """A box of text; ``kind`` as in ``title``, ``body``, ``ftr``."""
    held = f'<p:ph type="{kind}"/>' if kind else ""
    return f"<p:sp><p:nvSpPr><p:nvPr>{held}</p:nvPr></p:nvSpPr>{paragraphs(*texts)}</p:sp>"


def slide(*shapes: str, attributes: str = "", root: str = "sld") -> str:
    return (
        f'<p:{root} xmlns:p="{_P}" xmlns:a="{_A}" xmlns:r="{REL}" {attributes}><p:cSld><p:spTree>'
        f"<p:nvGrpSpPr/><p:grpSpPr/>{''.join(shapes)}</p:spTree></p:cSld></p:{root}>"
    )


def pptx_bytes(slides: Sequence[str], parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """A presentation of slides made by ``slide``; the first is the file's last, so that order is not by name."""
    numbers = list(range(len(slides), 0, -1))
    ids = "".join(f'<p:sldId id="{256 + n}" r:id="rId{n}"/>' for n in range(1, len(slides) + 1))
    return zipped(
        {
            "_rels/.rels": rels(("officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f'<p:presentation xmlns:p="{_P}" xmlns:r="{REL}"><p:sldIdLst>{ids}</p:sldIdLst>'
            "</p:presentation>",
            "ppt/_rels/presentation.xml.rels": rels(*(("slide", f"slides/slide{n}.xml") for n in numbers)),
            **{f"ppt/slides/slide{n}.xml": xml for n, xml in zip(numbers, slides, strict=True)},
            **(parts or {}),
        }
    )


# ── Excel ──


def cell(reference: str, value: str, attributes: str = "") -> str:
    """A number, or with ``t="inlineStr"`` a text."""
    if "inlineStr" in attributes:
        return f'<c r="{reference}" {attributes}><is><t>{value}</t></is></c>'
    return f'<c r="{reference}" {attributes}><v>{value}</v></c>'


def row_of(number: int, *texts: str) -> str:
    """A row of texts from column A; empty ones are no cells."""
    cells = "".join(cell(f"{chr(65 + at)}{number}", text, 't="inlineStr"') for at, text in enumerate(texts) if text)
    return f'<row r="{number}">{cells}</row>'


def sheet(*rows: str, after: str = "") -> str:
    return f'<worksheet xmlns="{_S}"><sheetData>{"".join(rows)}</sheetData>{after}</worksheet>'


def xlsx_bytes(
    sheets: Mapping[str, str], parts: Mapping[str, str | bytes] | None = None, states: Mapping[str, str] | None = None
) -> bytes:
    """A workbook of sheets made by ``sheet``, with styles: plain, date, date and time, per cent, own date, days."""
    listed = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}" state="{(states or {}).get(name, "visible")}"/>'
        for n, name in enumerate(sheets, start=1)
    )
    styles = (
        f'<styleSheet xmlns="{_S}"><numFmts><numFmt numFmtId="164" formatCode="dd\\.mm\\.yyyy;@"/>'
        '<numFmt numFmtId="165" formatCode="#,##0.00 &quot;days&quot;"/></numFmts><cellXfs>'
        + "".join(f'<xf numFmtId="{ident}"/>' for ident in (0, 14, 22, 9, 164, 165))
        + "</cellXfs></styleSheet>"
    )
    targets = [("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)]
    return zipped(
        {
            "_rels/.rels": rels(("officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": f'<workbook xmlns="{_S}" xmlns:r="{REL}"><sheets>{listed}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": rels(
                *targets, ("styles", "styles.xml"), ("sharedStrings", "sharedStrings.xml")
            ),
            "xl/styles.xml": styles,
            "xl/sharedStrings.xml": f'<sst xmlns="{_S}"/>',
            **{f"xl/worksheets/sheet{n}.xml": xml for n, xml in enumerate(sheets.values(), start=1)},
            **(parts or {}),
        }
    )


# ── OpenDocument ──


def odf_bytes(body: str, kind: str = "text", parts: Mapping[str, str | bytes] | None = None, styles: str = "") -> bytes:
    """A document of ``text``, ``spreadsheet``, ``presentation`` or ``drawing``."""
    names = ("office", "text", "table", "presentation", "style", "meta", "manifest")
    spaces = " ".join(f'xmlns:{name}="{_ODF}:{name}:1.0"' for name in names) + f' xmlns:draw="{_ODF}:drawing:1.0"'
    content = (
        f"<office:document-content {spaces}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    return zipped({"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content, **(parts or {})})


# ── EPUB ──


def page(body: str, title: str = "t") -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>{title}</title></head><body>{body}</body></html>'
    )


def epub_bytes(
    chapters: Mapping[str, str], nav: str = "", ncx: str = "", parts: Mapping[str, str | bytes] | None = None
) -> bytes:
    """A book: file name and body of each chapter in reading order, a nav list or an NCX map for its contents."""
    items = [(f"c{n}", name, "application/xhtml+xml", "") for n, name in enumerate(chapters, start=1)]
    spine = "".join(f'<itemref idref="{ident}"/>' for ident, *_ in items)
    more: dict[str, str] = {}
    if nav:
        items.append(("nav", "nav.xhtml", "application/xhtml+xml", "nav"))
        more["OPS/nav.xhtml"] = page(f'<nav epub:type="toc"><ol>{nav}</ol></nav>')
    if ncx:
        items.append(("ncx", "toc.ncx", "application/x-dtbncx+xml", ""))
        more["OPS/toc.ncx"] = f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{ncx}</navMap></ncx>'
    listed = "".join(
        f'<item id="{i}" href="{href}" media-type="{kind}" properties="{what}"/>' for i, href, kind, what in items[::-1]
    )
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        f"<dc:title>The mill</dc:title></metadata><manifest>{listed}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    )
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "OPS/book.opf": opf,
            **{f"OPS/{name}": page(body) for name, body in chapters.items()},
            **more,
            **(parts or {}),
        }
    )


# ── notebooks ──


def notebook_bytes(*cells: Mapping[str, object]) -> bytes:
    whole = {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1).encode()


# ── subtitles ──


def cue(number: int, at: str, *lines: str) -> str:
    return f"{number}\n{at},000 --> {at},900\n" + "\n".join(lines) + "\n\n"
