"""Each reader's own matters: places, rows, tables, and what is refused with which words."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from backend.corpus.files import ParsedDocument, SourceFile, UnreadableFile
from backend.corpus.readers import FORMATS_READ, read_file
from tests.unit.corpus.made import docx_bytes, docx_of, pdf_bytes


def read(name: str, data: str | bytes) -> ParsedDocument:
    return read_file(SourceFile(name, data.encode() if isinstance(data, str) else data))


def places(document: ParsedDocument) -> dict[str, str]:
    return {s.place: document.text[s.start : s.end].strip() for s in document.sections}


def refusal(name: str, data: str | bytes) -> str:
    with pytest.raises(UnreadableFile) as caught:
        read(name, data)
    assert caught.value.hint or "no text" in caught.value.message
    return str(caught.value)


# ── Markdown ──


def test_markdown_headings_are_places() -> None:
    document = read(
        "a.md",
        "intro\n\n# Care #\nwater\n## Winter\nfleece\n```\n# no heading\n```\n# Tools\nspade\n\n"
        "Old style\n=========\nrake\nLower\n---\nhoe\n",
    )
    assert places(document) == {
        "Care": "# Care #\nwater",
        "Care > Winter": "## Winter\nfleece\n```\n# no heading\n```",
        "Tools": "# Tools\nspade",
        "Old style": "Old style\n=========\nrake",
        "Old style > Lower": "Lower\n---\nhoe",
    }
    assert document.title == "Care"
    assert document.text.startswith("intro")


def test_markdown_front_matter_gives_the_title_and_lists_no_heading() -> None:
    document = read("a.md", '---\ntitle: "The weir"\ndate: 2020\n---\n# Other\n- item\n---\ntext\n')
    assert document.title == "The weir"
    assert [s.place for s in document.sections] == ["Other"]


# ── PDF ──


def test_pdf_pages_are_places_and_an_empty_page_is_counted() -> None:
    document = read("a.pdf", pdf_bytes(["First page.", "", "Third page."]))
    assert places(document) == {"page 1": "First page.", "page 3": "Third page."}
    assert document.warnings == ("1 of 3 pages without text (page 2)",)


def test_pdf_without_text_is_refused_and_blank_is_not_called_a_scan() -> None:
    assert "no text found on any of its 2 pages: blank" in refusal("a.pdf", pdf_bytes(["", ""]))


def test_pdf_by_content_whatever_the_name_and_a_false_pdf_is_named() -> None:
    assert read("report.txt", pdf_bytes(["Inside."])).media_type == "application/pdf"
    assert "broken PDF" in refusal("a.pdf", "just words")
    assert "broken PDF" in refusal("a.pdf", pdf_bytes(["x"])[:60])


# ── DOCX ──


def _word_document() -> bytes:
    import docx

    document = docx.Document()
    document.add_heading("Pump", level=1)
    document.add_paragraph("Before the table.")
    table = document.add_table(rows=2, cols=2)
    for at, text in enumerate(["Part", "Torque", "Base bolt", "31 Nm"]):
        table.cell(at // 2, at % 2).text = text
    document.add_heading("Seals", level=2)
    outer = document.add_table(rows=1, cols=1)
    outer.cell(0, 0).text = "Codes"
    nested = outer.cell(0, 0).add_table(rows=1, cols=2)
    nested.cell(0, 0).text = "amber"
    nested.cell(0, 1).text = "19"
    document.add_paragraph("After.")
    return docx_of(document)


def test_word_tables_stand_where_they_stand_and_headings_are_places() -> None:
    document = read("pump.docx", _word_document())
    assert document.text == (
        "Pump\n\nBefore the table.\n\nPart | Torque\nBase bolt | 31 Nm\n\nSeals\n\nCodes amber | 19\n\nAfter."
    )
    assert list(places(document)) == ["Pump", "Pump > Seals"]


def test_word_by_content_whatever_the_name() -> None:
    assert read("old.doc", docx_bytes("Inside.")).text == "Inside."
    assert read("noname", docx_bytes("Inside.")).text == "Inside."


def test_word_text_in_content_controls_and_insertions_is_read_and_deleted_text_is_not() -> None:
    source = docx_bytes("HERE")
    body = (
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
        "<w:p><w:ins><w:r><w:t>New</w:t></w:r></w:ins><w:del><w:r><w:delText>Old</w:delText></w:r></w:del>"
        "<w:r><w:tab/><w:t>text</w:t></w:r></w:p>"
    )
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(source)) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            content = old.read(info)
            if info.filename == "word/document.xml":
                content = content.replace(b"<w:body>", b"<w:body>" + body.encode())
            new.writestr(info.filename, content)
    assert read("a.docx", target.getvalue()).text == "In a control.\n\nNew\ttext\n\nHERE"


def test_a_false_word_document_is_named() -> None:
    assert "not a Word document" in refusal("a.docx", "just words")
    assert "broken Word document" in refusal("a.docx", _with_body(b"<w:document"))


def _with_body(body: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("word/document.xml", body)
    return target.getvalue()


# ── HTML ──


def test_html_keeps_what_is_seen() -> None:
    document = read(
        "a.html",
        """<!doctype html><html><head><title> The
        weir </title><style>p {color: red}</style></head><body><script>let hidden = 1</script><!-- no -->
        <h1>Weir</h1><p>Built in <b>spring</b>,<br>mended in May.</p><p hidden>secret</p>
        <h2>Parts</h2><table><tr><th>Part</th><th>Size</th></tr><tr><td><p>Gate</p></td><td>2 m</td></tr></table>
        <ul><li>one</li><li>two</li></ul><pre>a  b
  c</pre></body></html>""",
    )
    assert document.title == "The weir"
    assert document.text == (
        "Weir\n\nBuilt in spring,\nmended in May.\n\nParts\n\nPart | Size\nGate | 2 m\n\n- one\n- two\n\na  b\n  c"
    )
    assert list(places(document)) == ["Weir", "Weir > Parts"]


def test_html_by_content_in_a_declared_charset_and_as_xml() -> None:
    page = '<html><meta charset="iso-8859-2"><body>Žluťoučký kůň</body></html>'
    assert read("a.txt", page.encode("iso8859-2")).text == "Žluťoučký kůň"
    assert read("b.xhtml", f'<?xml version="1.0" encoding="utf-8"?>\n{page}').text == "Žluťoučký kůň"
    assert read("c.html", page.encode("utf-16")).text == "Žluťoučký kůň"


def test_html_nested_without_end_is_no_trap() -> None:
    assert read("a.html", "<html><body>" + "<div>" * 3000 + "deep").text == "deep"


# ── CSV ──


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_delimiters(delimiter: str) -> None:
    rows = [["id", "text", "note"], ["1", "The gate, and the weir; both.", "x"], ["2", "Eels are counted.", "y"]]
    lines = [delimiter.join(f'"{cell}"' for cell in row) for row in rows]
    assert places(read("a.csv", "\r\n".join(lines))) == {
        "row 1": "The gate, and the weir; both.",
        "row 2": "Eels are counted.",
    }


def test_csv_rows_keep_their_numbers_and_empty_ones_are_counted() -> None:
    document = read("a.csv", 'id,text\n1,one\n2,\n3,three\n\n5,"  "\n6,"six\nlines"\n\n')
    assert places(document) == {"row 1": "one", "row 3": "three", "row 6": "six\nlines"}
    assert document.warnings == ("rows 2, 4 and 5 are empty (3 left out)",)
    assert all(section.is_row for section in document.sections)


def test_csv_text_column_by_name_else_the_longest_texts_else_all() -> None:
    by_name = read("a.csv", "remark,Content\nsomething much longer than the text itself,short\n")
    assert by_name.text == "short"
    longest = read("b.csv", "id,remark\n1,the gate is shut at night\n2,the key hangs by the door\n")
    assert longest.text == "the gate is shut at night\n\nthe key hangs by the door"
    assert longest.warnings == ("the text is taken from the column “remark”",)
    values = read("c.csv", "name,city\nBaxter,Leon\nPreston,Chester\n")
    assert values.text == "name: Baxter\ncity: Leon\n\nname: Preston\ncity: Chester"
    assert "all columns" in values.warnings[0]


def test_csv_title_and_text_are_joined() -> None:
    assert read("a.csv", "title,text\nGates,Shut at night.\n,No title.\n").text == "Gates Shut at night.\n\nNo title."


def test_csv_without_header_loses_no_row() -> None:
    document = read("a.csv", "1,The mill race is cleaned in March.\n2,The sluice key hangs by the door.\n")
    assert list(places(document)) == ["row 1", "row 2"]
    assert "no header recognised: the first line is read as row 1" in document.warnings


def test_csv_one_column_with_commas_in_it() -> None:
    document = read("a.csv", "query\nWhen is it cleaned, and why?\nWhere, when, how?\n")
    assert places(document) == {"row 1": "When is it cleaned, and why?", "row 2": "Where, when, how?"}


def test_csv_unquoted_commas_in_the_last_column_are_kept() -> None:
    document = read("a.csv", "id,text\n1,The gate, the weir, the key.\n2,Eels.\n")
    assert places(document)["row 1"] == "The gate, the weir, the key."
    assert "row 1: more cells than the header, joined into the last column" in document.warnings


def test_csv_huge_cells_and_broken_quotes() -> None:
    huge = "word " * 60_000
    assert read("a.csv", f"id,text\n1,{huge}\n2,short\n").text.endswith("short")
    broken = read("b.csv", 'id,text\n1,"torn" tail\n2,fine\n')
    assert "fine" in broken.text
    assert "quotation marks do not match near line 2" in broken.warnings[0]


# ── JSON ──


def test_beir_lines_are_title_one_space_text() -> None:
    lines = '{"_id": "4", "title": "Gates", "text": "Shut at night."}\n\n{"_id": "5", "title": "", "text": "Eels."}\n'
    assert places(read("corpus.jsonl", lines)) == {"line 1": "Gates Shut at night.", "line 3": "Eels."}


def test_a_broken_line_is_named_and_the_rest_goes_on() -> None:
    document = read("a.jsonl", '{"text": "one"}\n{"text": "torn\n"three"\n{"text": ""}\n[1]\n{"text": "six \\ud83d"}\n')
    assert places(document) == {"line 1": "one", "line 3": "three", "line 6": "six \ufffd"}
    assert document.warnings == (
        "line 2: not valid JSON, left out (1)",
        "1 lone surrogate replaced",
        "lines 4 and 5 are empty (2 left out)",
    )


def test_json_lists_and_objects_that_hold_one() -> None:
    assert places(read("a.json", '[{"body": "one"},\n {"body": "two"}]')) == {"item 1": "one", "item 2": "two"}
    assert places(read("b.json", '{"v": 1, "documents": [{"text": "one"}, {"text": "two"}]}'))["item 2"] == "two"
    assert read("c.json", '{"text": ["a", "b"], "n": 3}').text == "a\nb"
    assert read("d.txt", '{"text": "one"}\n{"text": "two"}\n').media_type == "application/jsonl"
    assert read("e.txt", "{braces} are text here").media_type == "text/plain"
    assert "no text" in refusal("f.json", "[1, 2, 3]")
    assert "not valid JSON" in refusal("g.jsonl", "{torn\n")
    assert "[" * 10 not in refusal("h.json", "[" * 100_000)


# ── refused ──


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.txt", b"", "0 bytes"),
        ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(50), "picture"),
        ("a.txt", b"\x7fELF" + bytes(50), "program"),
        ("a.mp4", b"\x00\x00\x00\x20ftypisom" + bytes(50), "film"),
        ("a.gz", b"\x1f\x8b\x08" + bytes(50), "gzip"),
        ("a.bin", bytes(range(256)) * 4, "binary"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument".encode("utf-16-le"), ".docx or PDF"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "Workbook".encode("utf-16-le"), ".xlsx or CSV"),
        ("a.ppt", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "PowerPoint Document".encode("utf-16-le"), ".pptx or PDF"),
        ("a.msg", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "__substg1.0_0037".encode("utf-16-le"), ".eml or text"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "password"),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "password"),
        ("a.ipynb", b'{"cells": []}', "notebook"),
    ],
)
def test_what_is_not_read_is_refused_with_the_way_out(name: str, data: bytes, says: str) -> None:
    assert says in refusal(name, data)


@pytest.mark.parametrize(
    ("inside", "says"),
    [
        (["word/document.xml"], "a broken Word document"),
        (["xl/workbook.xml"], "a broken Excel workbook"),
        (["xl/workbook.bin"], "a binary Excel workbook (.xlsb). Save it as .xlsx or CSV."),
        (["ppt/presentation.xml"], "a broken PowerPoint presentation"),
        (["META-INF/container.xml", "mimetype"], "a broken EPUB book"),
        (["content.xml", "mimetype"], "a broken OpenDocument file"),
        (["Index/Document.iwa", "preview.jpg"], "Pages, Numbers or Keynote. Export it as PDF"),
        (["notes/a.txt"], f"a ZIP archive. Unpack it and add the files. Ragduel reads {FORMATS_READ}."),
    ],
)
def test_archives_are_told_by_what_is_inside(inside: list[str], says: str, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in inside:
            archive.writestr(name, "x")
    assert says in refusal("a.zip", path.read_bytes())
