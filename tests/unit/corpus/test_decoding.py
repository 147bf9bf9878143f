"""Encodings: marks, zeros, guesses, and what is no text."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.corpus import UnreadableFile
from backend.corpus.decoding import declared_charset, decode
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
