"""Small files made for tests."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any


def pdf_bytes(pages: Sequence[str]) -> bytes:
    """A PDF with one line of Helvetica a page; an empty string is a page without text."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    kids = []
    font_at = 3 + 2 * len(pages)
    for text in pages:
        page_at = len(objects) + 1
        kids.append(f"{page_at} 0 R")
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode() if text else b""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {page_at + 1} 0 R "
            f"/Resources << /Font << /F1 {font_at} 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(pages)} >>".encode()
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    xref = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    for offset in offsets:
        out.write(b"%010d 00000 n \n" % offset)
    out.write(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, xref))
    return out.getvalue()


def docx_of(document: Any) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def docx_bytes(*paragraphs: str) -> bytes:
    """A Word document of plain paragraphs."""
    import docx

    document = docx.Document()
    for text in paragraphs:
        document.add_paragraph(text)
    return docx_of(document)
