"""What a person sees before a table is read: columns with their parts, first rows, encodings to choose from."""

from __future__ import annotations

import codecs
import json
from dataclasses import replace
from pathlib import Path

import pytest

from backend.corpus.decoding import decode
from backend.corpus.files import Reading, ReadOptions, SourceFile, UnreadableFile
from backend.corpus.readers import read_file
from backend.corpus.readers.preview import ENCODINGS, RecordsPreview, decode_preview, preview_records
from tests.conftest import shared_path
from tests.unit.corpus.made import pdf_bytes

OF_EACH_KIND = [
    ("utf-8-sig", "a"), ("utf-16", "a"), ("utf-16-le", "tram stop\n"), ("utf-32-be", "tram stop\n"),
    ("iso8859-1", "Der Schlüssel hängt im Flur.\n"), ("iso8859-2", "Późną nocą nikt tędy nie przechodzi.\n"),
    ("euc_jp", "水門の鍵は、戸口の横に掛かっています。\n"), ("iso2022_jp", "水門の鍵は、戸口の横に。"),
    ("tis-620", "กุญแจประตูน้ำแขวนอยู่ข้างประตู\n"), ("iso8859-9", "Savağın anahtarı kapının yanında asılı.\n"),
    ("gb2312", "水闸的钥匙挂在门旁边。\n"), ("euc_kr", "수문 열쇠는 문 옆에 걸려 있습니다.\n"),
]  # fmt: skip
TABLE = b"nr;id;title;text;tag\n1;a;Gates;Shut at night.;x\n2;b;;Eels, counted.;\n3;c;Key;By the door.;x\n"


def preview(name: str, data: bytes, options: ReadOptions | None = None, n_rows: int = 20) -> RecordsPreview:
    shown = preview_records(SourceFile(name, data), options or ReadOptions(), n_rows)
    assert shown is not None
    return shown


def test_columns_rows_and_guesses_of_a_table() -> None:
    shown = preview("a.csv", TABLE, n_rows=2)
    assert [(c.name, c.role) for c in shown.columns] == [
        ("nr", "none"), ("id", "id"), ("title", "title"), ("text", "text"), ("tag", "none")
    ]  # fmt: skip
    assert shown.columns[2].samples == ("Gates", "Key")
    assert shown.columns[4].samples == ("x",)
    assert shown.rows == (("1", "a", "Gates", "Shut at night.", "x"), ("2", "b", "", "Eels, counted.", ""))
    assert (shown.delimiter, shown.encoding, shown.encoding_guessed, shown.has_header) == (";", "utf-8", False, True)
    assert shown.media_type == "text/csv"
    assert shown.options == ReadOptions("utf-8", ";", ("text",), "title", "id")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", TABLE),
        ("b.csv", "name;Größe\nWehr;groß\nSchlüssel;klein\n".encode("cp1252")),
        ("c.csv", b"query\nWhen, and where?\n"),
        ("d.jsonl", b'{"question": "How?", "answer": "By the door.", "n": 5}\n'),
        ("e.json", b'{"documents": [{"body": "one", "uid": 7}]}'),
    ],
)
def test_read_with_the_options_shown_a_file_reads_the_same(name: str, data: bytes) -> None:
    file = SourceFile(name, data)
    shown = preview(name, data)
    again = read_file(file, Reading(shown.options))
    as_it_is = read_file(file)
    assert (again.text, again.sections) == (as_it_is.text, as_it_is.sections)
    assert preview(name, data, shown.options).rows == shown.rows


def test_what_a_person_chose_is_shown_and_what_is_not_there_is_refused() -> None:
    chosen = ReadOptions(text_columns=("tag", "text"), title_column="", id_column="nr", metadata_columns=("title",))
    shown = preview("a.csv", TABLE, chosen)
    assert [c.role for c in shown.columns] == ["id", "none", "metadata", "text", "text"]
    assert shown.options == replace(chosen, encoding="utf-8", delimiter=";")
    with pytest.raises(UnreadableFile, match="no column is called “none such”"):
        preview("a.csv", TABLE, ReadOptions(id_column="none such"))
    with pytest.raises(UnreadableFile, match="no text encoding"):
        preview("a.csv", TABLE, ReadOptions(encoding="rot13"))


def test_other_delimiters_and_encodings_show_other_cells() -> None:
    data = "id;text\n1;Žluťoučký kůň, prý\n".encode("cp1250")
    assert preview("a.csv", data, ReadOptions(encoding="cp1250")).rows == (("1", "Žluťoučký kůň, prý"),)
    assert preview("a.csv", data, ReadOptions(encoding="cp1251", delimiter=",")).columns[0].name == "id;text"


def test_only_the_start_of_a_large_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    line = json.dumps({"text": "ä" * 3_000}, ensure_ascii=False) + "\n"
    path.write_text(line * 400, encoding="utf-8")
    monkeypatch.setattr(SourceFile, "open", lambda self: pytest.fail("read whole") if self.name == str(path) else None)
    head = SourceFile(str(path), path).head(1 << 20)
    monkeypatch.undo()
    shown = preview_records(SourceFile("a.jsonl", path), n_rows=3)
    assert shown is not None
    assert len(head) == 1 << 20
    assert shown.rows == (("ä" * 299 + "…",),) * 3
    assert (shown.encoding, shown.encoding_guessed) == ("utf-8", False), "a character cut in two is no error"


def test_a_long_list_is_shown_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[" + ",".join(json.dumps({"text": f"fact {n} " * 50}) for n in range(5_000)) + "]")
    assert path.stat().st_size > 2_000_000
    shown = preview_records(SourceFile("a.json", path), n_rows=1)
    assert shown is not None
    assert shown.rows[0][0].startswith("fact 0 fact 0")


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.txt", b"words"), ("a.pdf", pdf_bytes(["words"])), ("a.png", b"\x89PNG\r\n\x1a\n"), ("a.csv", b"")],
)
def test_what_is_no_table_has_no_preview(name: str, data: bytes) -> None:
    assert preview_records(SourceFile(name, data)) is None


def test_tables_of_the_shared_files_are_shown() -> None:
    for name, delimiter, encoding, cell in (
        ("csv_cp932_mskanji.csv", ",", "cp932", "佐藤太郎"),
        ("csv_semicolon.csv", ";", "utf-8", "Sheryl"),
        ("gen_crlf_csv_bom_semicolon.csv", ";", "utf-8-sig", "Übersicht"),
        ("csv_quoted_newlines_crlf.csv", ",", "utf-8", "Once upon \na time"),
    ):
        shown = preview_records(SourceFile(name, shared_path("data", "files", name)))
        assert shown is not None
        assert (shown.delimiter, shown.encoding) == (delimiter, encoding)
        assert any(cell in row for row in shown.rows), shown.rows


# ── texts ──


def test_the_first_words_in_each_encoding() -> None:
    data = ("Der Schlüssel hängt im Flur, neben der Tür. " * 400).encode("cp1252")
    text, name, is_guessed = decode_preview(SourceFile("a.txt", data))
    assert (name, is_guessed, len(text)) == ("cp1252", True, 4_000)
    assert text.startswith("Der Schlüssel hängt")
    assert decode_preview(SourceFile("a.txt", data), "cp1251")[0].startswith("Der Schlьssel hдngt")
    assert decode_preview(SourceFile("a.txt", "\ufeffwords".encode()), "utf-8") == ("words", "utf-8", False)
    with pytest.raises(UnreadableFile, match="no text encoding is called"):
        decode_preview(SourceFile("a.txt", data), "no-such")
    with pytest.raises(UnreadableFile, match="binary"):
        decode_preview(SourceFile("a.txt", bytes(range(256)) * 9))


def test_a_character_beyond_the_head_is_no_error() -> None:
    for encoding in ("utf-8", "utf-16-le", "utf-16", "cp932", "euc_jp"):
        data = ("x" + "水門の鍵は、戸口の横に掛かっています。\n" * 40_000).encode(encoding)
        text, name, _ = decode_preview(SourceFile("a.txt", data))
        assert name == encoding
        assert text.startswith("x水門の鍵は、")
        assert "\ufffd" not in text


def test_every_encoding_to_choose_from_exists_and_has_a_name() -> None:
    assert all(codecs.lookup(codec).name == codec and spoken for codec, spoken in ENCODINGS)
    chosen = {codec for codec, _ in ENCODINGS}
    assert chosen >= {decode(text.encode(codec)).encoding for codec, text in OF_EACH_KIND}, "what is told can be chosen"
    assert len({spoken for _, spoken in ENCODINGS}) == len(ENCODINGS)
