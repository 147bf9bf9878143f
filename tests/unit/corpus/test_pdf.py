"""PDF: pages and what they hold, reading order, letters that are not told, refusals."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.corpus import ParsedDocument, SourceFile, UnreadableFile, read_file
from backend.corpus.files import Reading, ReadLimits
from backend.corpus.readers.pdf_rtl import Glyph, in_reading_order
from backend.corpus.readers.pdf_words import HYPHEN, reads_as_text, tidy
from backend.corpus.reading import ProcessReading
from tests.unit.corpus.made import pdf_bytes
from tests.unit.corpus.made_pdf import glyph_page, lines, one_page, pdf_of, self_drawing_pdf, stream


def read(data: bytes, reading: Reading | None = None) -> ParsedDocument:
    return read_file(SourceFile("a.pdf", data), reading or Reading())


def refusal(data: bytes, reading: Reading | None = None) -> UnreadableFile:
    with pytest.raises(UnreadableFile) as caught:
        read(data, reading)
    assert caught.value.hint
    return caught.value


# ── pages ──


def test_it_is_read_from_disk_as_from_memory(tmp_path: Path) -> None:
    data = pdf_bytes(["First page.", "", "Third page."])
    path = tmp_path / "upload"
    path.write_bytes(data)
    assert read_file(SourceFile("a.pdf", path)) == read(data)


def test_steps_tell_pages_and_the_most_of_pages_is_kept() -> None:
    told: list[tuple[str, int, int]] = []
    read(pdf_bytes(["a", "b"]), Reading(step=lambda *step: told.append(step)))
    assert told == [("page", 0, 2), ("page", 1, 2), ("page", 2, 2)]
    few = Reading(limits=ReadLimits(max_pages=2))
    assert "3 pages, the most of one file is 2" in refusal(pdf_bytes(["a", "b", "c"]), few).message


def test_a_blank_page_is_empty_and_a_drawn_one_is_a_picture() -> None:
    pages = pdf_bytes(["Words.", "", "x"]).replace(
        b"BT /F1 12 Tf 72 720 Td (x) Tj ET", b"0 0 0 rg 9 9 400 500 re f Q Q Q  "
    )
    document = read(pages)
    assert document.facts.n_pages == 3
    assert document.facts.empty_pages == (2,)
    assert document.facts.picture_pages == (3,)
    assert document.warnings == (
        "2 of 3 pages without text (pages 2 and 3); pictures: page 3, text recognition (OCR) is needed to read it",
    )


def test_a_white_ground_is_paper_and_thin_rules_are_no_picture() -> None:
    blank = one_page(b"1 1 1 rg 0 0 612 792 re f 0 0 0 rg 72 700 400 1 re f")
    assert "no text found on its only page: blank" in refusal(blank).message
    assert "no text found (scan?) on its only page" in refusal(one_page(b"0 0 0 rg 0 0 612 792 re f")).message
    shapes = b"".join(b"%d 700 4 6 re f " % x for x in range(72, 272, 8))
    assert "OCR" in refusal(one_page(shapes)).hint


def test_an_image_is_a_picture() -> None:
    image = stream(
        b"\x00", b"/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray"
    )
    data = one_page(b"q 612 0 0 792 0 0 cm /I Do Q", image, resources=b"/XObject << /I 6 0 R >>")
    assert "no text found (scan?)" in refusal(data).message


def test_text_beyond_the_paper_is_left_out() -> None:
    content = lines("Seen, for exam-", "ple.", "Seen too.") + b" BT /F1 12 Tf 72 -30 Td (printer mark) Tj ET"
    assert read(one_page(content)).text == "Seen, for example.\nSeen too."


def test_title_outline_notes_and_fields() -> None:
    data = pdf_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R /Outlines 8 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R 6 0 R 7 0 R] /Count 3 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
            b"/Resources << /Font << /F1 5 0 R >> >> /Annots [<< /Type /Annot /Subtype /Text /Rect [9 9 20 20] "
            b"/Contents (Check the seal.) >> << /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Ada) "
            b"/Rect [9 30 90 50] >> << /Type /Annot /Subtype /Link /Rect [9 60 90 70] /Contents (a link) >>] >>",
            stream(lines("A page.")),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            *[
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
                b"/Resources << /Font << /F1 5 0 R >> >> >>"
            ]
            * 2,
            b"<< /First 9 0 R /Last 9 0 R /Count 2 >>",
            b"<< /Title (Care) /Parent 8 0 R /Dest [6 0 R /Fit] /First 10 0 R /Last 10 0 R >>",
            b"<< /Title (Winter) /Parent 9 0 R /Dest [7 0 R /Fit] >>",
            b"<< /Title (The  weir) >>",
        ],
        b"/Info 11 0 R",
    )
    document = read(data)
    assert document.title == "The weir"
    assert [s.place for s in document.sections] == ["page 1", "page 2 · Care", "page 3 · Care > Winter"]
    assert document.text == "A page.\n\nCheck the seal.\n\nAda\n\nA page.\n\nA page."


def test_an_outline_that_leads_back_to_itself_comes_to_an_end() -> None:
    outline = [b"<< /First 7 0 R >>", b"<< /Title (a) /Next 7 0 R /First 7 0 R /Dest [3 0 R /Fit] >>"]
    document = read(one_page(lines("words"), *outline, catalogue=b"/Outlines 6 0 R"))
    assert document.text == "words"
    assert document.sections[0].place.startswith("page 1 · a")


def test_several_threads_may_read_at_once() -> None:
    data = pdf_bytes(["words"] * 30)
    texts: list[str] = []
    threads = [threading.Thread(target=lambda: texts.append(read(data).text)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == ["\n\n".join(["words"] * 30)] * 4


# ── words ──


@pytest.mark.parametrize(
    ("page", "becomes"),
    [
        (f"an exam{HYPHEN}ple here", "an example here"),
        ("an exam-\nple here", "an example here"),
        ("dan- \ngerous", "dangerous"),
        (f"well{HYPHEN}known, so well-known", "well-known, so well-known"),
        (f"Vor{HYPHEN}und Nachteile", "Vor- und Nachteile"),
        (f"Jean{HYPHEN}Paul", "Jean-Paul"),
        (f"page 3{HYPHEN}b", "page 3-b"),
        ("soft\u00adware, soft\u00ad\nware", "software, software"),
        ("o\ufb03ce \ufb01lled wa\ufb04e", "office filled waffle"),
        ("\uf0b7 first", "• first"),
        ("ends \r\nhere", "ends\nhere"),
        ("- a\n- b", "- a\n- b"),
    ],
)
def test_words_are_made_whole(page: str, becomes: str) -> None:
    assert tidy(page) == becomes


def test_a_word_parted_at_a_lines_end_is_whole_in_the_text() -> None:
    assert read(one_page(lines("This is an exam-", "ple of a word."))).text == "This is an example of a word."


@given(st.text(alphabet=st.characters(exclude_characters="\u00ad\ufffe\r"), max_size=60))
def test_tidying_keeps_what_is_no_line_end_hyphen_or_ligature(text: str) -> None:
    if "-" not in text and not any("\ue000" <= char <= "\ufb06" for char in text):
        kept, before = tidy(text).split("\n"), text.split("\n")
        assert kept[:-1] == [line.rstrip(" \t") for line in before[:-1]]
        assert kept[-1] == before[-1]


# ── letters that are not told ──


def test_glyphs_without_letters_are_unknown_not_guessed() -> None:
    codes = [ord(char) - 29 for char in "This is hidden text"]
    error = refusal(glyph_page(codes, {}, says=False))
    assert "no text that can be read on its only page" in error.message
    assert "OCR" in error.hint


def test_a_page_that_is_mostly_unknown_is_named() -> None:
    codes = [*[ord(char) - 29 for char in "this is hidden"], 900, 901]
    document = read(glyph_page(codes, {900: "ok", 901: "!"}))
    assert document.text.endswith("ok!")
    assert "\ufffd" in document.text
    assert "page 1: 8" in document.warnings[0]
    assert "OCR" in document.warnings[0]


def test_numbers_of_glyphs_that_are_ascii_are_read_on() -> None:
    assert reads_as_text("ThistextissetinanoldTeXfontwithoutnames")
    assert not reads_as_text("7KLVLVKLGGHQWH[W")
    assert not reads_as_text("7KLV\x03LV")
    assert not reads_as_text("")


def test_private_use_letters_are_unknown() -> None:
    document = read(glyph_page([1, 2, 2, 2], {1: "a", 2: "\ue123"}))
    assert "page 1: 75% of the characters" in document.warnings[0]


# ── right to left ──

SALAM = {1: "م", 2: "لا", 3: "س", 4: " ", 5: "h", 6: "(", 7: ")", 8: "1", 9: "2", 10: "א", 11: "ב"}


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize(
    ("codes", "becomes"),
    [
        ([1, 2, 3], "سلام"),
        ([1, 2, 3, 4, 3, 1], "مس سلام"),
        ([5, 5, 5, 4, 5, 4, 3, 1, 4, 5, 5], "hhh h مس hh"),
        ([8, 9, 4, 11, 10, 4, 10, 11], "בא אב 12"),
        ([6, 8, 9, 7, 4, 11, 10, 11], "באב (12)"),
        ([11, 10, 11, 10], "אבאב"),
        ([11, 10, 4, 8, 4, 9, 4, 10, 11], "בא 2 1 אב"),
    ],
)
def test_lines_from_the_right_are_in_reading_order(codes: list[int], becomes: str, mirrored: bool) -> None:
    assert read(glyph_page(codes, SALAM, mirrored=mirrored)).text == becomes


def test_a_word_on_one_glyph_is_kept_and_glyphs_without_text_add_nothing() -> None:
    letters = {1: "كتاب", 2: "", 3: "م", 4: "س"}
    assert read(glyph_page([3, 4], letters)).text == "سم"
    assert read(glyph_page([1, 2, 2, 2], letters)).text == "كتاب"


@given(st.lists(st.text(alphabet="אבגדהוזחט", min_size=1, max_size=6), min_size=1, max_size=6))
def test_hebrew_words_come_back_in_their_order(words: list[str]) -> None:
    line = " ".join(words)
    glyphs = [Glyph(char, 10.0 * at, 10.0 * at + 9.9, 12.0) for at, char in enumerate(reversed(line))]
    assert in_reading_order(glyphs) == line
    assert in_reading_order(glyphs[::-1]) == line


@given(st.lists(st.tuples(st.characters(), st.floats(0, 600), st.floats(0, 20)), max_size=30))
def test_any_glyphs_make_a_line(found: list[tuple[str, float, float]]) -> None:
    glyphs = [Glyph(char, left, left + width, 10.0) for char, left, width in found]
    assert isinstance(in_reading_order(glyphs), str)


# ── damage ──


def test_what_is_no_pdf_or_has_no_pages_is_refused() -> None:
    no_pages = pdf_of([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [] /Count 0 >>"])
    assert "broken PDF" in refusal(b"%PDF-1.4\nnothing").message
    assert "broken PDF" in refusal(no_pages).message


def test_a_form_that_draws_itself_twice_is_stopped_and_the_next_file_is_read(tmp_path: Path) -> None:
    reading = Reading(limits=ReadLimits(max_memory_bytes=300_000_000, max_seconds=30))
    process = ProcessReading(n_processes=1)
    try:
        with pytest.raises(UnreadableFile, match="memory"):
            process.read(SourceFile("a.pdf", self_drawing_pdf(times=2)), tmp_path, reading)
        good = process.read(SourceFile("b.pdf", pdf_bytes(["words"])), tmp_path, reading)
        assert good.text_path.read_text(encoding="utf-8") == "words"
    finally:
        process.close()


@given(st.data())
def test_a_pdf_with_changed_bytes_is_read_or_refused(data: st.DataObject) -> None:
    whole = bytearray(one_page(lines("Some words of a page.", "And more of them.")))
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        document = read_file(SourceFile("a.pdf", bytes(whole)))
    except UnreadableFile as error:
        assert error.message  # noqa: PT017
    else:
        assert document.text.strip()
