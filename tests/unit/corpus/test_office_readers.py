"""Presentations, workbooks and OpenDocument files: what is kept, where it stands, what is refused."""

from __future__ import annotations

import pytest

from backend.corpus.files import ParsedDocument, Reading, ReadLimits, SourceFile, UnreadableFile
from backend.corpus.readers import read_file
from tests.unit.corpus.made_office import (
    cell,
    odf_bytes,
    paragraphs,
    pptx_bytes,
    rels,
    row_of,
    shape,
    sheet,
    slide,
    with_parts,
    xlsx_bytes,
)
from tests.unit.corpus.test_readers import places, read, refusal

PICTURE = "<p:pic><p:nvPicPr><p:nvPr/></p:nvPicPr></p:pic>"


def steps_of(name: str, data: bytes) -> list[tuple[str, int, int]]:
    told: list[tuple[str, int, int]] = []
    read_file(SourceFile(name, data), Reading(step=lambda *step: told.append(step)))
    return told


def limited(name: str, data: bytes, **limits: int) -> str:
    with pytest.raises(UnreadableFile) as caught:
        read_file(SourceFile(name, data), Reading(limits=ReadLimits(**limits)))  # type: ignore[arg-type]
    assert caught.value.hint
    return str(caught.value)


# ── PowerPoint ──


def test_slides_stand_in_the_order_they_are_shown_the_title_first() -> None:
    table = (
        "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc>"
        + paragraphs("Part").replace("p:txBody", "a:txBody")
        + "</a:tc><a:tc>"
        + paragraphs("Torque").replace("p:txBody", "a:txBody")
        + "</a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )
    group = f"<p:grpSp><p:nvGrpSpPr/>{shape('In a group.')}</p:grpSp>"
    both = (
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<mc:Choice>{shape('New.')}</mc:Choice><mc:Fallback>{shape('Old.')}</mc:Fallback></mc:AlternateContent>"
    )
    document = read(
        "a.pptx",
        pptx_bytes(
            [
                slide(shape("The gate is shut.", "At night."), shape("Gates", kind="title"), shape("9", kind="sldNum")),
                slide(table, group, both),
            ]
        ),
    )
    assert places(document) == {
        "slide 1": "Gates\n\nThe gate is shut.\nAt night.",
        "slide 2": "Part | Torque\n\nIn a group.\n\nNew.",
    }
    assert document.facts.n_pages == 2
    assert document.warnings == ()


def test_notes_charts_and_diagrams_belong_to_their_slide() -> None:
    c, dgm = ("http://schemas.openxmlformats.org/drawingml/2006/" + kind for kind in ("chart", "diagram"))
    a = "http://schemas.openxmlformats.org/drawingml/2006/main"
    frames = (
        f'<p:graphicFrame><a:graphic><a:graphicData><c:chart xmlns:c="{c}" r:id="rId2"/></a:graphicData></a:graphic>'
        f'</p:graphicFrame><p:graphicFrame><a:graphic><a:graphicData><d:relIds xmlns:d="{dgm}" r:dm="rId3"/>'
        "</a:graphicData></a:graphic></p:graphicFrame>"
    )
    values = "".join(f'<c:pt idx="{n}"><c:v>{n}</c:v></c:pt>' for n in (4, 5))
    chart = (
        f'<c:chartSpace xmlns:c="{c}" xmlns:a="{a}"><c:chart><c:title><a:p><a:r><a:t>Eels</a:t></a:r></a:p></c:title>'
        "<c:plotArea><c:ser><c:tx><c:v>Caught</c:v></c:tx><c:cat><c:v>May</c:v><c:v>June</c:v></c:cat>"
        f"<c:val>{values}</c:val></c:ser></c:plotArea></c:chart></c:chartSpace>"
    )
    diagram = f'<d:dataModel xmlns:d="{dgm}" xmlns:a="{a}"><a:p><a:r><a:t>Weir</a:t></a:r></a:p></d:dataModel>'
    notes = slide(shape("Say it slowly.", kind="body"), shape("7", kind="sldNum"), root="notes")
    data = pptx_bytes(
        [slide(shape("Counts", kind="title"), frames)],
        {
            "ppt/slides/_rels/slide1.xml.rels": rels(
                ("notesSlide", "../notesSlides/n.xml"), ("chart", "../charts/c.xml"), ("diagramData", "/ppt/d.xml")
            ),
            "ppt/notesSlides/n.xml": notes,
            "ppt/charts/c.xml": chart,
            "ppt/d.xml": diagram,
        },
    )
    assert read("a.pptx", data).text == "Counts\n\nEels\nCaught: May 4, June 5\n\nWeir\n\nNotes: Say it slowly."


def test_slides_without_text_hidden_and_broken_ones_are_told_apart() -> None:
    slides = [
        slide(shape("Shown.")),
        slide(PICTURE),
        slide(),
        slide(shape("Hidden."), attributes='show="0"'),
        "<p:sld",
    ]
    document = read("a.pptx", pptx_bytes(slides))
    assert document.text == "Shown.\n\nHidden."
    assert (document.facts.picture_pages, document.facts.empty_pages) == ((2,), (3,))
    assert document.warnings == (
        "slide 5: broken or missing in the file, left out",
        "slide 4: hidden in the presentation, read all the same",
        "slide 2: only pictures, their text is not read",
    )
    assert "no text on any of its 2 slides" in refusal("b.pptx", pptx_bytes([slide(PICTURE), slide()]))


def test_presentations_by_content_with_steps_and_a_most_of_slides() -> None:
    data = pptx_bytes([slide(shape("one")), slide(shape("two"))])
    assert read("talk.txt", data).text == "one\n\ntwo"
    assert steps_of("a.pptx", data) == [("slide", 1, 2), ("slide", 2, 2)]
    assert "2 slides, the most of one file is 1" in limited("a.pptx", data, max_pages=1)
    assert "not a PowerPoint presentation inside" in refusal("a.pptx", "just words")
    assert "broken PowerPoint presentation" in refusal("a.pptx", with_parts(data, {"ppt/presentation.xml": "<torn"}))


# ── Excel ──


def test_rows_under_a_header_are_records_and_titles_above_stand_apart() -> None:
    data = xlsx_bytes(
        {
            "Beds": sheet(
                row_of(1, "Garden plan"), row_of(3, "Bed", "Crop"), row_of(4, "North", "leeks"), row_of(7, "", "mint")
            )
        }
    )
    document = read("a.xlsx", data)
    assert places(document) == {
        "sheet Beds, row 1": "Garden plan",
        "sheet Beds, row 4": "Bed: North\nCrop: leeks",
        "sheet Beds, row 7": "Crop: mint",
    }
    assert [section.is_row for section in document.sections] == [False, True, True]
    assert (document.facts.n_pages, document.facts.n_records) == (1, 4)


def test_a_sheet_without_header_runs_on_in_groups_of_rows() -> None:
    rows = [row_of(n, f"Line {n} is a sentence.", "yes" if n % 2 else "") for n in range(1, 51)]
    document = read("a.xlsx", xlsx_bytes({"Free": sheet(*rows)}))
    assert list(places(document)) == ["sheet Free, rows 1–40", "sheet Free, rows 41–50"]
    assert document.text.startswith("Line 1 is a sentence. | yes\nLine 2 is a sentence.\n")
    assert not any(section.is_row for section in document.sections)


def test_a_column_named_text_is_a_list_of_records() -> None:
    document = read("a.xlsx", xlsx_bytes({"L": sheet(row_of(1, "text"), row_of(2, "Eels."), row_of(3, "The weir."))}))
    assert places(document) == {"sheet L, row 2": "Eels.", "sheet L, row 3": "The weir."}


def test_values_are_shown_as_people_see_them() -> None:
    cells = [
        cell("A1", "0", 't="s"'),
        cell("B1", "45413", 's="1"'),
        cell("C1", "45413.127777777779", 's="2"'),
        cell("D1", "0.25", 's="3"'),
        cell("E1", "45413", 's="4"'),
        cell("F1", "3.3000000000000003", 's="5"'),
        cell("G1", "1", 't="b"'),
        cell("H1", "#N/A", 't="e"'),
        '<c r="I1" t="str"><f>1&amp;2</f><v>12</v></c>',
        '<c r="J1"><f>SUM(A1)</f></c>',
        cell("K1", "7"),
        cell("L1", "0.5", 's="1"'),
        cell("M1", "1", 's="1"'),
    ]
    strings = (
        '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        "<si><r><t>rich </t></r><r><t>text</t></r><rPh><t>spoken</t></rPh></si></sst>"
    )
    data = xlsx_bytes({"V": sheet(f'<row r="1">{"".join(cells)}</row>')}, {"xl/sharedStrings.xml": strings})
    document = read("a.xlsx", data)
    assert document.text == (
        "rich text | 2024-05-01 | 2024-05-01 03:04:00 | 25% | 2024-05-01 | 3.3 | TRUE | #N/A | 12 | 7 | 12:00:00 | "
        "1900-01-01"
    )
    assert document.warnings == ("1 formulas have no stored value: open the workbook, save it, and add it again",)


def test_a_cell_that_reaches_down_stands_in_each_of_its_rows() -> None:
    merged = '<mergeCells><mergeCell ref="A2:A3"/><mergeCell ref="A1:B1"/></mergeCells>'
    rows = [row_of(1, "Bed", "Crop"), row_of(2, "North", "leeks"), row_of(3, "", "mint"), row_of(4, "", "beans")]
    document = read("a.xlsx", xlsx_bytes({"M": sheet(*rows, after=merged)}))
    assert list(places(document).values()) == ["Bed: North\nCrop: leeks", "Bed: North\nCrop: mint", "Crop: beans"]


def test_hidden_and_empty_sheets_are_told_and_every_sheet_is_a_step() -> None:
    sheets = {"A": sheet(row_of(1, "shown")), "B": sheet(), "C": sheet(row_of(1, "hidden"))}
    data = xlsx_bytes(sheets, states={"C": "veryHidden"})
    document = read("a.csv", data)
    assert places(document) == {"sheet A, row 1": "shown", "sheet C, row 1": "hidden"}
    assert document.warnings == ("hidden in the workbook, read all the same: sheet “C”",)
    assert (document.facts.n_pages, document.facts.empty_pages) == (3, (2,))
    assert steps_of("a.xlsx", data) == [("sheet", 1, 3), ("sheet", 2, 3), ("sheet", 3, 3)]
    assert "3 sheets, the most of one file is 2" in limited("a.xlsx", data, max_pages=2)
    assert "no text in any cell" in refusal("a.xlsx", xlsx_bytes({"A": sheet()}))


def test_a_sheet_may_have_so_many_rows_and_no_more() -> None:
    data = xlsx_bytes({"A": sheet(*(row_of(n, "x") for n in range(1, 12)))})
    assert "more than 10 rows" in limited("a.xlsx", data, max_records=10)


def test_strict_workbooks_and_rows_without_numbers_are_read() -> None:
    body = "<row><c t='inlineStr'><is><t>one</t></is></c><c t='inlineStr'><is><t>two</t></is></c></row>"
    data = xlsx_bytes({"A": sheet(body)})
    assert read("a.xlsx", data).text == "one | two"
    strict = {
        "xl/workbook.xml": '<workbook xmlns="http://purl.oclc.org/ooxml/spreadsheetml/main" '
        'xmlns:r="http://purl.oclc.org/ooxml/officeDocument/relationships"><sheets><sheet name="S" r:id="rId1"/>'
        "</sheets></workbook>",
        "xl/worksheets/sheet1.xml": sheet(body).replace(
            "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://purl.oclc.org/ooxml/spreadsheetml/main"
        ),
    }
    assert places(read("a.xlsx", with_parts(data, strict))) == {"sheet S, row 1": "one | two"}


# ── OpenDocument ──


def test_opendocument_text_in_reading_order() -> None:
    body = (
        "<text:tracked-changes><text:changed-region><text:p>Deleted.</text:p></text:changed-region></text:tracked-changes>"
        '<text:h text:outline-level="1">Pump</text:h>'
        "<text:p>Before<text:s text:c='2'/>the   <text:span>table</text:span>."
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Small print.</text:p>"
        "</text:note-body></text:note><office:annotation><text:p>A remark.</text:p></office:annotation></text:p>"
        "<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Part</text:p></table:table-cell>"
        "<table:table-cell><text:p>Torque</text:p></table:table-cell></table:table-row></table:table-header-rows>"
        "<table:table-row><table:table-cell><text:p>Base</text:p><text:p>bolt</text:p></table:table-cell>"
        "<table:table-cell><text:p>31 Nm</text:p></table:table-cell></table:table-row></table:table>"
        '<text:h text:outline-level="2">Seals</text:h>'
        "<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item>"
        "<text:p>one a</text:p></text:list-item></text:list></text:list-item>"
        "<text:list-item><text:p>two</text:p></text:list-item></text:list>"
        "<text:p>Line<text:line-break/>broken<text:tab/>here<draw:frame><draw:text-box><text:p>In a box.</text:p>"
        "</draw:text-box></draw:frame></text:p>"
    )
    document = read("a.odt", odf_bytes(body))
    assert document.text == (
        "Pump\n\nBefore  the table.[1]\n\n[1] Small print.\n\nPart | Torque\nBase bolt | 31 Nm\n\nSeals\n\n"
        "- one\n- one a\n- two\n\nLine\nbroken\there\n\nIn a box."
    )
    assert list(places(document)) == ["Pump", "Pump > Seals"]
    assert document.media_type == "application/vnd.oasis.opendocument.text"


def test_opendocument_sheets_are_read_like_those_of_a_workbook() -> None:
    def cells(*values: str) -> str:
        return "".join(f"<table:table-cell><text:p>{value}</text:p></table:table-cell>" for value in values)

    style = '<style:style style:name="gone"><style:table-properties table:display="false"/></style:style>'
    body = (
        '<table:table table:name="Beds" table:style-name="gone">'
        f"<table:table-row>{cells('Bed', 'Sown')}</table:table-row>"
        f'<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>North</text:p></table:table-cell>'
        '<table:table-cell office:value-type="date" office:date-value="2024-05-01"><text:p>1 May</text:p>'
        "</table:table-cell></table:table-row>"
        f"<table:table-row><table:covered-table-cell/>{cells('later')}</table:table-row>"
        '<table:table-row table:number-rows-repeated="1048570">'
        '<table:table-cell table:number-columns-repeated="16384"/>'
        "</table:table-row></table:table>"
        '<table:table table:name="Empty"/>'
    )
    document = read("a.ods", odf_bytes(body, "spreadsheet", styles=style))
    assert places(document) == {
        "sheet Beds, row 2": "Bed: North\nSown: 2024-05-01",
        "sheet Beds, row 3": "Bed: North\nSown: later",
    }
    assert document.warnings == ("hidden in the spreadsheet, read all the same: sheet “Beds”",)
    assert (document.facts.n_pages, document.facts.empty_pages) == (2, (2,))


def test_opendocument_slides_have_their_title_first_and_their_notes_last() -> None:
    body = (
        "<draw:page><draw:frame><draw:text-box><text:p>Shut at night.</text:p></draw:text-box></draw:frame>"
        '<draw:frame presentation:class="title"><draw:text-box><text:p>Gates</text:p></draw:text-box></draw:frame>'
        '<draw:frame presentation:class="footer"><draw:text-box><text:p>2024</text:p></draw:text-box></draw:frame>'
        "<presentation:notes><draw:frame><draw:text-box><text:p>Slowly.</text:p></draw:text-box></draw:frame>"
        "</presentation:notes></draw:page><draw:page><draw:frame><draw:image/></draw:frame></draw:page><draw:page/>"
    )
    document = read("a.odp", odf_bytes(body, "presentation"))
    assert places(document) == {"slide 1": "Gates\n\nShut at night.\n\nNotes: Slowly."}
    assert (document.facts.picture_pages, document.facts.empty_pages) == ((2,), (3,))
    assert "3 slides, the most of one file is 2" in limited("a.odp", odf_bytes(body, "presentation"), max_pages=2)


def test_opendocument_with_a_password_or_without_text_is_refused() -> None:
    manifest = (
        '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry>'
        "<m:encryption-data/></m:file-entry></m:manifest>"
    )
    locked = odf_bytes("", parts={"META-INF/manifest.xml": manifest, "content.xml": b"\x93\x01 no XML"})
    assert "with a password" in refusal("a.odt", locked)
    assert "no text" in refusal("a.odt", odf_bytes("<text:p/>"))
    assert "broken OpenDocument file" in refusal("a.odt", odf_bytes("<text:p>"))
    assert "not an OpenDocument file inside" in refusal("a.odt", "just words")


def read_as(name: str, data: bytes) -> ParsedDocument:
    return read_file(SourceFile(name, data))


@pytest.mark.parametrize("name", ["a.zip", "b.doc", "c.csv", "d.pdf.txt", "noname"])
def test_packages_are_told_by_what_is_inside(name: str) -> None:
    assert read_as(name, pptx_bytes([slide(shape("x"))])).media_type.endswith("presentationml.presentation")
    assert read_as(name, xlsx_bytes({"A": sheet(row_of(1, "x"))})).media_type.endswith("spreadsheetml.sheet")
    assert read_as(name, odf_bytes("<text:p>x</text:p>")).media_type.endswith("opendocument.text")
