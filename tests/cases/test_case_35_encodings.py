"""35 doc-encodings: each file of the case is read in its encoding, a guess is said, what is hopeless is refused."""

from __future__ import annotations

import pytest

from backend.corpus.files import SourceFile, UnreadableFile
from backend.corpus.readers import read_file
from tests.conftest import shared_path

CASE = ("cases", "cases", "35-doc-encodings")


@pytest.mark.parametrize(
    ("name", "text", "encoding", "is_guessed"),
    [
        ("cp1252.txt", "The café “Blue Door” charges 5 € – closed on Mondays.", "cp1252", True),
        ("utf16.txt", "The tram stop is named Schönbrunn.", "utf-16", False),
        ("utf8-bom.txt", "Der Schlüssel hängt im Flur.", "utf-8-sig", False),
        ("gb18030.txt", "图书馆周一闭馆，周二至周日上午九点开门。", "gb18030", True),
        ("queries.txt", "Which café charges 5 €?\nWo hängt der Schlüssel?\n图书馆什么时候闭馆？", "utf-8", False),
    ],
)
def test_letters_come_as_they_were_written(name: str, text: str, encoding: str, is_guessed: bool) -> None:
    document = read_file(SourceFile(name, shared_path(*CASE, name)))
    assert document.text.startswith(text)
    assert not set(document.text) & set("\ufeff\ufffd\x00")
    assert (document.facts.encoding, document.facts.encoding_guessed) == (encoding, is_guessed)
    assert any("encoding guessed" in warning for warning in document.warnings) == is_guessed


def test_what_is_no_text_is_refused_and_says_so() -> None:
    with pytest.raises(UnreadableFile, match="not text: binary data"):
        read_file(SourceFile("noise.txt", bytes(range(256)) * 8))
