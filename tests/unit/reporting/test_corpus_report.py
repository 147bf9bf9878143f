"""Quality reports as files: what they hold, and that hostile names and texts stay text."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.corpus.files import FileFacts, SkippedFile
from backend.corpus.quality import QualityReport
from backend.reporting import report_csv, report_html, report_json
from tests.unit.corpus.test_quality import ENGLISH, Made

HOSTILE = '<script>alert("x")</script>{{ 7 * 7 }}{% raw %}&amp;"\'><img src=x onerror=y>'


class Tags(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(page: bytes) -> Tags:
    tags = Tags()
    tags.feed(page.decode("utf-8"))
    return tags


def rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


@pytest.fixture(scope="module")
def report() -> QualityReport:
    facts = FileFacts(
        media_type="application/pdf", n_pages=9, picture_pages=(1, 2, 3, 7), empty_pages=(9,), encoding="cp1252",
        encoding_guessed=True, warnings=("one.", "two."),
    )  # fmt: skip
    made = Made().add("scan.pdf", ENGLISH, facts).add("copy.txt", ENGLISH).table("t.csv", ["red", "red", "blue"])
    return made.report(skipped=[SkippedFile("old.doc", "Word 97.")])


def test_json_is_the_whole_report(report: QualityReport) -> None:
    assert QualityReport.from_data(json.loads(report_json(report))) == report


def test_csv_has_one_row_a_file(report: QualityReport) -> None:
    found = rows(report_csv(report))
    assert [(row["file"], row["status"]) for row in found] == [
        ("scan.pdf", "read"), ("copy.txt", "read"), ("t.csv", "read"), ("old.doc", "skipped"),
    ]  # fmt: skip
    assert (found[0]["n_pages"], found[0]["n_picture_pages"], found[0]["picture_pages"]) == ("9", "4", "1 to 3, 7")
    assert (found[0]["encoding"], found[0]["encoding_guessed"], found[0]["warnings"]) == ("cp1252", "true", "one. two.")
    assert (found[0]["language"], found[0]["language_name"]) == ("en", "English")
    assert (found[2]["n_records"], found[3]["reason"], found[3]["n_chars"]) == ("3", "Word 97.", "")


def test_html_shows_findings_and_numbers_and_loads_nothing(report: QualityReport) -> None:
    page = parsed(report_html(report, "Manuals & more", created_at="2026-12-01"))
    assert "Quality of Manuals & more" in page.text
    assert "as of 2026-12-01" in page.text
    assert all(finding.text in page.text for finding in report.findings)
    assert "4 of 9 pages of scan.pdf are pictures" in page.text
    assert "pictures: 1 to 3, 7; empty: 9" in page.text
    assert "old.doc" in page.text
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert not {"src", "href", "onerror", "onclick"} & page.attributes


def test_hostile_names_and_texts_stay_text() -> None:
    formula = '=HYPERLINK("http://evil.example";"x")'
    made = Made().add(HOSTILE, HOSTILE * 3).add(formula, HOSTILE * 3, FileFacts(media_type=HOSTILE, encoding=HOSTILE))
    made.table(HOSTILE, [HOSTILE, HOSTILE])
    report = made.report(skipped=[SkippedFile("@SUM(1)", "+1")])
    page = parsed(report_html(report, HOSTILE))
    assert not {"script", "img"} & set(page.tags)
    assert HOSTILE in page.text
    assert "49" not in page.text.replace("7 * 7", "")
    found = rows(report_csv(report))
    assert found[1]["file"] == "'" + formula
    assert (found[3]["file"], found[3]["reason"]) == ("'@SUM(1)", "'+1")


@pytest.mark.parametrize("made", [Made(), Made().add("empty.txt", "")], ids=["nothing", "an empty document"])
def test_empty_corpora_have_pages_too(made: Made) -> None:
    report = made.report()
    assert "There are no chunks." in parsed(report_html(report, "")).text
    assert len(rows(report_csv(report))) == len(made.documents)


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_any_name_can_be_written(name: str) -> None:
    report = QualityReport(n_documents=1, skipped=(SkippedFile(name, name),))
    assert report_html(report, name).decode("utf-8").endswith("</html>")
    assert rows(report_csv(report))[0]["status"] == "skipped"
