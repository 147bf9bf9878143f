"""Files made to take time or memory: each is bounded by a count or a size, and says so in words for people."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, ItemsView, Iterator, Mapping

import pytest

from backend.corpus.decoding import Encoding
from backend.corpus.files import Reading, ReadLimits, SourceFile, UnreadableFile
from backend.corpus.readers import read_file
from backend.corpus.readers.columns import TableRecord, text_field
from backend.corpus.readers.pdf_pages import Page
from backend.corpus.readers.records import RecordStream, take_head, write_records
from backend.corpus.text import TextBuilder
from backend.errors import CancelledError
from tests.unit.corpus.made import docx_bytes, pdf_bytes
from tests.unit.corpus.made_pdf import self_drawing_pdf
from tests.unit.corpus.test_readers import read, refusal

# ── tables ──


@pytest.mark.parametrize("end", ["\n", "\n1,2,3\n"])
def test_a_header_of_nothing_but_commas_is_refused_by_its_columns(end: str) -> None:
    said = refusal("a.csv", "name" + "," * 20_000 + end)
    assert "20,001 columns" in said
    assert "1,000" in said


def test_a_thousand_columns_are_read_and_one_more_is_not() -> None:
    def table(width: int) -> str:
        return ",".join(f"name{n}" for n in range(width)) + "\n" + ",".join("v" for _ in range(width)) + "\n"

    assert read("a.csv", table(1_000)).text.count(": v") == 1_000
    assert "1,001 columns" in refusal("a.csv", table(1_001))


def test_commas_in_an_unquoted_text_are_no_columns() -> None:
    assert read("a.csv", "id,text\n1," + "so, " * 2_000 + "\n").text.count("so,") == 2_000


def test_no_two_columns_share_a_name() -> None:
    document = read("a.csv", "id,a (4),b,a,a,a (5)\nu,v,w,x,y,z\n")
    assert [line.split(": ")[1] for line in document.text.split("\n")] == list("uvwxyz")
    document = read("a.csv", "id,a,a (4),a,a (4) (5)\nu,v,w,x,y\n")
    assert len({line.split(": ")[0] for line in document.text.split("\n")}) == 5


class Counting(Mapping[str, str]):
    """Fields that count how often they are looked at."""

    looks = 0

    def __init__(self, fields: dict[str, str]) -> None:
        self._fields = fields

    def __getitem__(self, name: str) -> str:
        Counting.looks += 1
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        Counting.looks += len(self._fields)
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def items(self) -> ItemsView[str, str]:
        Counting.looks += len(self._fields)
        return self._fields.items()


@pytest.mark.parametrize("value", ["x", "quite a long text of several words"])
def test_a_new_name_in_every_record_costs_each_record_its_own_fields(value: str) -> None:
    n = 3_000
    records = [TableRecord(at, Counting({f"k{at}": value})) for at in range(n)]
    names = [f"k{at}" for at in range(n)]
    Counting.looks = 0
    out = TextBuilder()
    if value == "x":
        stream = iter(records)
        head = take_head(stream)
        write_records(RecordStream("line", "x", Encoding("utf-8"), names, head, stream), out, Reading())
    field = text_field(names, records)
    assert Counting.looks <= 6 * n
    assert (field is None) == (value == "x")
    assert out.text.count(": x") == (n if value == "x" else 0)


def test_names_beyond_a_thousand_are_not_guessed_among_but_a_plain_name_is_found() -> None:
    names = [f"k{n}" for n in range(1_500)]
    late = TableRecord(1, {"k1": "short one here", "k1200": "much longer words " * 9})
    assert text_field(names, [late]) == "k1"
    assert text_field([*names, "Text"], [late]) == "Text"


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.csv", "text\n" + ",\n" * 5_001, "5,000 rows"),
        ("a.csv", "text\n" + "\n" * 6_000 + "the last\n", "5,000 rows"),
        ("a.csv", "\n" * 6_000 + "text\nthe last\n", "5,000 rows"),
        ("a.jsonl", "1\n" * 5_001, "5,000 lines"),
        ("a.json", "[" + "1," * 5_000 + "1]", "5,000 items"),
        ("a.json", '{"list": [' + "{}," * 5_000 + "{}]}", "5,000 items"),
        ("a.json", '{"a": [' + "[]," * 2_000_000 + "[]]}", "2,000,000 brackets"),
        ("a.json", "[[" + "[]," * 2_100_000 + "[]]]", "2,000,000 brackets"),
        ("a.jsonl", '{"a": [' + "[]," * 2_000_000 + "[]]}", "2,000,000 brackets"),
    ],
)
def test_records_beyond_counting_are_refused_not_cut(name: str, data: str, says: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        read_file(SourceFile(name, data.encode()), Reading(limits=ReadLimits(max_records=5_000)))
    assert says in caught.value.message
    assert caught.value.hint


# ── Word ──


def word_with(parts: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A Word document with these parts in place of, or beside, its own."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(docx_bytes("Inside."))) as old, zipfile.ZipFile(target, "w", compression) as new:
        for info in old.infolist():
            new.writestr(info.filename, parts.get(info.filename, old.read(info)))
        for name in parts.keys() - set(old.namelist()):
            new.writestr(name, parts[name])
    return target.getvalue()


def peak_bytes(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the parts that were parsed."""
    from backend.corpus.readers import packages

    sizes: list[int] = []
    parse = packages._xml
    monkeypatch.setattr(packages, "_xml", lambda content: (sizes.append(len(content)), parse(content))[1])
    return sizes


@pytest.mark.parametrize("part", ["word/document.xml", "word/styles.xml", "docProps/core.xml"])
def test_a_part_that_unpacks_without_end_is_refused_before_it_is_unpacked(part: str, parsed: list[int]) -> None:
    data = word_with({part: b" " * 33_000_000})
    assert len(data) < 100_000
    assert peak_bytes(lambda: refusal("a.docx", data)) < 5_000_000
    said = refusal("a.docx", data)
    assert part in said
    assert "33 MB, the most is 32 MB" in said
    assert all(size < 1_000_000 for size in parsed)


def test_a_part_larger_than_the_archive_says_is_not_unpacked(parsed: list[int]) -> None:
    size = 200_000_000
    data = word_with({"word/document.xml": b" " * size})
    lying = data.replace(struct.pack("<I", size), struct.pack("<I", 1_000))
    assert lying != data
    assert peak_bytes(lambda: refusal("a.docx", lying)) < 100_000_000
    assert all(size < 1_000_000 for size in parsed)


def test_parts_that_hold_no_text_are_not_opened(parsed: list[int]) -> None:
    huge = dict.fromkeys(("word/header1.xml", "word/media/a.xml", "customXml/item1.xml"), b"<a/>" * 10000000)
    data = word_with(huge)
    assert read_file(SourceFile("a.docx", data)).text == "Inside."
    assert len(parsed) == 3
    assert max(parsed) < 1_000_000


@pytest.mark.parametrize("markup", [b"<w:p/>" * 3_000_000, b"<w:p a='1'/>" * 1_500_000], ids=["tags", "attributes"])
def test_tags_of_a_word_document_are_counted_before_they_are_parsed(markup: bytes, parsed: list[int]) -> None:
    said = refusal("a.docx", word_with({"word/document.xml": b"<w:document>" + markup}))
    assert "3,000,000 tags and attributes" in said
    assert parsed == []


def test_entities_are_not_expanded() -> None:
    laughs = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    body = (
        f'<!DOCTYPE d [<!ENTITY e0 "ha"><!ENTITY f SYSTEM "file:///etc/hostname">{laughs}]>'
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r>'
        "<w:t>kept</w:t><w:t>&e9;</w:t><w:t>&f;</w:t></w:r></w:p></w:body></w:document>"
    )
    data = word_with({"word/document.xml": body.encode()})
    try:
        text = read_file(SourceFile("a.docx", data)).text
    except UnreadableFile:
        return
    assert text == "kept"


def test_other_ways_of_packing_and_deep_nesting_are_refused() -> None:
    assert "not a Word document" in refusal("a.docx", word_with({}, zipfile.ZIP_BZIP2))
    deep = b"<w:document xmlns:w='w'>" + b"<w:p>" * 100_000
    assert "broken" in refusal("a.docx", word_with({"word/document.xml": deep}))


def test_a_long_chain_of_styles_is_followed_a_few_steps_only() -> None:
    styles = "".join(
        f'<w:style w:styleId="s{n}"><w:name w:val="n"/><w:basedOn w:val="s{n + 1}"/></w:style>' for n in range(20_000)
    )
    whole = f'<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">{styles}</w:styles>'
    assert read_file(SourceFile("a.docx", word_with({"word/styles.xml": whole.encode()}))).text == "Inside."


# ── HTML and Markdown ──


def test_a_page_has_a_largest_size_and_most_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bs4.BeautifulSoup", None)  # nothing is parsed
    assert "200,002 tags, the most of one page is 200,000" in refusal("a.html", "<html><body>" + "<b>" * 200_000)
    said = refusal("a.html", "<html><body>" + "word " * 2_000_000)
    assert "10.0 MB of HTML, the most of one page is 10 MB" in said


@pytest.mark.parametrize(
    "data",
    [
        "<!---->" * 500 + "words",
        "<!-- a -->\n" * 300 + "<p>words",
        "<html><p>words" + " " * 1_000_000,
        "<html><?xml" * 1_000 + "><p>words",
        "<html>words" + "<b>" * 10_000 + "</i>" * 10_000,
    ],
    ids=["comments", "comments and lines", "blanks", "prologs", "tags across"],
)
@pytest.mark.parametrize("name", ["a.html", "a.txt"])
def test_pages_that_make_expressions_go_back_and_forth_come_to_an_end(name: str, data: str) -> None:
    assert "words" in read(name, data).text


def test_a_row_of_many_cells_is_joined_once() -> None:
    text = read("a.html", "<html><table><tr>" + "<td>w" * 50_000).text
    assert text == " | ".join("w" * 50_000)


def test_markdown_lines_of_blanks_come_to_an_end() -> None:
    wide = " " * 200_000
    document = read("a.md", f"---\ntitle: the{wide}weir\n---\n# a{wide}b {wide}##{wide}\nwords\n#{wide}\nmore\n")
    assert document.sections[0].place == "a b"
    assert len(document.title) <= 300


def test_a_heading_without_end_is_not_repeated_in_every_place() -> None:
    long = "word " * 20_000
    markdown = f"# {long}\n" + "".join(f"## x{n}\ny\n" for n in range(500))
    html = f"<html><h1>{long}</h1>" + "".join(f"<h2>x{n}</h2>y" for n in range(500))
    for document in (read("a.md", markdown), read("a.html", html)):
        assert len(document.sections) == 501
        assert sum(len(section.place) for section in document.sections) <= 320 * 501


# ── PDF ──


def test_a_pdf_has_a_most_of_pages() -> None:
    one = pdf_bytes(["x"])
    many = one.replace(b"/Kids [3 0 R]", b"/Kids [" + b"3 0 R " * 5_001 + b"]").replace(b"/Count 1", b"/Count 5001")
    assert "5,001 pages, the most of one file is 5,000" in refusal("a.pdf", many)


def test_slow_pages_end_the_reading_between_two_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def page(_pages: object, _number: int) -> Page:
        now[0] += 70.0
        return Page("words")

    monkeypatch.setattr("backend.corpus.readers.pdf.time.monotonic", lambda: now[0])
    monkeypatch.setattr("backend.corpus.readers.pdf_pages.Pages.page", page)
    assert "5 minutes only 5 of its 50 pages" in refusal("a.pdf", pdf_bytes(["x"] * 50))
    assert now[0] == 350.0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"/Kids [3 0 R]", b"/Kids [3 0 R 2 0 R]"),
        (b"/Kids [3 0 R]", b"/Kids [2 0 R]"),
        (b"/Count 1", b"/Count 1000000000"),
        (b"/Contents 4 0 R", b"/Contents 3 0 R"),
        (b"/Parent 2 0 R", b"/Parent 3 0 R"),
        (b"/Font << /F1 5 0 R >>", b"/Font << /F1 3 0 R >> /XObject << /X 4 0 R >>"),
    ],
    ids=["tree", "only itself", "count", "contents", "parent", "fonts"],
)
def test_objects_that_hold_themselves_come_to_an_end(old: bytes, new: bytes) -> None:
    data = pdf_bytes(["words"]).replace(old, new)
    assert new in data
    try:
        assert "words" in read("a.pdf", data).text
    except UnreadableFile:
        return  # refused with a reason is as good


def test_a_form_that_draws_itself_comes_to_an_end() -> None:
    assert read("a.pdf", self_drawing_pdf(times=1)).text == "words\ndeep"


# ── stopping inside a file ──


def stop_after(n: int) -> Callable[[], None]:
    left = [n]

    def check() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise CancelledError("The work on the corpus was stopped.")

    return check


def test_a_stop_is_heard_between_the_pages_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    read_pages: list[object] = []
    monkeypatch.setattr(
        "backend.corpus.readers.pdf_pages.Pages.page", lambda _, number: read_pages.append(number) or Page("words")
    )
    source = SourceFile("a.pdf", pdf_bytes(["x"] * 40))
    with pytest.raises(CancelledError):
        read_file(source, Reading(check=stop_after(7)))
    assert len(read_pages) == 7


@pytest.mark.parametrize(
    "source",
    [
        SourceFile("a.csv", b"text\n" + b"words\n" * 20_000),
        SourceFile("a.jsonl", b'{"text": "words"}\n' * 20_000),
        SourceFile("a.json", b"[" + b'{"text": "words"},' * 20_000 + b'{"text": ""}]'),
        SourceFile("a.docx", docx_bytes(*["words"] * 4_000)),
    ],
    ids=lambda source: source.name,
)
def test_a_stop_is_heard_between_batches_of_rows(source: SourceFile) -> None:
    calls: list[int] = []
    read_file(source, Reading(check=lambda: calls.append(1)))
    assert 4 <= len(calls) <= 45
    with pytest.raises(CancelledError):
        read_file(source, Reading(check=stop_after(len(calls) - 1)))
