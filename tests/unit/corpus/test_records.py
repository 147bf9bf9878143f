"""Tables and records as a stream: every cell comes back, columns are chosen or guessed, memory stays small."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from backend.corpus.files import ParsedDocument, Reading, ReadOptions, SourceFile, UnreadableFile
from backend.corpus.readers import read_file
from backend.corpus.reading import InProcessReading, read_sections
from backend.corpus.text import clean_text


def read(name: str, data: str | bytes, options: ReadOptions | None = None) -> ParsedDocument:
    content = data.encode() if isinstance(data, str) else data
    return read_file(SourceFile(name, content), Reading(options or ReadOptions()))


def rows(document: ParsedDocument) -> dict[str, str]:
    return {s.place: document.text[s.start : s.end] for s in document.sections}


def refusal(name: str, data: str, options: ReadOptions) -> UnreadableFile:
    with pytest.raises(UnreadableFile) as caught:
        read(name, data, options)
    return caught.value


# ── what was written comes back ──

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\x1a"), max_size=12)


@settings(deadline=None)  # the machine may be busy
@given(
    table=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6),
    delimiter=st.sampled_from(",;\t|"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_what_the_csv_module_writes_comes_back_cell_by_cell(
    table: list[tuple[str, str]], delimiter: str, quoting: int, line_end: str, encoding: str
) -> None:
    # Python writes a lone carriage return without quotes where lines do not end in one: then it ends a row.
    assume(line_end == "\r\n" or quoting == csv.QUOTE_ALL or not any("\r" in cell for row in table for cell in row))
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=line_end)  # type: ignore[arg-type]
    writer.writerow(["text", "kept beside"])
    writer.writerows(table)
    options = ReadOptions(
        encoding=encoding,
        delimiter=delimiter,
        text_columns=("text",),
        title_column="",
        id_column="",
        metadata_columns=("kept beside",),
    )
    wanted = {
        f"row {number}": (plain(text), plain(beside))
        for number, (text, beside) in enumerate(table, start=1)
        if plain(text)
    }
    try:
        document = read("a.csv", out.getvalue().encode(encoding), options)
    except UnreadableFile:
        assert not wanted
        return
    found = {
        s.place: (document.text[s.start : s.end], dict(s.metadata).get("kept beside", "")) for s in document.sections
    }
    assert found == wanted


def plain(cell: str) -> str:
    return clean_text(cell).strip()


@settings(deadline=None)  # the machine may be busy
@given(
    table=st.lists(
        st.tuples(*[st.text("abc xyz;,|\t\"'.\n", min_size=1, max_size=20).filter(str.strip)] * 3),
        min_size=2,
        max_size=6,
    ),
    delimiter=st.sampled_from(",;\t|"),
)
def test_the_delimiter_of_quoted_cells_is_told(table: list[tuple[str, str, str]], delimiter: str) -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([("id", "text", "note"), *table])
    document = read("a.csv", out.getvalue(), ReadOptions(title_column="", id_column=""))
    assert list(rows(document).values()) == [plain(text) for _, text, _ in table]


@settings(deadline=None)  # the machine may be busy
@given(
    st.lists(
        st.fixed_dictionaries({"_id": st.text(max_size=5), "title": st.text(max_size=8), "text": st.text(max_size=20)}),
        min_size=1,
        max_size=8,
    ),
    st.booleans(),
    st.sampled_from(["jsonl", "json"]),
)
def test_json_with_any_unicode_comes_back(records: list[dict[str, str]], is_ascii: bool, form: str) -> None:
    if form == "jsonl":
        data = "\n".join(json.dumps(record, ensure_ascii=is_ascii) for record in records)
        word = "line"
    else:
        data = json.dumps(records, ensure_ascii=is_ascii, indent=1)
        word = "item"
    wanted = {
        f"{word} {number}": f"{plain(record['title'])} {record['text'].strip()}".strip()
        for number, record in enumerate(records, start=1)
    }
    wanted = {place: cleaned for place, text in wanted.items() if (cleaned := plain(text))}
    try:
        document = read(f"a.{form}", data.encode("utf-8", "surrogatepass"), ReadOptions(title_column="title"))
    except UnreadableFile:
        assert not wanted
        return
    assert rows(document) == wanted
    assert all(section.is_row for section in document.sections)


# ── delimiters, decimal commas ──


@pytest.mark.parametrize(
    ("data", "first"),
    [
        ("name;price\nA;1,5\n", "name: A\nprice: 1,5"),
        ("1,5;2,7\n3,1;4,8\n", "column 1: 1,5\ncolumn 2: 2,7"),
        ("price\n1,5\n2,7\n", "1,5"),
        ("1\tThe gate, and the weir.\n2\tEels, and fish.\n", "The gate, and the weir."),
        ("1|The gate; the weir, too.\n2|Eels; and fish, too.\n", "The gate; the weir, too."),
        ("a, b, c\n1, 2, 3\n", "a: 1\nb:  2\nc:  3".replace(":  ", ": ")),
        ("sep=;\nid;text\n1;one, two, three\n", "one, two, three"),
        ('"sep=|"\nid|text\n1|one, two; three\n', "one, two; three"),
    ],
)
def test_delimiters_are_told_from_decimal_commas_and_punctuation(data: str, first: str) -> None:
    assert rows(read("a.csv", data))["row 1"] == first


def test_a_chosen_delimiter_is_taken_by_sign_or_name() -> None:
    data = "id;a,b\n1;the gate, the weir\n"
    assert rows(read("a.csv", data, ReadOptions(delimiter=",", text_columns=("b",))))["row 1"] == "the weir"
    tabs = "id\ttext\n1\tone\n"
    assert all(read("a.csv", tabs, ReadOptions(delimiter=name)).text == "one" for name in ("\t", "tab", "\\t", "TAB"))
    for wrong in (";;", '"', "\n"):
        assert "no delimiter" in refusal("a.csv", tabs, ReadOptions(delimiter=wrong)).message


# ── columns ──

TABLE = (
    "nr,head,body,remark,tag\n"
    "7,Gates,Shut at night.,Checked by hand twice.,x\n"
    "8,,Eels are counted.,Looked at once more.,y\n"
)


def test_chosen_columns_are_text_title_id_and_metadata() -> None:
    document = read(
        "a.csv",
        TABLE,
        ReadOptions(
            text_columns=("remark", "body"), title_column="head", id_column="nr", metadata_columns=("tag", "Head ")
        ),
    )
    assert rows(document) == {
        "row 1": "Gates Checked by hand twice.\nShut at night.",
        "row 2": "Looked at once more.\nEels are counted.",
    }
    assert [(s.record_id, s.title, s.metadata) for s in document.sections] == [
        ("7", "Gates", (("tag", "x"), ("head", "Gates"))),
        ("8", "", (("tag", "y"),)),
    ]
    assert document.warnings == ()


def test_what_is_chosen_as_metadata_is_not_taken_for_the_text() -> None:
    document = read("a.csv", TABLE, ReadOptions(metadata_columns=("body",)))
    assert rows(document)["row 1"] == "Checked by hand twice."
    values = read("b.csv", "name,city,street\nBaxter,Leon,Mill\n", ReadOptions(id_column="name"))
    assert values.text == "city: Leon\nstreet: Mill"


@pytest.mark.parametrize(
    "options",
    [
        ReadOptions(text_columns=("body", "none such")),
        ReadOptions(title_column="none such"),
        ReadOptions(id_column="none such"),
        ReadOptions(metadata_columns=("none such",)),
    ],
)
def test_a_column_that_is_not_there_is_refused_with_those_that_are(options: ReadOptions) -> None:
    for name, data in (("a.csv", TABLE), ("a.jsonl", '{"nr": 1, "body": "one"}\n')):
        error = refusal(name, data, options)
        assert "no column is called “none such”" in error.message
        assert "“nr”" in error.hint
        assert "“body”" in error.hint


def test_an_id_is_guessed_only_where_it_tells_the_first_records_apart() -> None:
    def ids(data: str, options: ReadOptions | None = None) -> list[str]:
        return [section.record_id for section in read("a.csv", data, options).sections]

    assert ids("id,text\na,one\nb,two\n") == ["a", "b"]
    assert ids("doc_id,id,text\n5,x,one\n6,x,two\n") == ["5", "6"]
    assert ids("id,text\na,one\na,two\n") == ["", ""]
    assert ids("id,text\na,one\n,two\n") == ["", ""]
    assert ids("id,text\na,one\nb,two\n", ReadOptions(id_column="")) == ["", ""]
    assert ids("id,text\na,one\na,two\n", ReadOptions(id_column="id")) == ["a", "a"]


def test_ids_that_come_twice_or_are_missing_are_counted_over_the_whole_file() -> None:
    lines = [{"_id": str(n), "text": f"fact {n}"} for n in range(700)]
    lines += [{"_id": "3", "text": "again"}, {"text": "nameless"}, {"_id": "699", "text": "again"}]
    warnings = read("a.jsonl", "\n".join(map(json.dumps, lines))).warnings
    assert "line 702: no value in the column “_id”" in warnings
    assert "lines 701 and 703: an id that stands above already (column “_id”)" in warnings


def test_a_record_of_another_shape_keeps_its_text_and_is_named() -> None:
    lines = [{"text": f"fact {n}"} for n in range(600)]
    lines += [{"body": "one more fact"}, {"n": "5"}, {"said": "words of a kind nobody knew"}, {"text": ""}]
    document = read("a.jsonl", "\n".join(map(json.dumps, lines)))
    found = rows(document)
    assert (found["line 601"], found["line 603"]) == ("one more fact", "words of a kind nobody knew")
    assert document.warnings == (
        "lines 602 and 604 are empty (2 left out)",
        "lines 601 and 603: no field “text”, the text is taken from “body”, “said”",
    )
    chosen = read("a.jsonl", "\n".join(map(json.dumps, lines)), ReadOptions(text_columns=("text",)))
    assert "line 601" not in rows(chosen), "what a person chose is not second-guessed"


def test_a_header_is_known_by_the_columns_that_a_person_named() -> None:
    data = "The first column here,The second one.\nwater,wind\n"
    assert "row 2" in rows(read("a.csv", data))
    document = read("a.csv", data, ReadOptions(text_columns=("The second one.",)))
    assert rows(document) == {"row 1": "wind"}
    assert rows(read("b.csv", "id,text\nu,v\n", ReadOptions(text_columns=("column 2",)))) == {
        "row 1": "text",
        "row 2": "v",
    }


# ── broken things ──


def test_lists_of_rows_in_warnings_are_bounded() -> None:
    data = "id,text\n" + "1,\n2,word\n" * 3_000
    warnings = read("a.csv", data).warnings
    assert "rows 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23 and 2,988 more are empty (3,000 left out)" in warnings
    assert all(len(warning) < 200 for warning in warnings)


def test_quotes_that_break_late_lose_no_row_before_and_none_after() -> None:
    data = "id,text\n" + "".join(f"{n},row {n} of many\n" for n in range(900)) + '900,"torn" tail\n901,the last\n'
    document = read("a.csv", data)
    assert len(document.sections) == 902
    assert rows(document)["row 901"] == "torn tail"
    assert document.text.endswith("the last")
    assert document.warnings[0].startswith("quotation marks do not match near line 902")


def test_a_cell_without_end_is_refused_with_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.corpus.readers.csv_rows.MOST_CELL_CHARS", 70_000)
    data = 'id,text\n1,one\n2,"two\n' + "3,three\n" * 10_000
    with pytest.raises(UnreadableFile, match=r"row 3 or below: a cell of more than 70,000 characters"):
        read("a.csv", data)
    with pytest.raises(UnreadableFile, match="line 2 has more than 70,000 characters"):
        read("a.csv", "text\n" + "x" * 70_001)


def test_a_broken_list_keeps_what_stands_before() -> None:
    document = read("a.json", '[{"text": "one"}, {"text": "two"},\n {"text": torn}, {"text": "four"}]')
    assert rows(document) == {"item 1": "one", "item 2": "two"}
    assert document.warnings == ("not valid JSON at item 3: it and all behind it is left out",)
    document = read("a.json", '[{"text": "one"}]\n{"text": "two"}')
    assert document.warnings == ("something follows the end of the list and is left out",)


def test_items_across_blocks_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.corpus.readers.json_values._BLOCK_CHARS", 7)
    values = ['{"text": "a longer text than a block"}', '"plain"', "123456789012", "[1, 2]", '{"text": "last"}']
    for blanks in ("", "\n ", "\t"):
        document = read("a.json", f"{blanks}[{blanks}{f'{blanks},{blanks}'.join(values)}{blanks}]{blanks}")
        assert rows(document) == {"item 1": "a longer text than a block", "item 2": "plain", "item 5": "last"}
        assert document.warnings == ("items 3 and 4 are empty (2 left out)",)


def test_lines_by_content_and_a_list_under_the_name_of_lines() -> None:
    assert list(rows(read("a.json", '{"text": "one"}\n{"text": "two"}\n'))) == ["line 1", "line 2"]
    assert list(rows(read("a.jsonl", '[\n {"text": "one"},\n {"text": "two"}\n]\n'))) == ["item 1", "item 2"]


def test_the_encoding_is_said_and_a_chosen_one_is_used() -> None:
    data = "id;text\n1;Der Schlüssel hängt am Türrahmen.\n".encode("cp1252")
    facts = read("a.csv", data).facts
    assert (facts.encoding, facts.encoding_guessed) == ("cp1252", True)
    assert facts.warnings == ("encoding guessed: Windows-1252 (Western Europe)",)
    document = read("a.csv", data, ReadOptions(encoding="cp437"))
    assert document.facts.encoding == "cp437"
    assert not document.facts.encoding_guessed
    assert "Schlⁿssel" in document.text


# ── memory ──


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv"])
def test_a_large_file_never_lies_in_memory_whole(suffix: str, tmp_path: Path) -> None:
    path, n = tmp_path / f"a.{suffix}", 12_000
    text = "The sluice key hangs by the door, said the keeper. " * 20
    with path.open("w", encoding="utf-8", newline="") as out:
        if suffix == "csv":
            out.write("_id,text\n" + "".join(f'{at},"{text}"\n' for at in range(n)))
        else:
            ends = ("[", ",\n", "]") if suffix == "json" else ("", "\n", "")
            lines = (json.dumps({"_id": str(at), "text": text}) for at in range(n))
            out.write(ends[0] + ends[1].join(lines) + ends[2])
    assert path.stat().st_size > 12_000_000
    told: list[int] = []
    reading = Reading(step=lambda _word, done, _total: told.append(done))
    tracemalloc.start()
    try:
        read_text = InProcessReading().read(SourceFile(path.name, path), tmp_path, reading)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 9_000_000
    assert (read_text.facts.n_records, read_text.n_sections) == (n, n)
    assert told == list(range(0, n, 1_000))
    assert [s.record_id for s in read_sections(read_text.sections_path)][-1] == str(n - 1)
