"""What files are, told before anything is read."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import pytest

from backend.corpus import AS_IT_IS, ReadOptions, SourceFile
from backend.workspace.archive_peek import first_in_archive
from backend.workspace.recognise import ARCHIVE, DATASET, Recognised, dataset_words, recognise
from tests.conftest import shared_path

MB = 1_000_000


def _look(name: str, data: bytes, options: ReadOptions = AS_IT_IS) -> Recognised:
    return recognise(SourceFile(name, data), options, 50 * MB)


def _zip(**entries: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name.replace("__", "/"), data)
    return packed.getvalue()


def test_kinds_come_from_the_content() -> None:
    assert _look("a.txt", b"Some text.").media_type == "text/plain"
    assert _look("a.bin", b"%PDF-1.4 and so on").media_type == "application/pdf"
    assert _look("a.json", b'[{"text": "x"}]').media_type == "application/json"
    table = _look("a.csv", b"text;n\nA;1")
    assert (table.media_type, table.is_table, table.is_text, table.encoding) == ("text/csv", True, True, "UTF-8")
    word = recognise(SourceFile("x.doc", shared_path("data", "files", "docx_disguised_as.doc")), AS_IT_IS, 50 * MB)
    assert "wordprocessingml" in word.media_type
    assert not word.is_text


def test_what_gives_no_text_says_why_and_what_to_do() -> None:
    empty = _look("a.txt", b"")
    assert empty.problem.startswith("empty")
    assert empty.hint
    assert "blank" in _look("a.txt", b" \r\n\t \n").problem
    old = recognise(SourceFile("legacy.doc", shared_path("data", "files", "legacy_word97.doc")), AS_IT_IS, 50 * MB)
    assert ".doc" in old.problem
    assert ".docx" in old.hint
    assert "picture" in _look("a.png", b"\x89PNG\r\n\x1a\n").problem
    binary = _look("a.dat", bytes(range(32)) * 40)
    assert "binary" in binary.problem
    assert binary.is_text  # a person who knows its encoding may choose it


def test_a_file_beyond_the_limit_is_told_without_being_read() -> None:
    found = recognise(SourceFile("a.txt", b"x" * 2_000_001), AS_IT_IS, 2 * MB)
    assert found.problem == "too large: 2.0 MB, the limit is 2 MB."
    assert "RAGDUEL_MAX_UPLOAD_MB" in found.hint


def test_encodings_are_guessed_until_somebody_chooses() -> None:
    german = "Die Lieferung enthält über dreißig Schläuche für die Küche.\n" * 5
    found = _look("a.txt", german.encode("cp1252"))
    assert (found.encoding, found.is_guessed) == ("Windows-1252 (Western Europe)", True)
    chosen = _look("a.txt", german.encode("cp1252"), ReadOptions(encoding="cp1252"))
    assert (chosen.encoding, chosen.is_guessed) == ("Windows-1252 (Western Europe)", False)


def test_a_long_file_that_begins_in_ascii_leaves_its_encoding_open() -> None:
    data = b"plain words\n" * 30_000 + "Grüße".encode("cp1252")
    assert _look("a.txt", data).encoding == ""


def test_archives_and_datasets() -> None:
    archive = _zip(**{"notes__a.txt": b"A."})
    assert (_look("a.zip", archive).words, _look("a.zip", archive).is_archive) == (ARCHIVE, True)
    beir = _zip(**{"set__corpus.jsonl": b"{}", "set__queries.jsonl": b"{}"})
    assert _look("a.zip", beir).words == DATASET
    packed = _look("a.csv.gz", gzip.compress(b"a,b"))
    assert (packed.words, packed.is_archive, packed.problem) == ("gzip archive", True, "")


def test_the_parts_of_a_beir_folder_are_named() -> None:
    files = [
        SourceFile("set/corpus.jsonl", json.dumps({"_id": "1", "text": "One."}).encode()),
        SourceFile("set/queries.jsonl", json.dumps({"_id": "q", "text": "Which?"}).encode()),
        SourceFile("set/qrels/test.tsv", b"query-id\tcorpus-id\tscore\nq\t1\t1\n"),
        SourceFile("notes.txt", b"Not of it."),
    ]
    words = dataset_words(files)
    assert set(words) == {"set/corpus.jsonl", "set/queries.jsonl", "set/qrels/test.tsv"}
    assert "test" in words["set/qrels/test.tsv"]
    assert dataset_words(files[:1]) == {}
    assert dataset_words(files[3:]) == {}


def test_an_archive_is_previewed_by_its_first_file_or_its_corpus() -> None:
    archive = _zip(**{"__MACOSX__a.txt": b"junk", "z.txt": b"Zebra.", "b__corpus.jsonl": b'{"text": "One."}\n'})
    found = first_in_archive(SourceFile("set.zip", archive))
    assert found is not None
    assert (found.name, found.data) == ("set.zip/b/corpus.jsonl", b'{"text": "One."}\n')
    first = first_in_archive(SourceFile("set.zip", _zip(**{"z.txt": b"Zebra.", "y.txt": b"Yak."})))
    assert first is not None
    assert first.name == "set.zip/z.txt"


def test_a_preview_of_an_archive_is_bounded_and_survives_broken_ones() -> None:
    bomb = _zip(**{"long.txt": b"0123456789\n" * 1_000_000})
    found = first_in_archive(SourceFile("bomb.zip", bomb))
    assert found is not None
    assert found.size_bytes < 1_100_000
    assert found.data.endswith(b"\n")
    whole = _zip(**{"a.txt": b"Some text that is packed."})
    for broken in (whole[:40], b"PK\x03\x04" + b"\x00" * 60, whole[:30] + b"\xff" * 20 + whole[50:]):
        assert first_in_archive(SourceFile("x.zip", broken)) is None


@pytest.mark.parametrize("name", ["pdf_zero_bytes.pdf", "txt_empty.txt", "legacy_word97.doc"])
def test_hopeless_files_of_the_collection_are_told_at_once(name: str) -> None:
    assert recognise(SourceFile(name, shared_path("data", "files", name)), AS_IT_IS, 50 * MB).problem


def test_every_file_of_the_collection_is_recognised_as_something() -> None:
    for path in sorted(shared_path("data", "files").iterdir()):
        found = recognise(SourceFile(path.name, path), AS_IT_IS, 50 * MB)
        assert found.media_type or found.words, path.name


def test_half_a_zip_is_a_broken_archive() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", "words " * 200)
    found = recognise(SourceFile("half.zip", packed.getvalue()[:120]), AS_IT_IS, 10_000)
    assert found.words == ARCHIVE
    assert "broken ZIP" in found.problem
    assert found.hint
