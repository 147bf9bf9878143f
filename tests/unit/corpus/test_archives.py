"""Archives: what comes out, under which names, and that none takes more than it may or writes elsewhere."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.corpus import CorpusLibrary
from backend.corpus.files import DEFAULT_LIMITS, Reading, ReadLimits, SourceFile, Unpacked, UnreadableFile
from backend.corpus.readers import read_file
from backend.corpus.readers.archive import unpack
from backend.corpus.readers.archive_names import harmless, names_encoding
from backend.corpus.reading import ProcessReading
from backend.errors import CancelledError
from backend.store import Database, FileStore
from tests.unit.corpus.made import docx_bytes
from tests.unit.corpus.made_office import zipped

NOTE = b"The weir is shut at night."


def opened(name: str, data: bytes, folder: Path, limits: ReadLimits = DEFAULT_LIMITS) -> Unpacked:
    found = unpack(SourceFile(name, data), folder, Reading(limits=limits))
    assert found is not None
    for file in found.files:
        assert isinstance(file.content, Path)
        assert file.content.parent == folder
    assert set(folder.iterdir()) == {file.content for file in found.files}
    return found


def contents(found: Unpacked) -> dict[str, bytes]:
    return {file.name: file.data for file in found.files}


def skipped(found: Unpacked) -> dict[str, str]:
    return {item.file: item.reason for item in found.skipped}


def refused(data: bytes, folder: Path, limits: ReadLimits = DEFAULT_LIMITS, name: str = "a.zip") -> str:
    with pytest.raises(UnreadableFile) as caught:
        unpack(SourceFile(name, data), folder, Reading(limits=limits))
    assert list(folder.iterdir()) == []
    return str(caught.value)


def emptied(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


def raw_zip(*entries: tuple[bytes, bytes], flags: int = 0, extra: bytes = b"", method: int = 0, mode: int = 0) -> bytes:
    """A ZIP of stored entries, every field as wanted."""
    out, table = bytearray(), bytearray()
    for name, data in entries:
        crc, size, at = zlib.crc32(data), len(data), len(out)
        out += struct.pack("<4s5H3L2H", b"PK\3\4", 20, flags, method, 0, 33, crc, size, size, len(name), len(extra))
        out += name + extra + data
        table += struct.pack(
            "<4s6H3L5H2L", b"PK\1\2", 3 << 8, 20, flags, method, 0, 33, crc, size, size, len(name), len(extra), 0, 0, 0,
            mode << 16, at,
        ) + name + extra  # fmt: skip
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, len(entries), len(entries), len(table), len(out), 0)
    return bytes(out + table) + end


def test_files_come_out_under_the_name_of_their_archive(tmp_path: Path) -> None:
    data = zipped({"a.txt": NOTE, "b/c.md": "# One", "report.docx": docx_bytes("Inside.")})
    steps: list[tuple[str, int, int]] = []
    reading = Reading(step=lambda word, done, total: steps.append((word, done, total)))
    found = unpack(SourceFile("x.zip", data), tmp_path, reading)
    assert found is not None
    assert list(contents(found)) == ["x.zip/a.txt", "x.zip/b/c.md", "x.zip/report.docx"]
    assert contents(found)["x.zip/a.txt"] == NOTE
    assert (found.skipped, found.warnings) == ((), ())
    assert steps == [("file", 1, 3), ("file", 2, 3), ("file", 3, 3)]


@pytest.mark.parametrize(
    ("name", "data"), [("a.docx", docx_bytes("x")), ("a.zip", docx_bytes("x")), ("a.txt", NOTE), ("e.txt", b""),
                       ("m.eml", b"From: a@b.c\nTo: d@e.f\nSubject: x\n\nText.")]
)  # fmt: skip
def test_documents_are_no_archives(name: str, data: bytes, tmp_path: Path) -> None:
    assert unpack(SourceFile(name, data), tmp_path, Reading()) is None


def test_archives_in_archives_up_to_a_limit(tmp_path: Path) -> None:
    data = NOTE
    for depth in range(5):
        data = zipped({"a.txt" if depth == 0 else f"in{depth}.zip": data, "beside.txt": b"y"})
    says = refused(data, tmp_path)
    assert "more than 3 inside each other" in says
    assert "RAGDUEL_MAX_ARCHIVE_NESTING" in says
    found = opened("x.zip", data, tmp_path, replace(DEFAULT_LIMITS, max_nesting=4))
    assert contents(found)["x.zip/in4.zip/in3.zip/in2.zip/in1.zip/a.txt"] == NOTE
    assert len(found.files) == 6


def test_a_broken_archive_inside_does_not_cost_the_rest(tmp_path: Path) -> None:
    inner = zipped({"a.txt": NOTE})
    found = opened("x.zip", zipped({"in.zip": inner[:-10], "b.txt": NOTE, "none.zip": zipped({})}), tmp_path)
    assert list(contents(found)) == ["x.zip/b.txt"]
    assert "table of contents" in skipped(found)["x.zip/in.zip"]
    assert "without files" in skipped(found)["x.zip/none.zip"]


def test_a_damaged_entry_is_named_and_the_rest_comes(tmp_path: Path) -> None:
    data = raw_zip((b"a.txt", NOTE), (b"b.txt", b"other")).replace(NOTE, NOTE[:-1] + b"?", 1)
    found = opened("x.zip", data, tmp_path)
    assert contents(found) == {"x.zip/b.txt": b"other"}
    assert "checksum" in skipped(found)["x.zip/a.txt"]


@pytest.mark.parametrize("n_bytes", [4, 30, 60, -1, -22])
def test_a_cut_off_archive_is_refused(n_bytes: int, tmp_path: Path) -> None:
    assert "broken ZIP archive" in refused(zipped({"a.txt": NOTE})[:n_bytes], tmp_path)


def test_an_empty_archive_is_refused_and_empty_folders_are_noted(tmp_path: Path) -> None:
    assert "a ZIP archive without files" in refused(zipped({}), tmp_path)
    assert "a ZIP archive without files" in refused(zipped({"d/": b""}), tmp_path)
    found = opened("x.zip", zipped({"d/": b"", "e/": b"", "e/a.txt": NOTE}), tmp_path)
    assert (list(contents(found)), list(skipped(found))) == (["x.zip/e/a.txt"], ["x.zip/d/"])


def test_side_files_are_noted_once_a_folder(tmp_path: Path) -> None:
    junk = ["__MACOSX/._a.txt", "__MACOSX/b/._c", ".DS_Store", "b/._x.md", "b/Thumbs.db", "desktop.ini", ".git/config"]
    found = opened("x.zip", zipped({"a.txt": NOTE, **dict.fromkeys(junk, b"Mac OS X")}), tmp_path)
    assert list(contents(found)) == ["x.zip/a.txt"]
    assert list(skipped(found)) == [
        f"x.zip/{name}" for name in ("__MACOSX/", ".DS_Store", "b/._x.md", "b/Thumbs.db", "desktop.ini", ".git/")
    ]
    assert all("left out" in reason for reason in skipped(found).values())


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "etc/passwd"), ("/etc/passwd", "etc/passwd"), ("C:\\Windows\\a.txt", "Windows/a.txt"),
        ("a/../../b.txt", "a/b.txt"), ("\\\\host\\share\\x", "host/share/x"), ("a\x00b\x1b[31m.txt", "a_b_[31m.txt"),
        ("..", "unnamed"), ("", "unnamed"), ("//", "unnamed"), ("C:D:/x", "x"), ("gpj\u202etxt.exe", "gpj_txt.exe"),
        ("a\udc80.txt", "a_.txt"), ("e\u0301.txt", "é.txt"),
    ],
)  # fmt: skip
def test_names_lead_nowhere(name: str, shown: str) -> None:
    assert harmless(name) == shown


@given(st.text(max_size=2000))
def test_no_name_leads_anywhere(name: str) -> None:
    shown = harmless(name)
    assert 0 < len(shown) <= 1_001
    assert not set(shown) & set("\\\x00\n\r")
    assert not shown.startswith("/")
    assert not {"", ".", ".."} & set(shown.split("/"))
    shown.encode("utf-8")


def test_traversal_writes_into_the_folder_only(tmp_path: Path) -> None:
    folder = tmp_path / "in" / "here"
    folder.mkdir(parents=True)
    raw = raw_zip((b"../../evil.txt", NOTE), (b"/abs.txt", b"2"), (b"C:\\win.txt", b"3"), (b"..\\..\\up.txt", b"4"))
    found = opened("../x.zip", raw, folder)
    assert [file.name for file in found.files] == [
        f"../x.zip/{n}" for n in ("evil.txt", "abs.txt", "win.txt", "up.txt")
    ]
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.parent != folder] == []


def test_equal_names_are_told_apart(tmp_path: Path) -> None:
    found = opened("x.zip", raw_zip((b"a.txt", b"1"), (b"a.txt", b"2"), (b"./a.txt", b"3")), tmp_path)
    assert contents(found) == {"x.zip/a.txt": b"1", "x.zip/a (2).txt": b"2", "x.zip/a (3).txt": b"3"}
    assert found.warnings[0] == "x.zip/a (2).txt: another file is named x.zip/a.txt"


@pytest.mark.parametrize(
    ("names", "codec"),
    [
        (["Übergröße.txt", "Straße.md"], "cp437"), (["été.txt", "reçu.pdf"], "cp437"), (["表x.txt"], "cp932"),
        (["会議資料.txt", "議事録.docx"], "cp932"), (["图书馆开放时间.txt", "会议记录.docx"], "gbk"),
        (["Отчёт за год.txt", "Смета на ремонт.xlsx"], "cp866"), (["señal.txt"], "utf-8"), (["plain.txt"], "ascii"),
        (["Müller Größe.txt"], "cp1252"), (["회의 자료 모음.txt", "보고서 초안.docx"], "cp949"),
    ],
)  # fmt: skip
def test_old_names_are_read_in_their_encoding(names: list[str], codec: str, tmp_path: Path) -> None:
    data = raw_zip(*((name.encode(codec), NOTE) for name in names))
    found = opened("x.zip", data, tmp_path)
    assert [file.name for file in found.files] == [f"x.zip/{name}" for name in names]
    assert bool(found.warnings) == (codec not in ("ascii", "utf-8"))


def test_names_in_utf8_by_flag_by_field_and_falsely(tmp_path: Path) -> None:
    raw = "議.txt".encode()
    assert list(contents(opened("x.zip", raw_zip((raw, NOTE), flags=1 << 11), tmp_path))) == ["x.zip/議.txt"]
    field = struct.pack("<HHBL", 0x7075, 5 + len(raw), 1, zlib.crc32(b"\x82.txt")) + raw
    emptied(tmp_path)
    found = opened("x.zip", raw_zip((b"\x82.txt", NOTE), extra=field), tmp_path)
    assert (list(contents(found)), found.warnings) == (["x.zip/議.txt"], ())
    emptied(tmp_path)
    assert list(contents(opened("x.zip", raw_zip((b"\x82.txt", NOTE), flags=1 << 11), tmp_path))) == ["x.zip/é.txt"]


# Without dots, as hidden files are left out and folders of them noted once.
@given(st.lists(st.binary(max_size=40).map(lambda name: name.replace(b".", b"")), max_size=5))
def test_any_bytes_are_a_name(names: list[bytes]) -> None:
    codec = names_encoding(names)
    with tempfile.TemporaryDirectory() as folder:
        if names:
            found = unpack(SourceFile("x.zip", raw_zip(*((n + b"x", NOTE) for n in names))), Path(folder), Reading())
            assert found is not None
            assert len(found.files) + len(found.skipped) == len(names)
    assert b"a".decode(codec) == "a"


def test_locked_entries_are_named_and_a_locked_archive_refused(tmp_path: Path) -> None:
    locked = bytearray(raw_zip((b"a.txt", NOTE), (b"b.txt", NOTE)))
    assert "a ZIP archive with a password" in refused(raw_zip((b"a.txt", NOTE), flags=1), tmp_path)
    at = locked.index(b"PK\1\2")
    locked[at + 8] |= 1
    found = opened("x.zip", bytes(locked), tmp_path)
    assert list(contents(found)) == ["x.zip/b.txt"]
    assert "password" in skipped(found)["x.zip/a.txt"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (raw_zip((b"a", b"/etc/passwd"), mode=0o120777), "a link"),
        (raw_zip((b"a", b""), mode=0o020666), "no ordinary"), (raw_zip((b"a", b"x"), method=14), "LZMA"),
        (raw_zip((b"a", b"x"), method=77), "method 77"),
    ],
)  # fmt: skip
def test_links_devices_and_unknown_packing_are_named(data: bytes, reason: str, tmp_path: Path) -> None:
    found = opened("x.zip", data, tmp_path)
    assert found.files == ()
    assert reason in skipped(found)["x.zip/a"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_packed_in_the_usual_ways(method: int, tmp_path: Path) -> None:
    text = b"".join(b"line %d\n" % n for n in range(100_000))
    assert contents(opened("x.zip", zipped({"a.txt": text}, method), tmp_path)) == {"x.zip/a.txt": text}


def test_something_before_the_archive_and_zip64(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive, archive.open("a.txt", "w", force_zip64=True) as entry:
        entry.write(NOTE)
    found = opened("x.zip", b"PK\x07\x08" + packed.getvalue(), tmp_path)
    assert contents(found) == {"x.zip/a.txt": NOTE}
    wide = bytearray(raw_zip((b"a.txt", NOTE)))
    at = len(wide) - 22
    size, start = struct.unpack_from("<2L", wide, at + 12)
    wide[at + 8 : at + 20] = b"\xff" * 12
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, size, start)
    wide[at:at] = end64 + struct.pack("<4sLQL", b"PK\6\7", 0, at, 1)
    emptied(tmp_path)
    assert contents(opened("x.zip", bytes(wide), tmp_path)) == {"x.zip/a.txt": NOTE}


def test_bombs_by_ratio(tmp_path: Path) -> None:
    says = refused(zipped({"a.txt": NOTE, "b.txt": bytes(3_000_000)}), tmp_path)
    assert "more than 200 times" in says
    assert "RAGDUEL_MAX_ARCHIVE_RATIO" in says
    small = opened("x.zip", zipped({"b.txt": b" " * 900_000}), tmp_path)
    assert len(small.files) == 1


def test_a_size_that_is_falsely_stated_helps_no_bomb(tmp_path: Path) -> None:
    data = bytearray(zipped({"b.txt": bytes(3_000_000)}))
    at = data.index(b"PK\1\2")
    data[at + 24 : at + 28] = (10).to_bytes(4, "little")
    assert "more than 200 times" in refused(bytes(data), tmp_path)


def test_bombs_by_number_and_by_size(tmp_path: Path) -> None:
    many = raw_zip(*((b"%d.txt" % n, b"") for n in range(30)))
    says = refused(many, tmp_path, replace(DEFAULT_LIMITS, max_entries=29))
    assert "more than 29 files" in says
    assert "RAGDUEL_MAX_ARCHIVE_ENTRIES" in says
    nested = zipped({"a.zip": many, "b.zip": many})
    assert "more than 60 files" in refused(nested, tmp_path, replace(DEFAULT_LIMITS, max_entries=60))
    large = raw_zip(*((b"%d.txt" % n, bytes(1000)) for n in range(10)))
    says = refused(large, tmp_path, replace(DEFAULT_LIMITS, max_unpacked_bytes=9_000))
    assert "RAGDUEL_MAX_UNPACKED_MB" in says


def test_entries_that_share_bytes_are_refused(tmp_path: Path) -> None:
    data = raw_zip((b"a.txt", NOTE))
    at = data.index(b"PK\1\2")
    record = data[at:-22]
    twice = data[:at] + record + record.replace(b"a.txt", b"b.txt")
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 2, 2, 2 * len(record), at, 0)
    assert "share their bytes" in refused(twice + end, tmp_path)
    quoting = bytearray(raw_zip((b"a.txt", NOTE), (b"b.txt", NOTE)))  # the first goes on over the second's header
    at = quoting.index(b"PK\1\2")
    quoting[at + 20 : at + 24] = (len(NOTE) + 36).to_bytes(4, "little")
    assert "share their bytes" in refused(bytes(quoting), tmp_path)


def test_a_large_entry_is_skipped_whatever_it_states(tmp_path: Path) -> None:
    limits = replace(DEFAULT_LIMITS, max_file_bytes=1_000)
    data = raw_zip((b"a.txt", b"x" * 2_000), (b"b.txt", NOTE))
    lying = bytearray(data)
    at = data.index(b"PK\1\2")
    lying[at + 24 : at + 28] = (10).to_bytes(4, "little")
    for one in (data, bytes(lying)):
        found = opened("x.zip", one, tmp_path, limits)
        assert list(contents(found)) == ["x.zip/b.txt"]
        assert "RAGDUEL_MAX_UPLOAD_MB" in skipped(found)["x.zip/a.txt"]
        emptied(tmp_path)


def test_stopping_leaves_nothing(tmp_path: Path) -> None:
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise CancelledError("Stopped.")

    data = zipped({f"{n}.txt": NOTE for n in range(9)})
    with pytest.raises(CancelledError):
        unpack(SourceFile("x.zip", data), tmp_path, Reading(check=check))
    assert list(tmp_path.iterdir()) == []


def tar_bytes(members: dict[str, bytes], mode: str = "w", link: str = "") -> bytes:
    out = io.BytesIO()
    opener: Any = tarfile.open  # typed for each mode by itself
    with opener(fileobj=out, mode=mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        if link:
            info = tarfile.TarInfo(link)
            info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(info)
    return out.getvalue()


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_packed_or_not(mode: str, tmp_path: Path) -> None:
    text = b"".join(b"line %d\n" % n for n in range(100_000))
    members = {"../../a.txt": NOTE, "d/übung.txt": text, "._a.txt": b"Mac OS X", "in.zip": zipped({"z.txt": NOTE})}
    found = opened("t.tar", tar_bytes(members, mode, link="evil"), tmp_path)
    assert contents(found) == {"t.tar/a.txt": NOTE, "t.tar/d/übung.txt": text, "t.tar/in.zip/z.txt": NOTE}
    assert list(skipped(found)) == ["t.tar/._a.txt", "t.tar/evil"]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_one_packed_file(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    data = pack(NOTE) + pack(b" And open by day.")
    found = opened("in/corpus.jsonl.gz", data, tmp_path)
    assert contents(found) == {"in/corpus.jsonl.gz/corpus.jsonl": NOTE + b" And open by day."}
    emptied(tmp_path)
    assert "more than 200 times" in refused(pack(bytes(3_000_000)), tmp_path, name="b.gz")


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_a_tar_that_breaks_off_gives_what_came_before(mode: str, tmp_path: Path) -> None:
    noise = bytes(zlib.crc32(b"%d" % n) % 256 for n in range(600_000))
    data = tar_bytes({"a.txt": NOTE, "b.txt": noise, "c.txt": NOTE}, mode)
    found = opened("t.tar", data[: len(data) // 2], tmp_path)
    assert contents(found) == {"t.tar/a.txt": NOTE}
    assert "damaged" in skipped(found)["t.tar/b.txt"]


def test_tar_bombs(tmp_path: Path) -> None:
    assert "more than 200 times" in refused(tar_bytes({"a": NOTE, "b": bytes(5_000_000)}, "w:gz"), tmp_path)
    many = tar_bytes({str(n): b"" for n in range(30)}, "w:gz")
    assert "more than 29 files" in refused(many, tmp_path, replace(DEFAULT_LIMITS, max_entries=29))
    # Parts that are passed over are unpacked all the same, and count.
    limits = replace(DEFAULT_LIMITS, max_file_bytes=1_000, max_unpacked_bytes=300_000)
    noise = bytes(zlib.crc32(b"%d" % n) % 256 for n in range(200_000))
    assert "RAGDUEL_MAX_UNPACKED_MB" in refused(tar_bytes({"a": noise, "b": noise}, "w:gz"), tmp_path, limits)


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE])
def test_a_tar_of_headers_of_headers(kind: bytes, tmp_path: Path) -> None:
    header = tarfile.TarInfo("long")
    header.type, header.size = kind, 12
    one = header.tobuf(tarfile.USTAR_FORMAT) + b"12 path=abc\n".ljust(512, b"\0")
    data = one * 5_000 + tarfile.TarInfo("x").tobuf(tarfile.USTAR_FORMAT) + bytes(1_024)
    assert "broken archive" in refused(data, tmp_path, name="t.tar")


def quine_like(depth: int) -> bytes:
    """An archive that holds another and a text, and so on."""
    return zipped({"r.zip": quine_like(depth - 1), "r.txt": NOTE}) if depth else zipped({"r.txt": NOTE})


def test_many_archives_in_each_other_are_counted_together(tmp_path: Path) -> None:
    inner = zipped({f"{n}.txt": NOTE for n in range(20)})
    data = zipped({f"{n}.zip": inner for n in range(20)})
    limits = replace(DEFAULT_LIMITS, max_entries=419)
    assert "RAGDUEL_MAX_ARCHIVE_ENTRIES" in refused(data, tmp_path, limits)
    assert len(opened("x.zip", data, tmp_path, replace(limits, max_entries=420)).files) == 400
    emptied(tmp_path)
    assert "RAGDUEL_MAX_ARCHIVE_NESTING" in refused(quine_like(60), tmp_path)
    large = zipped({f"{n}.zip": zipped({"a.txt": b"%d" % n * 2_000}) for n in range(10)})
    assert "RAGDUEL_MAX_UNPACKED_MB" in refused(large, tmp_path, replace(DEFAULT_LIMITS, max_unpacked_bytes=9_000))


def mail_bytes(*attached: tuple[str, bytes, str]) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@example.org", "b@example.org", "Gates"
    mail.set_content("See the attached.")
    for name, data, kind in attached:
        main, _, sub = kind.partition("/")
        mail.add_attachment(data, maintype=main, subtype=sub, filename=name)
    return mail.as_bytes()


def test_a_mail_comes_with_its_attachments(tmp_path: Path) -> None:
    mail = mail_bytes(
        ("plan.docx", docx_bytes("The plan."), "application/octet-stream"),
        ("../notes.txt", NOTE, "application/octet-stream"),
        ("logo.png", b"\x89PNG\r\n\x1a\n", "image/png"),
        ("more.zip", zipped({"z.txt": NOTE}), "application/zip"),
    )
    found = opened("m.eml", mail, tmp_path)
    names = ["m.eml", "m.eml/plan.docx", "m.eml/notes.txt", "m.eml/more.zip/z.txt"]
    assert list(contents(found)) == names
    assert contents(found)["m.eml"] == mail
    assert "a picture" in skipped(found)["m.eml/logo.png"]
    assert "See the attached." in read_file(found.files[0]).text


def test_a_mail_in_an_archive_keeps_its_attachments_as_deep_as_allowed(tmp_path: Path) -> None:
    mail = mail_bytes(("notes.txt", NOTE, "application/octet-stream"))
    found = opened("x.zip", zipped({"in.eml": mail}), tmp_path)
    assert list(contents(found)) == ["x.zip/in.eml", "x.zip/in.eml/notes.txt"]
    emptied(tmp_path)
    found = opened("x.zip", zipped({"in.eml": mail}), tmp_path, replace(DEFAULT_LIMITS, max_nesting=0))
    assert list(contents(found)) == ["x.zip/in.eml"]


TAR = tar_bytes({"a.txt": NOTE, "b/c.txt": NOTE})
SEEDS = (zipped({"a.txt": NOTE, "b/c.txt": NOTE * 50}), TAR, gzip.compress(TAR), bz2.compress(TAR), lzma.compress(TAR),
         zipped({"in.zip": zipped({"a.txt": NOTE})}), mail_bytes(("n.txt", NOTE, "text/plain")))  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from((b"", b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\x00")),
    st.binary(max_size=300),
)
def test_random_bytes_are_refused_or_no_archive(head: bytes, rest: bytes) -> None:
    unharmed(head + rest)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), max_size=6),
    st.integers(0, 1 << 20),
)
def test_damaged_archives_give_what_they_can(seed: bytes, changes: list[tuple[int, int]], cut: int) -> None:
    data = bytearray(seed)
    for at, value in changes:
        data[at % len(data)] = value
    unharmed(bytes(data[: cut % (2 * len(data))]))


def unharmed(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "in"
        folder.mkdir()
        try:
            found = unpack(SourceFile("x.zip", data), folder, Reading())
        except UnreadableFile:
            assert list(folder.iterdir()) == []
        else:
            assert set(folder.iterdir()) == ({f.content for f in found.files} if found else set())
        assert list(Path(name).iterdir()) == [folder]


def test_a_library_reads_them_in_a_process_of_its_own(database: Database, files: FileStore) -> None:
    reading = ProcessReading(n_processes=1)
    try:
        library = CorpusLibrary(database, files, reading=reading)
        mail = mail_bytes(("notes.txt", NOTE, "application/octet-stream"))
        sources = [
            SourceFile("x.zip", zipped({"a.txt": b"Eels swim.", "b.png": b"\x89PNG"})), SourceFile("m.eml", mail),
            SourceFile("bomb.zip", zipped({"b.txt": bytes(3_000_000)})),
            SourceFile("t.csv.gz", gzip.compress(b"a\nb\n")),
        ]  # fmt: skip
        report = library.add("c", sources)
    finally:
        reading.close()
    assert [document.name for document in library.documents(report.corpus_id)] == [
        "x.zip/a.txt", "m.eml", "m.eml/notes.txt", "t.csv.gz/t.csv",
    ]  # fmt: skip
    assert [item.file for item in report.skipped] == ["bomb.zip", "x.zip/b.png"]
