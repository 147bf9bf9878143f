"""Encodings: marks, zeros, guesses, and what is no text."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.corpus import UnreadableFile
from backend.corpus.decoding import Encoding, declared_charset, decode, sniff, text_stream
from backend.corpus.files import SourceFile
from backend.corpus.text import Replaced, clean_text
from tests.conftest import shared_path

CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy. Vlak odjíždí v šest hodin ráno z hlavního nádraží."
POLISH = "Zażółć gęślą jaźń. Pociąg odjeżdża o szóstej rano z dworca głównego, a pasażerowie czekają."
GERMAN = "Der Schlüssel hängt im Flur – „gleich neben der Tür“, sagt Jörg für 5 €."
RUSSIAN = "Он не был в числе первых учеников. Поезд отходит в шесть часов утра."
JAPANESE = "貯水池の水位は毎朝記録されます。漏れを見つけたら、すぐに報告してください。"


@given(st.text())
def test_utf8_comes_back(text: str) -> None:
    raw = text.encode("utf-8")
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or "\x00" in text or "\x1b" in text:
        return
    try:
        decoded = decode(raw)
    except UnreadableFile:
        assert any(char < " " for char in text), "only control characters make a text binary"
        return
    assert decoded.text == text.removeprefix("\ufeff") or any(char < " " for char in text)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", [GERMAN, RUSSIAN, JAPANESE, "Tram stop"])
def test_byte_order_marks(encoding: str, text: str) -> None:
    decoded = decode(text.encode(encoding))
    assert (decoded.text, decoded.warnings) == (text, ())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", [GERMAN, RUSSIAN, CZECH, "Tram stop\r\nSchönbrunn\n"])
def test_wide_encodings_without_a_mark(encoding: str, text: str) -> None:
    decoded = decode(text.encode(encoding))
    assert decoded.text == text
    assert decoded.warnings[0].startswith("encoding guessed: UTF-")


@pytest.mark.parametrize(
    ("text", "encoding", "spoken"),
    [
        (GERMAN, "cp1252", "Windows-1252"),
        ("The café “Blue Door” charges 5 € – closed.", "cp1252", "Windows-1252"),
        (RUSSIAN * 3, "koi8-r", "KOI8-R"),
        (RUSSIAN * 3, "cp1251", "Windows-1251"),
        (JAPANESE * 3, "cp932", "Shift-JIS"),
        (JAPANESE, "iso2022_jp", "ISO-2022-JP"),
        (POLISH * 3, "cp1250", ""),
        (CZECH * 3, "cp1250", ""),
    ],
)
def test_old_encodings_are_guessed_and_said(text: str, encoding: str, spoken: str) -> None:
    decoded = decode(text.encode(encoding))
    assert decoded.text == text
    assert spoken in decoded.warnings[0]


def test_a_declared_charset_is_used_and_utf8_beats_it() -> None:
    page = '<meta http-equiv="Content-Type" content="text/html; charset=ISO-8859-2"><p>Žluťoučký kůň'
    assert decode(page.encode("iso8859-2"), declared_charset(page.encode("iso8859-2"))).text == page
    assert decode(page.encode("utf-8"), "ISO-8859-2").text == page
    assert decode("“x”".encode("cp1252"), "iso-8859-1").text == "“x”", "browsers read latin-1 as Windows-1252"
    assert decode(b"plain", "no-such-charset").text == "plain"


def test_binary_data_is_refused() -> None:
    with pytest.raises(UnreadableFile, match="binary"):
        decode(bytes(range(256)) * 40)
    with pytest.raises(UnreadableFile, match="binary"):
        decode(b"\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f" * 20)


def test_a_few_nuls_do_not_make_a_text_binary_or_wide() -> None:
    raw = shared_path("data", "files", "gen_nul_bytes.txt").read_bytes()
    assert decode(raw).encoding == "utf-8"


def test_cleaning_notes_what_it_replaced() -> None:
    replaced = Replaced()
    assert clean_text("a\x00\x00b\ud83dc\ufeff\r\nd\re\x0cf\x1f🎂", replaced) == "a b\ufffdc\nd\ne\nf 🎂"
    assert replaced.notes() == ["2 NULs, 1 lone surrogate and 1 control character replaced"]
    assert Replaced().notes() == []


@given(st.text())
def test_clean_text_can_be_stored_anywhere(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode("utf-8")
    assert not any(char < " " and char not in "\n\t" for char in cleaned)
    assert clean_text(cleaned) == cleaned


# ── over the whole file, in blocks ──


def sniffed(data: bytes, tmp_path: Path, block_bytes: int, monkeypatch: pytest.MonkeyPatch) -> Encoding:
    monkeypatch.setattr("backend.corpus.decoding._BLOCK_BYTES", block_bytes)
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    return sniff(SourceFile("a.txt", path))


@pytest.mark.parametrize("block_bytes", [1, 7, 64])
@pytest.mark.parametrize(
    ("text", "encoding"),
    [(JAPANESE, "utf-8"), (GERMAN, "utf-16"), (RUSSIAN * 3, "koi8-r"), (JAPANESE * 3, "cp932"), (CZECH, "utf-32-le")],
)
def test_block_ends_cut_no_character(
    text: str, encoding: str, block_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = sniffed(text.encode(encoding), tmp_path, block_bytes, monkeypatch)
    assert found.name == encoding
    with text_stream(SourceFile("a.txt", tmp_path / "a.txt"), found.name) as stream:
        assert stream.read() == text


def test_the_last_line_of_a_large_file_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = b"The sluice key hangs by the door.\n" * 90_000
    assert sniffed(plain + GERMAN.encode("utf-8"), tmp_path, 1 << 20, monkeypatch).name == "utf-8"
    found = sniffed(plain + GERMAN.encode("cp1252"), tmp_path, 1 << 20, monkeypatch)
    assert (found.name, found.is_guessed) == ("cp1252", True)
    assert sniffed(plain + RUSSIAN.encode("cp1251"), tmp_path, 1 << 20, monkeypatch).name == "cp1251"


def test_a_large_old_file_is_told_from_lines_spread_over_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = (RUSSIAN + "\n").encode("koi8-r") * 60_000
    assert len(data) > 4_000_000
    found = sniffed(data, tmp_path, 1 << 20, monkeypatch)
    assert (found.name, found.warnings) == ("koi8-r", ("encoding guessed: KOI8-R (Russian)",))


def test_broken_bytes_in_utf8_are_replaced_and_counted_and_nothing_else_is_lost() -> None:
    decoded = decode((GERMAN + "\n").encode() * 5 + b"caf\xe9 \xff\n" + JAPANESE.encode())
    assert decoded.text == (GERMAN + "\n") * 5 + "caf\ufffd \ufffd\n" + JAPANESE
    assert (decoded.encoding, decoded.is_guessed) == ("utf-8", True)
    assert decoded.warnings == ("encoding guessed: UTF-8; 2 bytes that are not UTF-8 replaced",)


def test_several_encodings_in_one_file_are_never_silent() -> None:
    for order in (
        (("cp1252", GERMAN), ("utf-8", GERMAN)),
        (("utf-8", RUSSIAN), ("cp932", JAPANESE), ("cp1252", GERMAN)),
    ):
        try:
            decoded = decode(b"\n".join(text.encode(encoding) for encoding, text in order))
        except UnreadableFile:
            continue
        assert decoded.is_guessed
        assert "replaced" in decoded.warnings[0] or "several encodings" in decoded.warnings[-1]


@pytest.mark.parametrize(
    "text", ["Größe", "José", "café", "don’t", "20 °C", "100 % – ok", "Ærø", "name\nSeñor Núñez\n"]
)
def test_a_few_letters_and_signs_are_west_european(text: str) -> None:
    assert decode(text.encode("cp1252")).text == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("Łódź", "cp1250"), ("Dvořák, Antonín", "cp1250"), ("Москва", "koi8-r"), ("Иванов", "cp1251"), ("東京", "cp932"),
     ("上海市", "gb18030"), ("서울", "cp949"), ("Αθήνα", "cp1253"), ("Şişli", "cp1254"), ("שלום", "cp1255")],
)  # fmt: skip
def test_a_few_letters_of_others_are_not(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


def test_a_chosen_encoding_is_used_whatever_comes_of_it() -> None:
    assert decode(GERMAN.encode("cp1252"), forced="windows-1252").warnings == ()
    torn = decode("año".encode("cp1252"), forced="utf-8")
    assert torn.text == "a\ufffdo"
    assert torn.warnings == ("1 character does not fit the chosen encoding: replaced",)
    for name in ("no-such", "rot13", "hex", "idna", "unicode_escape", "base64", "", "\x00"):
        if name:
            with pytest.raises(UnreadableFile, match="no text encoding is called"):
                decode(b"words", forced=name)


def test_a_stop_is_heard_between_blocks(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"words\n" * 1_000_000)
    calls: list[int] = []
    sniff(SourceFile("a.txt", path), check=lambda: calls.append(1))
    assert len(calls) == 6


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("csv_cp932_mskanji.csv", "cp932"),
        ("csv_semicolon.csv", "utf-8"),
        ("gen_crlf_csv_bom_semicolon.csv", "utf-8-sig"),
        ("gen_nul_bytes.txt", "utf-8"),
        ("gen_single_line_3MB.txt", "utf-8"),
        ("html_cp1252.html", "cp1252"),
        ("srt_utf8_bom.srt", "utf-8-sig"),
        ("txt_big5.txt", "big5hkscs"),
        ("txt_koi8r.txt", "koi8-r"),
        ("txt_udhr_many_scripts.txt", "utf-8"),
        ("txt_utf16le_bom.txt", "utf-16"),
        ("txt_utf32.txt", "utf-32"),
    ],
)
def test_the_shared_files_are_told(name: str, encoding: str) -> None:
    assert sniff(SourceFile(name, shared_path("data", "files", name))).name == encoding


def test_what_was_utf16_with_a_mark_is_told_without_it() -> None:
    data = shared_path("data", "files", "txt_utf16le_bom.txt").read_bytes()
    assert decode(data[2:]).encoding == "utf-16-le"
    assert decode(data[2:]).text == decode(data).text
    swapped = data[2:].decode("utf-16-le").encode("utf-16-be")
    assert decode(swapped).encoding == "utf-16-be"
