"""How fast a PDF becomes text: ``.venv/bin/python benchmarks/pdf_text.py``.

Makes a 1,000-page PDF of several kinds of pages, then reads it in turns with PDFium alone (the loop that a user of the
library would write), with the app's reader (text and places on disk), and in the reading process. Prints a Markdown
table; the ratio to PDFium alone must be 1.3 at most. Each way's fastest round counts: what else runs on the machine can
only make a round slower.
"""

from __future__ import annotations

import argparse
import io
import random
import re
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

BOUND = 1.3
FONT, TURNED_FONT, FIRST_PAGE = 3, 4, 8
WORDS = re.findall(
    r"\w+",
    """
    water gate weir spring mill sluice key meadow winter frost repair ledger keeper lantern barrel timber stone bridge
    channel harvest market village record season measure notice visit account remain follow extend settle between
    """,
)
LETTERS = "אבגדהוזחטיכלמנסעפצקרשת"


def line(random_words: random.Random, n_words: int) -> str:
    return " ".join(random_words.choice(WORDS) for _ in range(n_words)).capitalize()


def prose(r: random.Random) -> bytes:
    """A page of a book: 44 lines, some of them ending in a hyphen."""
    texts = [line(r, 12) + ("-" if at % 9 == 4 else ".") for at in range(44)]
    return b"BT /F1 10 Tf 14 TL 60 740 Td " + b" T* ".join(b"(%s) Tj" % text.encode() for text in texts) + b" ET"


def columns(r: random.Random) -> bytes:
    """Two columns of 50 lines."""
    blocks = []
    for x in (50, 320):
        texts = b" T* ".join(b"(%s) Tj" % line(r, 6).encode() for _ in range(50))
        blocks.append(b"BT /F1 9 Tf 13 TL %d 740 Td %s ET" % (x, texts))
    return b"\n".join(blocks)


def table(r: random.Random) -> bytes:
    """40 rows of 5 cells, each cell placed by itself, with rules between."""
    cells = []
    for row in range(40):
        y = 740 - 17 * row
        cells += [
            b"BT /F1 9 Tf %d %d Td (%s) Tj ET" % (60 + 100 * column, y, (line(r, 2) + f" {row}").encode())
            for column in range(5)
        ]
        cells.append(b"60 %d 480 0.5 re f" % (y - 5))
    return b"\n".join(cells)


def kerned(r: random.Random) -> bytes:
    """Justified setting: every word with its own spacing."""
    rows = []
    for _ in range(42):
        parts = b" -300 ".join(b"(%s) %d (%s)" % (w[:2].encode(), r.randint(-20, 20), w[2:].encode())
                               for w in line(r, 11).split())  # fmt: skip
        rows.append(b"[%s] TJ" % parts)
    return b"BT /F1 10 Tf 14 TL 60 740 Td " + b" T* ".join(rows) + b" ET"


def hebrew(r: random.Random) -> bytes:
    """A page from right to left: glyphs as they stand, with what the font says of them."""
    rows = []
    for _ in range(30):
        codes = [r.choice([*range(1, len(LETTERS) + 1), 99]) for _ in range(60)]
        rows.append(b"<%s> Tj" % b"".join(b"%04x" % code for code in codes))
    return b"BT /F2 10 Tf 18 TL 60 740 Td " + b" T* ".join(rows) + b" ET"


def drawing(_: random.Random) -> bytes:
    """A page that is a picture."""
    return b"".join(b"%d %d 8 8 re f\n" % (60 + 10 * (n % 40), 100 + 10 * (n // 40)) for n in range(600))


KINDS: tuple[tuple[Callable[[random.Random], bytes], int], ...] = (
    (prose, 50), (columns, 20), (table, 10), (kerned, 16), (hebrew, 2), (drawing, 1), (lambda _: b"", 1),
)  # fmt: skip
"""Pages and how many of each hundred."""


def make_pdf(path: Path, n_pages: int) -> None:
    r = random.Random(7)
    objects: dict[int, bytes] = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        FONT: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        TURNED_FONT: b"<< /Type /Font /Subtype /Type0 /BaseFont /Made /Encoding /Identity-H /DescendantFonts [5 0 R] "
        b"/ToUnicode 6 0 R >>",
        5: b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Made /DW 500 /FontDescriptor 7 0 R "
        b"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
        7: b"<< /Type /FontDescriptor /FontName /Made /Flags 4 /FontBBox [0 -200 1000 800] /ItalicAngle 0 "
        b"/Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
    }
    mapped = [*enumerate(LETTERS, 1), (99, " ")]
    letters = b"".join(b"<%04x> <%s>\n" % (code, char.encode("utf-16-be").hex().encode()) for code, char in mapped)
    cmap = b"begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange %d beginbfchar\n%sendbfchar endcmap" % (
        len(mapped),
        letters,
    )
    objects[6] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(cmap), cmap)
    kinds = [kind for kind, share in KINDS for _ in range(share)]
    r.shuffle(kinds)
    for n in range(n_pages):
        packed = zlib.compress(kinds[n % len(kinds)](r))
        at = FIRST_PAGE + 2 * n
        objects[at] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 %d 0 R /F2 %d 0 R >> >> >>" % (at + 1, FONT, TURNED_FONT)
        )
        objects[at + 1] = b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(packed), packed)
    kids = b" ".join(b"%d 0 R" % (FIRST_PAGE + 2 * n) for n in range(n_pages))
    objects[2] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, n_pages)
    out = io.BytesIO(b"%PDF-1.7\n")
    out.seek(0, io.SEEK_END)
    offsets = []
    for number in sorted(objects):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, objects[number]))
    xref = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % offset for offset in offsets)
    out.write(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, xref))
    path.write_bytes(out.getvalue())


def alone(path: Path) -> Iterator[str]:
    """The loop that a user of the library would write."""
    import pypdfium2

    with pypdfium2.PdfDocument(path) as document:
        for page in document:
            text_page = page.get_textpage()
            yield text_page.get_text_range()
            text_page.close()
            page.close()


def ways(path: Path, folder: Path) -> dict[str, Callable[[], object]]:
    from backend.corpus import reading
    from backend.corpus.files import SourceFile

    file = SourceFile("made.pdf", path)
    found: dict[str, Callable[[], object]] = {
        "PDFium alone": lambda: (folder / "alone").write_text("\n\n".join(alone(path)), encoding="utf-8"),
        "the app's reader": lambda: reading.InProcessReading().read(file, folder),
    }
    if hasattr(reading, "ProcessReading"):
        process = reading.ProcessReading()
        found["the app's reader in the reading process"] = lambda: process.read(file, folder)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        path = folder / "made.pdf"
        make_pdf(path, arguments.pages)
        to_time = ways(path, folder)
        seconds: dict[str, list[float]] = {name: [] for name in to_time}
        for turn in range(arguments.rounds + 1):
            for name, work in to_time.items():
                started = time.perf_counter()
                work()
                if turn:  # the first one imports and starts what there is to start
                    seconds[name].append(time.perf_counter() - started)
        n_chars = len((folder / "alone").read_text(encoding="utf-8"))
        size_mb = path.stat().st_size / 1e6
    base = seconds["PDFium alone"]
    print(f"{arguments.pages:,} pages, {size_mb:.1f} MB, {n_chars:,} characters, {arguments.rounds} rounds in turns\n")
    print("| what | fastest round | pages a second | ratio to PDFium alone | ratios of the rounds | bound |")
    print("| --- | --- | --- | --- | --- | --- |")
    too_slow = False
    for name, times in seconds.items():
        ratio = min(times) / min(base)
        rounds = sorted(own / other for own, other in zip(times, base, strict=True))
        bound = "" if times is base else f"{BOUND}"
        too_slow |= ratio > BOUND
        pace = f"{min(times):.2f} s | {arguments.pages / min(times):,.0f}"
        print(f"| {name} | {pace} | {ratio:.2f} | {rounds[0]:.2f} to {rounds[-1]:.2f} | {bound} |")
    if too_slow:
        sys.exit(f"Slower than {BOUND} times PDFium alone.")


if __name__ == "__main__":
    main()
