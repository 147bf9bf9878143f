"""RTF, books, e-mail, notebooks and subtitles: what is kept, where it stands, what is refused."""

from __future__ import annotations

import json

import pytest

from backend.corpus.files import Reading, ReadLimits, ReadOptions, SourceFile, UnreadableFile
from backend.corpus.readers import read_file
from backend.corpus.readers.eml import attachments
from tests.unit.corpus.made_office import cue, epub_bytes, notebook_bytes
from tests.unit.corpus.test_readers import places, read, refusal

# ── RTF ──


def rtf(body: str, top: str = "") -> str:
    fonts = r"{\fonttbl{\f0\fswiss\fcharset0 Arial;}{\f1\fcharset204{\*\falt x}Arial Cyr;}{\f2\fcharset128 Gothic;}}"
    return r"{\rtf1\ansi\ansicpg1252\uc1\deff0" + fonts + top + body + "}"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"caf\'e9 \endash  \ldblquote so\rdblquote\par", "café – “so”"),
        (r"{\f1\'cc\'e8\'f0} and \f2\'83\'65\'83X\'83g\f0  end", "Мир and テスト end"),
        (r"\u8222?here\u8220?, \uc2\u1052\'cc\'cc\uc0\u1080\u1088", "„here“, Мир"),
        (r"\u-10179?\u-8704?", "😀"),
        (r"{\upr{\'3f}{\*\ud{\u1052?}}}", "М"),
        (r"one\line two\tab three\~four\_five\-six \{\}\\", "one\ntwo\tthree\u00a0four\u2011fivesix {}\\"),
        (r"first\par second\page third", "first\n\nsecond\n\nthird"),
        (r"shown {\v hidden} {\deleted gone} {\pict\pngblip 00ff 00ff}end", "shown   end"),
        (r"a{\*\unknown secret}b{\header top}c{\object{\*\objdata 00}{\result d}}", "abcd"),
        (r"see{\footnote\pard below\par} here", "see [below] here"),
        (r"go {\field{\*\fldinst HYPERLINK x}{\fldrslt there}}", "go there"),
        (r"{\shp{\*\shpinst{\sp{\sn k}{\sv v}}{\shptxt \pard boxed\par}}{\shprslt again}}", "boxed"),
        ("\\bin5 {{{{{after", "after"),
        ("split\r\nlines", "splitlines"),
    ],
)
def test_rtf_characters_and_groups(body: str, text: str) -> None:
    assert read("a.rtf", rtf(body)).text == text


def test_rtf_tables_stay_in_rows_and_headings_are_places() -> None:
    styles = r"{\stylesheet{\s0 Normal;}{\s15\outlinelevel0 My Head;}{\s2\sbasedon0\snext0 heading 2;}{\*\cs3 Bold;}}"
    body = (
        r"\pard\s15 Pump\par\pard Before.\par"
        r"\trowd\cellx1\cellx2\pard\intbl Part\cell Torque\cell\row"
        r"\trowd\pard\intbl Base\par bolt\cell 31 Nm\cell\row"
        r"\pard\s2 Seals\par\pard\outlinelevel1 Rings\par\pard After.\par"
    )
    document = read("old.doc", rtf(body, styles + r"{\info{\title The \'b5 pump}{\author Nobody}}"))
    assert document.text == "Pump\n\nBefore.\n\nPart | Torque\nBase bolt | 31 Nm\n\nSeals\n\nRings\n\nAfter."
    assert list(places(document)) == ["Pump", "Pump > Seals", "Pump > Rings"]
    assert (document.title, document.media_type) == ("The µ pump", "application/rtf")


def test_rtf_cut_off_or_blank() -> None:
    assert "may be cut off" in read("a.rtf", rtf("words")[:-1]).warnings[0]
    assert "no text" in refusal("a.rtf", rtf(r"\par {\pict 00}"))
    assert "nest without end" in refusal("a.rtf", "{\\rtf1" + "{" * 100_000)


# ── EPUB ──

CHAPTERS = {"b.xhtml": "<h1>Gates</h1><p>Shut at night.</p>", "a.xhtml": "<h2>Eels</h2><p>Counted.</p>"}


def test_chapters_stand_in_reading_order_under_the_names_of_the_contents() -> None:
    nav = (
        '<li><span>Part one</span><ol><li><a href="b.xhtml#x">The Gates</a></li></ol></li>'
        '<li><a href="a.xhtml">Fish</a></li>'
    )
    document = read("book.zip", epub_bytes(CHAPTERS, nav=nav))
    assert places(document) == {
        "Part one > The Gates": "Gates\n\nShut at night.",
        "Fish > Eels": "Eels\n\nCounted.",
    }
    assert (document.title, document.media_type) == ("The mill", "application/epub+zip")


def test_an_old_book_has_its_names_in_a_map_and_one_without_in_its_headings() -> None:
    point = "<navPoint><navLabel><text>{}</text></navLabel><content src='{}'/>{}</navPoint>"
    ncx = point.format("I", "x.xhtml", point.format("Water", "b.xhtml#top", ""))
    assert list(places(read("a.epub", epub_bytes(CHAPTERS, ncx=ncx)))) == ["I > Water > Gates", "I > Water > Eels"]
    assert list(places(read("a.epub", epub_bytes(CHAPTERS)))) == ["Gates", "Eels"]


def test_tags_closed_at_once_swallow_no_text() -> None:
    body = '<script src="x"/><a id="top"/><div/><p>Here<br/>and <i/>there.</p><img alt="x"/>'
    assert read("a.epub", epub_bytes({"c.xhtml": body})).text == "Here\nand there."


def test_books_without_text_missing_chapters_and_locks() -> None:
    lock = (
        '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
        'xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData><e:EncryptionMethod Algorithm="{}"/>'
        "</e:EncryptedData></encryption>"
    )
    name = "META-INF/encryption.xml"
    fonts = epub_bytes(CHAPTERS, parts={name: lock.format("http://www.idpf.org/2008/embedding")})
    assert "Shut at night." in read("a.epub", fonts).text
    drm = epub_bytes(CHAPTERS, parts={name: lock.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc")})
    assert "DRM" in refusal("a.epub", drm)
    assert "no text in any chapter" in refusal("a.epub", epub_bytes({"c.xhtml": "<img src='x'/>"}))
    torn = read("a.epub", epub_bytes({**CHAPTERS, "c.xhtml": "x"}, parts={"OPS/c.xhtml": bytes(range(256)) * 9}))
    assert torn.warnings == ("chapter file 3: missing or unreadable, left out",)
    assert "not an EPUB book inside" in refusal("a.epub", "just words")


# ── e-mail ──

PARTS = b"""From: =?utf-8?q?J=C3=B6rg?= <j@example.org>
To: mill@example.org
Date: Mon, 2 Dec 2024 10:00:00 +0100
Subject: =?iso-8859-1?Q?Schl=FCssel?= for the
 sluice
X-Spam: no
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: multipart/alternative; boundary="c"

--c
Content-Type: text/plain; charset=bogus
Content-Transfer-Encoding: quoted-printable

It h=C3=A4ngs by the door.
--c
Content-Type: text/html

<p>The <b>other</b> version</p>
--c--
--b
Content-Type: application/pdf; name="plan.pdf"
Content-Disposition: attachment; filename="plan.pdf"
Content-Transfer-Encoding: base64

AAEC
--b
Content-Type: text/plain; name="notes.txt"
Content-Disposition: attachment; filename="=?utf-8?q?n=C3=B6tes.txt?="

kept apart
--b--
"""


def test_a_message_keeps_its_headers_and_plain_text_and_names_what_is_attached() -> None:
    document = read("noname", PARTS)
    assert document.text == (
        "From: Jörg <j@example.org>\nTo: mill@example.org\nDate: Mon, 2 Dec 2024 10:00:00 +0100\n"
        "Subject: Schlüssel for the sluice\n\nIt hängs by the door."
    )
    assert document.title == "Schlüssel for the sluice"
    assert document.media_type == "message/rfc822"
    assert document.warnings == ("attached, each a file of its own: plan.pdf and nötes.txt",)
    assert attachments(PARTS) == [("plan.pdf", b"\x00\x01\x02"), ("nötes.txt", b"kept apart")]


def test_a_message_with_a_page_only_is_read_as_a_page() -> None:
    head = "From: a@b.c\nSubject: s\nTo: d@e.f\nContent-Type: text/html; charset=iso-8859-2\n\n"
    body = "<style>p {}</style><h1>Weir</h1><p>Žluťoučký</p><script>x</script>"
    document = read("a.eml", head.encode() + body.encode("iso8859-2"))
    assert document.text.endswith("\n\nWeir\n\nŽluťoučký")
    assert places(document) == {"Weir": "Weir\n\nŽluťoučký"}


def test_a_forwarded_message_and_a_mailbox_of_many() -> None:
    inner = "From: old@b.c\nSubject: first\nTo: x@y.z\n\nThe old words.\n"
    outer = f'From: a@b.c\nSubject: Fwd\nTo: d@e.f\nContent-Type: multipart/mixed; boundary="q"\n\n--q\n\nSee below.\n--q\nContent-Type: message/rfc822\n\n{inner}--q--\n'  # noqa: E501
    text = read("a.eml", outer).text
    assert text.index("See below.") < text.index("From: old@b.c") < text.index("The old words.")
    mailbox = f"From a@b.c Mon Dec  2 10:00:00 2024\n{inner}\nFrom a@b.c Tue Dec  3 10:00:00 2024\n{inner}"
    document = read("noname", mailbox)
    assert list(places(document)) == ["message 1", "message 2"]
    assert document.text.count("The old words.") == 2


def test_broken_messages_survive_and_those_that_say_nothing_are_refused() -> None:
    bad = "From: =?bogus?b?AAAA?= <a@b.c>\nTo: \xff\nSubject: =?utf-8?b?w?=\n"
    bad += "Content-Type: multipart/mixed; boundary=\n\nWords."
    text = read("a.eml", bad.encode("latin-1")).text
    assert "Words." in text
    assert "To: ÿ" in text
    cut = PARTS[: PARTS.index(b"AAEC")]
    assert "hängs" in read("a.eml", cut).text
    assert "no text" in refusal("a.eml", "From: a@b.c\nTo: d@e.f\nDate: x\n\n \n")
    nested = "From: a\nTo: b\nSubject: c\n" + "Content-Type: multipart/mixed; boundary=x\n\n--x\n" * 501
    assert "more than 500 nested parts" in refusal("a.eml", nested)
    assert read("a.txt", "From: here to there\nit is a mile.\n").media_type == "text/plain"


# ── notebooks ──


def test_cells_are_places_under_their_headings() -> None:
    data = notebook_bytes(
        {"cell_type": "markdown", "source": ["# Eels\n", "counted"]},
        {
            "cell_type": "code",
            "source": "print(1)\n```",
            "outputs": [
                {"output_type": "stream", "text": ["\x1b[31m1\x1b[0m\n"]},
                {"output_type": "execute_result", "data": {"text/plain": "  a\n0 1", "image/png": "AAAA"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no eel", "traceback": ["long"]},
            ],
        },
        {"cell_type": "code", "source": "", "outputs": []},
        {"cell_type": "markdown", "source": "## June\n```\n# no heading\n```"},
    )
    document = read("noname", data)
    assert places(document) == {
        "cell 1: Eels": "# Eels\ncounted",
        "cell 2: Eels": "````python\nprint(1)\n```\n````\n\nOutput:\n```\n1\n  a\n0 1\nValueError: no eel\n```",
        "cell 4: Eels > June": "## June\n```\n# no heading\n```",
    }
    assert document.media_type == "application/x-ipynb+json"


def test_long_output_is_cut_and_said() -> None:
    printed = [{"output_type": "stream", "text": "word " * 2_000}]
    document = read("a.ipynb", notebook_bytes({"cell_type": "code", "source": "x", "outputs": printed}))
    assert len(document.text) < 4_100
    assert document.warnings == ("1 cell printed more than 4,000 characters: the rest is not read",)


def test_old_broken_and_blank_notebooks() -> None:
    old = {
        "nbformat": 3,
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "source": "Eels"},
                    {"cell_type": "code", "input": "x = 1", "outputs": [{"output_type": "pyout", "text": "1"}]},
                ]
            }
        ],
    }
    assert places(read("a.ipynb", json.dumps(old))) == {
        "cell 1: Eels": "## Eels",
        "cell 2: Eels": "```\nx = 1\n```\n\nOutput:\n```\n1\n```",
    }
    assert "broken notebook" in refusal("a.ipynb", '{"cells": [')
    assert "without cells" in refusal("a.ipynb", '{"cells": []}')
    assert "blank" in refusal("a.ipynb", notebook_bytes({"cell_type": "markdown", "source": " "}, {"x": 1}))
    assert "broken notebook" in refusal("a.ipynb", '{"cells": ' + "[" * 200_000)
    odd = notebook_bytes({"cell_type": "code", "source": 7, "outputs": [{"data": [1]}, 3, {"text": {"a": 1}}]})
    assert "blank" in refusal("a.ipynb", odd)


# ── subtitles ──


def test_cues_become_running_text_at_their_time() -> None:
    srt = cue(1, "00:00:06", "<i>About two</i>", "months ago") + cue(2, "00:00:11", "{\\an8}I was here.")
    document = read("film.txt", srt)
    assert places(document) == {"00:00:06": "About two months ago I was here."}
    assert document.media_type == "application/x-subrip"
    many = "".join(cue(n, f"01:{n // 60:02}:{n % 60:02}", f"Line {n}.") for n in range(30))
    assert list(places(read("a.srt", many.replace("\n", "\r\n")))) == ["01:00:00", "01:00:10", "01:00:20"]
    slow = "".join(cue(n, f"00:{2 * n:02}:00", f"Line {n}.") for n in range(3))
    assert list(places(read("a.srt", slow))) == ["00:00:00", "00:02:00", "00:04:00"]


def test_a_group_ends_with_a_sentence_where_one_ends_soon() -> None:
    words = "".join(cue(n, f"00:00:{n:02}", "and" if n != 11 else "so.") for n in range(40))
    assert list(places(read("a.srt", words))) == ["00:00:00", "00:00:12", "00:00:27"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "koi8-r"])
def test_subtitles_in_other_encodings(encoding: str) -> None:
    text = "".join(cue(n, f"00:00:0{n}", "Он не был в числе первых учеников и всегда опаздывал.") for n in range(5))
    assert read("a.srt", text.encode(encoding)).text.startswith("Он не был в числе")
    forced = Reading(options=ReadOptions(encoding="koi8-r"))
    assert read_file(SourceFile("a.srt", text.encode("koi8-r")), forced).text.startswith("Он не был")


def test_webvtt_voices_notes_and_lines_that_roll() -> None:
    vtt = (
        "WEBVTT - title\n\nSTYLE\n::cue { color: red }\n\nNOTE nobody\nreads this\n\n"
        "intro\n00:01.000 --> 00:02.000 align:start\n<v.loud Ann>Shut &amp; locked</v>\n\n"
        "00:02.000 --> 00:03.000\nAnn: Shut &amp; locked\nat <00:02.500><c>night</c>.\n"
    )
    document = read("a.srt", vtt)
    assert places(document) == {"00:00:01": "Ann: Shut & locked at night."}
    assert document.media_type == "text/vtt"


def test_subtitles_that_say_nothing_and_files_that_are_none() -> None:
    assert "say nothing" in refusal("a.srt", cue(1, "00:00:01", " "))
    assert read("a.srt", "just words").media_type == "text/plain"


def test_limits_count_the_parts_of_a_file() -> None:
    book, notebook = epub_bytes(CHAPTERS), notebook_bytes({"source": "x"}, {"source": "y"})
    for name, data, limits, says in (
        ("a.epub", book, ReadLimits(max_pages=1), "2 chapters, the most of one file is 1"),
        ("a.ipynb", notebook, ReadLimits(max_records=1), "2 cells, the most of one file is 1"),
    ):
        with pytest.raises(UnreadableFile, match=says):
            read_file(SourceFile(name, data), Reading(limits=limits))
