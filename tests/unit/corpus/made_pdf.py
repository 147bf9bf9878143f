"""PDFs made for tests, object by object: fonts that say their letters and fonts that do not, pictures, notes."""

from __future__ import annotations

from collections.abc import Sequence

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (entries, len(data), data)


def pdf_of(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    """Objects numbered from 1, the catalogue first; without a cross-reference table, which readers rebuild."""
    out = b"%PDF-1.7\n"
    for number, body in enumerate(objects, start=1):
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    return out + b"trailer\n<< /Size %d /Root 1 0 R %s >>\n%%%%EOF\n" % (len(objects) + 1, trailer)


def one_page(content: bytes, *more: bytes, font: bytes = FONT, page: bytes = b"", catalogue: bytes = b"",
             resources: bytes = b"") -> bytes:  # fmt: skip
    """A page of 612 x 792 points with the font /F1; ``more`` are the objects 6, 7, …"""
    return pdf_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalogue,
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R %s "
            b"/Resources << /Font << /F1 5 0 R >> %s >> >>" % (page, resources),
            stream(content),
            font,
            *more,
        ]
    )


def lines(*texts: str) -> bytes:
    """Lines of Helvetica below each other; a backslash escape stands as in a PDF string."""
    shown = " T* ".join(f"({text}) Tj" for text in texts)
    return f"BT /F1 12 Tf 14 TL 72 720 Td {shown} ET".encode("latin-1")


def glyph_page(codes: Sequence[int], letters: dict[int, str], *, mirrored: bool = False, says: bool = True) -> bytes:
    """Glyphs side by side from the left; ``letters`` is what the font says they stand for, if it ``says`` so."""
    mapped = b"".join(
        b"<%04x> <%s>\n" % (code, text.encode("utf-16-be").hex().encode()) for code, text in letters.items()
    )
    cmap = b"begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange %d beginbfchar\n%sendbfchar endcmap" % (
        len(letters), mapped
    )  # fmt: skip
    shown = b"".join(b"%04x" % code for code in codes)
    matrix = b"1 0 0 -1" if mirrored else b"1 0 0 1"
    content = b"BT /F1 12 Tf %s 72 700 Tm <%s> Tj ET" % (matrix, shown)
    font = b"<< /Type /Font /Subtype /Type0 /BaseFont /Made /Encoding /Identity-H /DescendantFonts [6 0 R] %s >>" % (
        b"/ToUnicode 7 0 R" if says else b""
    )
    descendant = (
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Made /DW 600 /FontDescriptor 8 0 R "
        b"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>"
    )
    descriptor = (
        b"<< /Type /FontDescriptor /FontName /Made /Flags 4 /FontBBox [0 -200 1000 800] /ItalicAngle 0 "
        b"/Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>"
    )
    return one_page(content, descendant, stream(cmap), descriptor, font=font)


def self_drawing_pdf(times: int) -> bytes:
    """A page whose form draws itself; PDFium follows it ``times`` to the power of its depth: for ever, from 2 on."""
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> "
    names = [b"/X%d" % n for n in range(times)]
    forms = [
        stream(
            b"BT /F1 12 Tf 72 600 Td (deep) Tj ET " + b"".join(name + b" Do " for name in names),
            form + b"/XObject << %s >> >>" % b" ".join(b"%s %d 0 R" % (name, 6 + n) for n, name in enumerate(names)),
        )
        for _ in range(times)
    ]
    return one_page(lines("words") + b" /X0 Do", *forms, resources=b"/XObject << /X0 6 0 R >>")
