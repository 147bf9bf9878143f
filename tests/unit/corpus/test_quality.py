"""The quality report: hand-worked corpora, planted duplicates, and rules that hold for any corpus."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.corpus.files import FileFacts, Section, SkippedFile
from backend.corpus.quality import (
    SEVERAL_LANGUAGES,
    UNKNOWN_LANGUAGE,
    Place,
    QualityReport,
    ReportOptions,
    Severity,
    build_report,
    identify,
    language_name,
)
from backend.corpus.quality.duplicates import DuplicateSearch, digest_of
from backend.corpus.quality.languages import LanguageSampler
from backend.corpus.quality.lengths import LengthCounter
from backend.corpus.quality.minhash import EMPTY, TextSketch, jaccard, normalised, sketches
from backend.corpus.quality.near import NearSearch
from backend.corpus.quality.unreadable import UnreadableCounter
from backend.corpus.quality.walk import EvenSample, TextWindow
from backend.corpus.types import Chunk, Document
from backend.errors import CancelledError
from tests.conftest import shared_path

ENGLISH = "The chain of a bicycle wears with every kilometre, and a worn chain wears the cassette. Measure it monthly. "
CHINESE = "".join(map(chr, range(0x4E00, 0x5200)))
THAI = "กขคงจฉชซญดตถทนบปผฝพฟมยรลวสหอ"
AS_USUAL = ReportOptions()
GERMAN = "Die Kette eines Fahrrads verschleißt mit jedem Kilometer, und eine verschlissene Kette schadet der Kassette. "


@dataclass
class Made:
    """A corpus in memory."""

    documents: list[Document] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    sections: dict[str, list[Section]] = field(default_factory=dict)
    chunks: list[Chunk] = field(default_factory=list)

    def add(self, name: str, text: str, facts: FileFacts | None = None, n_unreadable: int = 0) -> Made:
        key = str(len(self.documents))
        sections = self.sections.setdefault(key, [])
        document = Document(key, name, len(text), len(sections), n_unreadable, "", facts or FileFacts())
        self.documents.append(document)
        self.texts[key] = text
        if text:
            self.chunk(key, 0, len(text))
        return self

    def table(self, name: str, rows: Sequence[str]) -> Made:
        key = str(len(self.documents))
        text, sections = "", []
        for number, row in enumerate(rows, start=1):
            start = len(text) + (2 if text else 0)
            text += ("\n\n" if text else "") + row
            sections.append(Section(start, len(text), f"row {number}", is_row=True))
        facts = FileFacts(media_type="text/csv", n_records=len(rows))
        self.documents.append(Document(key, name, len(text), len(rows), 0, "", facts))
        self.texts[key], self.sections[key] = text, sections
        for section in sections:
            self.chunk(key, section.start, section.end)
        return self

    def chunk(self, key: str, start: int, end: int) -> None:
        at = len(self.chunks)
        name = self.documents[int(key)].name
        self.chunks.append(Chunk(str(at), at, key, name, start, end, "", self.texts[key][start:end], ""))

    def blocks(self, size: int) -> Callable[[Document], Iterator[str]]:
        def read(document: Document) -> Iterator[str]:
            text = self.texts[document.document_id]
            return (text[at : at + size] for at in range(0, len(text), size))

        return read

    def report(
        self, options: ReportOptions = AS_USUAL, skipped: Sequence[SkippedFile] = (), block: int = 50
    ) -> QualityReport:
        return build_report(
            self.documents,
            self.blocks(block),
            lambda document: iter(self.sections[document.document_id]),
            iter(self.chunks),
            skipped,
            options=options,
        )


def kinds(report: QualityReport, severity: Severity) -> list[str]:
    return [finding.kind for finding in report.findings if finding.severity is severity]


def words(seed: int, n: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(n)]


def test_a_corpus_without_faults_has_only_good_news() -> None:
    report = (
        Made().add("a.md", ENGLISH * 3).add("b.md", "Sourdough wants warmth, time and a little patience. " * 5).report()
    )
    assert (report.n_documents, report.n_chunks) == (2, 2)
    assert report.media_types == (("text/plain", 2),)
    assert {finding.severity for finding in report.findings} == {Severity.FINE}
    assert [(one.code, one.n_documents) for one in report.languages] == [("en", 2)]
    assert report.unreadable.share == 0


def test_an_empty_corpus_says_what_to_do() -> None:
    report = Made().report(skipped=[SkippedFile("scan.pdf", "no text.")])
    assert kinds(report, Severity.PROBLEM) == ["no_documents", "skipped_files"]
    assert "scan.pdf" in report.findings[1].text


def test_picture_pages_and_skipped_files_come_first() -> None:
    facts = FileFacts(media_type="application/pdf", n_pages=40, picture_pages=(3, 4, 9), empty_pages=(40,))
    skipped = [SkippedFile("old.doc", "Word 97."), SkippedFile(".hidden", "a hidden file, left out.")]
    report = Made().add("scan.pdf", ENGLISH, facts).report(skipped=skipped)
    assert kinds(report, Severity.PROBLEM) == ["skipped_files", "picture_pages"]
    assert report.findings[0].text.startswith("1 of 2 files gives no text: old.doc.")
    assert report.findings[1].text.startswith("3 of 40 pages of scan.pdf are pictures: run text recognition (OCR)")
    assert report.documents[0].picture_pages == (3, 4, 9)
    assert [finding.severity for finding in report.findings] == sorted(
        (finding.severity for finding in report.findings), key=list(Severity).index
    )


def test_exact_duplicates_are_told_with_their_places() -> None:
    made = Made().add("a.txt", ENGLISH).add("copy of a.txt", ENGLISH).table("t.csv", ["red", "blue", "red", "red"])
    report = made.report(block=7)
    documents, records = report.duplicate_documents, report.duplicate_records
    assert (documents.n_units, documents.n_groups, documents.n_copies) == (3, 1, 1)
    assert documents.examples[0].places == (Place("a.txt"), Place("copy of a.txt"))
    assert documents.examples[0].excerpt == ENGLISH.strip()
    assert (records.n_units, records.n_groups, records.n_copies) == (4, 1, 2)
    assert records.examples[0].places == (Place("t.csv", "row 1"), Place("t.csv", "row 3"), Place("t.csv", "row 4"))
    assert records.examples[0].excerpt == "red"
    assert report.duplicate_chunks.n_copies == 3
    assert {"duplicate_documents", "duplicate_records"} <= set(kinds(report, Severity.HINT))


def test_documents_without_text_are_no_copies() -> None:
    assert Made().add("a", "").add("b", "").report().duplicate_documents.n_copies == 0


def test_near_duplicates_of_documents_and_of_records() -> None:
    base = words(1, 150)
    changed = [*base[:70], "different", *base[71:]]
    rows = [" ".join(words(seed, 30)) for seed in range(2, 40)]
    rows.append(rows[4].upper().replace(" ", "  "))  # the same but for case and blanks
    made = Made().add("v1.md", " ".join(base)).add("v2.md", " ".join(changed)).add("other.md", ENGLISH * 4)
    report = made.table("rows.csv", rows).report()
    (group,) = report.near_documents.examples
    assert [place.document for place in group.places] == ["v1.md", "v2.md"]
    assert group.lowest_jaccard == group.highest_jaccard >= 0.9
    (pair,) = report.near_records.examples
    assert pair.places == (Place("rows.csv", "row 5"), Place("rows.csv", "row 39"))
    assert pair.highest_jaccard == 1.0
    assert (report.near_records.n_in_groups, report.near_records.n_compared) == (2, 39)
    assert report.duplicate_records.n_copies == 0


def test_beyond_the_most_compared_an_even_sample_is_looked_at_and_said() -> None:
    rows = [" ".join(words(seed, 12)) for seed in range(100)]
    report = Made().table("t.csv", rows).report(ReportOptions(most_compared=10))
    near = report.near_records
    assert (near.n_units, near.n_compared, near.is_sample) == (100, 10, True)
    assert any("Compared were 10 of 100, evenly spread." in finding.text for finding in report.findings)


def shingles(text: str) -> set[str]:
    text = normalised(text).ljust(5)
    return {text[at : at + 5] for at in range(len(text) - 4)}


def true_jaccard(left: str, right: str) -> float:
    a, b = shingles(left), shingles(right)
    return len(a & b) / len(a | b)


def planted(alphabet: str, blank: str) -> tuple[list[str], list[tuple[int, int]]]:
    """Texts, each third one with a changed copy; and all pairs of a text and its copy."""
    draw = random.Random(7)
    texts: list[str] = []
    for _ in range(150):
        length = draw.choice((20, 60, 150))
        parts = ["".join(draw.choices(alphabet, k=draw.randint(2, 8))) for _ in range(length)]
        texts.append(blank.join(parts))
        for at in draw.sample(range(length), k=max(1, length // draw.choice((20, 40, 80)))):
            parts[at] = "".join(draw.choices(alphabet, k=5))
        texts.append(blank.join(parts))
    return texts, [(at, at + 1) for at in range(0, len(texts), 2)]


@pytest.mark.parametrize(
    ("alphabet", "blank"),
    [("abcdefghijklmnopqrstuvwxyz", " "), (CHINESE, ""), (THAI, "")],
    ids=["latin", "chinese", "thai"],
)  # fmt: skip
def test_planted_near_duplicates_are_found_and_nothing_else(alphabet: str, blank: str) -> None:
    texts, pairs = planted(alphabet, blank)
    search = NearSearch()
    for at, text in enumerate(texts):
        search.add_text(at, digest_of(text), text)
    groups = search.groups()
    found = {group.units for group in groups}
    index = {pair: true_jaccard(texts[pair[0]], texts[pair[1]]) for pair in pairs}
    clear = [pair for pair, value in index.items() if value >= 0.85]  # 0.8 and two standard errors
    assert len(clear) >= 60
    assert found.issuperset(clear)
    assert all(index.get(units, 0) > 0.73 for units in found)


def test_the_estimate_is_close_to_the_true_index() -> None:
    texts, _ = planted("abcdefghijklmnopqrstuvwxyz", " ")
    found = sketches(texts)
    estimates = jaccard(found[0::2], found[1::2])
    errors = [
        estimate - true_jaccard(left, right)
        for estimate, left, right in zip(estimates.tolist(), texts[0::2], texts[1::2], strict=True)
    ]
    assert max(map(abs, errors)) < 0.1
    assert abs(sum(errors) / len(errors)) < 0.01  # unbiased


def test_a_large_template_stays_linear_and_hangs_together() -> None:
    rows = [
        f"Order {n:05d} left the warehouse in Rotterdam by truck and will arrive within three days."
        for n in range(3000)
    ]
    search = NearSearch()
    for at, row in enumerate(rows):
        search.add_text(at, digest_of(row), row)
    groups = search.groups()
    assert sum(len(group.units) for group in groups) > 2900


@given(st.text(max_size=60), st.integers(1, 9))
def test_a_sketch_does_not_depend_on_the_blocks(text: str, size: int) -> None:
    whole, parts = TextSketch(10_000), TextSketch(10_000)
    whole.feed(text)
    for at in range(0, len(text), size):
        parts.feed(text[at : at + size])
    assert (whole.sketch() == parts.sketch()).all()
    assert (whole.sketch() == sketches([text])).all()
    assert (whole.sketch() != EMPTY).any()


@given(st.lists(st.integers(0, 5), max_size=40))
def test_exact_duplicates_agree_with_counting(values: list[int]) -> None:
    search = DuplicateSearch()
    for at, value in enumerate(values):
        search.add(digest_of(str(value)), 0, at, at + 1)
    found = search.found()
    several = {value for value in values if values.count(value) > 1}
    assert (found.n_units, found.n_groups) == (len(values), len(several))
    assert found.n_copies == len(values) - len(set(values))
    assert [group.n_units for group in found.largest] == sorted(map(values.count, several), reverse=True)


@given(st.integers(0, 300), st.integers(1, 50))
def test_an_even_sample_has_its_size_and_even_gaps(n_units: int, most: int) -> None:
    sample = EvenSample(n_units, most)
    taken = [at for at in range(n_units) if sample.takes(at)]
    assert len(taken) == min(n_units, most)
    gaps = {b - a for a, b in pairwise(taken)}
    assert not gaps or max(gaps) - min(gaps) <= 1
    assert sample.is_sample == (n_units > most)


@given(st.text(max_size=80), st.integers(1, 9), st.lists(st.tuples(st.integers(0, 90), st.integers(0, 20)), max_size=6))
def test_a_window_cuts_what_slicing_cuts(text: str, size: int, wanted: list[tuple[int, int]]) -> None:
    window = TextWindow(text[at : at + size] for at in range(0, len(text), size))
    reached = 0
    for at, length in sorted(wanted):
        start = max(at, reached)  # ascending, as sections are
        assert window.take(start, start + length) == text[start : start + length]
        reached = start + length


def test_unreadable_characters_are_told_by_kind() -> None:
    counter = UnreadableCounter()
    for block in ("plain\n\ttext", "\ufffd\ufffdÄ\ue000\U000f0001\x85", "\x00"):
        counter.feed(block)
    found = counter.counted(n_said=5)
    assert (found.n_replacement, found.n_private_use, found.n_control, found.n_replaced) == (2, 2, 2, 3)
    assert found.n_unreadable == 9
    assert found.share == 9 / 18


def test_a_document_in_the_wrong_encoding_is_a_problem() -> None:
    facts = FileFacts(encoding="ascii", encoding_guessed=True)
    report = Made().add("bad.txt", ENGLISH + "\ufffd" * 10, facts, n_unreadable=10).report()
    (problem,) = [finding for finding in report.findings if finding.severity is Severity.PROBLEM]
    assert problem.kind == "unreadable_characters"
    assert "bad.txt" in problem.text
    assert "read as ascii; choose another encoding" in problem.text
    assert "guessed_encodings" in kinds(report, Severity.HINT)


def test_chunk_lengths_by_hand() -> None:
    counter = LengthCounter()
    for length in (1, 2, 3, 4, 100):
        counter.feed("x" * length)
    found = counter.counted(short_below=3, long_above=50)
    assert (found.unit, found.n_chunks, found.n_counted, found.shortest, found.longest) == ("characters", 5, 5, 1, 100)
    assert (found.quartile_1, found.median, found.quartile_3, found.mean) == (2.0, 3.0, 4.0, 22.0)
    assert (found.n_short, found.n_long) == (2, 1)
    assert sum(one.n_chunks for one in found.histogram) == 5
    assert [one.n_chunks for one in found.histogram if one.n_chunks] == [4, 1]
    assert found.histogram[-1].start <= 100 < found.histogram[-1].end


def test_tokens_of_many_chunks_are_counted_evenly() -> None:
    counted: list[str] = []

    def count(texts: Sequence[str]) -> list[int]:
        counted.extend(texts)
        return [int(text) for text in texts]

    counter = LengthCounter(count, most_counted=100)
    for n in range(10_000):
        counter.feed(str(n))
    found = counter.counted(short_below=5000, long_above=0)
    assert (found.unit, found.n_chunks, found.n_long) == ("tokens", 10_000, 0)
    assert 25 <= found.n_counted <= 100
    assert len(counted) < 2_000
    assert found.median == pytest.approx(5000, rel=0.05)
    assert found.n_short == pytest.approx(5000, rel=0.05)


def test_chunks_beyond_a_model_are_a_problem_and_many_short_ones_a_hint() -> None:
    made = Made().add("a.txt", ENGLISH)
    for at in range(4):
        made.chunk("0", at, at + 1)
    report = made.report(ReportOptions(count_tokens=lambda texts: [len(t) for t in texts], long_above=50))
    assert kinds(report, Severity.PROBLEM) == ["long_chunks"]
    assert report.findings[0].text.startswith("1 of 5 chunks is longer than the 50 tokens")
    assert "short_chunks" in kinds(report, Severity.HINT)


def test_headers_and_footers_are_named() -> None:
    made = Made()
    for n in range(4):
        made.add(f"{n}.txt", f"ACME internal, page {n}\n{' '.join(words(n, 40))}\n")
    pages = "".join(f"Annual report of the board\n{' '.join(words(90 + n, 20))}\n" for n in range(6))
    report = made.add("report.pdf", pages, FileFacts(n_pages=6)).report(block=11)
    assert [(line.text, line.n_documents, line.document, line.n_times) for line in report.repeated_lines] == [
        ("ACME internal, page #", 4, "", 0),
        ("Annual report of the board", 1, "report.pdf", 6),
    ]
    assert kinds(report, Severity.HINT).count("repeated_lines") == 2


def test_languages_are_shares_of_the_characters() -> None:
    report = (
        Made().add("en.txt", ENGLISH * 30).add("de.txt", GERMAN * 30).add("codes.csv", "12;0x1f;99.5\n" * 20).report()
    )
    assert [one.language for one in report.documents] == ["en", "de", UNKNOWN_LANGUAGE]
    shares = {one.code: one.share for one in report.languages}
    assert shares["en"] == pytest.approx(0.48, abs=0.03)
    assert shares["de"] == pytest.approx(0.48, abs=0.03)
    assert sum(shares.values()) == pytest.approx(1)
    text = next(finding.text for finding in report.findings if finding.kind == "languages")
    assert "English (" in text
    assert "German (" in text


def test_one_long_document_does_not_hide_the_languages_of_others() -> None:
    made = Made().add("long.txt", ENGLISH * 400).add("a.txt", GERMAN).add("b.txt", GERMAN * 2)
    text = next(finding.text for finding in made.report().findings if finding.kind == "languages")
    assert text.startswith("The corpus is in several languages: English (99%) and German (")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Travel expenses are paid within ten days.", "en"),
        ("Rechnungen werden innerhalb von 30 Tagen bezahlt.", "de"),
        ("Le contrat prend fin au bout de deux ans.", "fr"),
        ("Счёт должен быть оплачен в течение тридцати дней.", "ru"),
        ("يجب دفع الفاتورة خلال ثلاثين يومًا.", "ar"),
        ("請求書は三十日以内に支払う必要があります。", "ja"),
        ("發票必須在三十天內付款。", "zh"),
        ("ต้องชำระใบแจ้งหนี้ภายในสามสิบวัน", "th"),
        ("12.5;13.7;99;1024;7", UNKNOWN_LANGUAGE),
        ("SKU-2231-B;SKU-2232-C;SKU-99", UNKNOWN_LANGUAGE),
        ("def f(x): return x**2 + 3*x - 1", UNKNOWN_LANGUAGE),
        ("", UNKNOWN_LANGUAGE),
    ],
)
def test_the_language_of_short_texts(text: str, code: str) -> None:
    assert identify(text)[0] == code
    assert identify(text) == identify(text)


def test_languages_have_names() -> None:
    assert (language_name("de"), language_name(SEVERAL_LANGUAGES), language_name("xx")) == (
        "German", "several languages", "xx",
    )  # fmt: skip


def test_a_text_in_hundreds_of_languages_is_in_several() -> None:
    text = shared_path("data", "files", "txt_udhr_many_scripts.txt").read_text(encoding="utf-8")
    report = Made().add("udhr.txt", text).report(block=1000)
    assert report.documents[0].language == SEVERAL_LANGUAGES
    assert len(report.languages) > 3


@given(st.integers(1, 5000), st.integers(1, 700), st.integers(1, 12))
@settings(max_examples=50)
def test_samples_are_the_same_whatever_the_blocks(n_chars: int, size: int, most: int) -> None:
    text = (ENGLISH + GERMAN) * 30
    text = text[:n_chars]
    whole, parts = LanguageSampler(len(text), most), LanguageSampler(len(text), most)
    whole.feed(text)
    for at in range(0, len(text), size):
        parts.feed(text[at : at + size])
    assert whole.language() == parts.language()


def test_it_stops_when_asked_and_tells_how_far_it_is() -> None:
    made = Made().add("a.txt", ENGLISH).table("t.csv", ["one", "two"])
    told: list[tuple[str, int, int]] = []
    rooms = (made.documents, made.blocks(50), lambda d: iter(made.sections[d.document_id]))
    build_report(*rooms, iter(made.chunks), step=lambda *what: told.append(what))
    assert told[0] == ("document", 0, 2)
    assert told[-1] == ("chunk", 3, 3)

    def stop() -> None:
        raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        build_report(*rooms, iter(made.chunks), check=stop)


any_text = st.text(st.characters(exclude_categories=()), max_size=120)
any_facts = st.builds(
    FileFacts,
    media_type=any_text,
    encoding=any_text,
    encoding_guessed=st.booleans(),
    warnings=st.lists(any_text, max_size=2).map(tuple),
    n_pages=st.integers(0, 9),
    empty_pages=st.lists(st.integers(1, 9), max_size=3).map(tuple),
    picture_pages=st.lists(st.integers(1, 9), max_size=3).map(tuple),
    n_records=st.integers(0, 4),
)


@st.composite
def corpora(draw: st.DrawFn) -> Made:
    made = Made()
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            made.table(draw(any_text), draw(st.lists(any_text, max_size=4)))
        else:
            made.add(draw(any_text), draw(any_text), draw(any_facts), draw(st.integers(0, 5)))
    for chunk in draw(st.lists(any_text, max_size=3)):
        made.chunks.append(Chunk("c", 0, "of another corpus", "", 0, len(chunk), "", chunk, ""))
    return made


@given(corpora(), any_text, st.integers(1, 60), st.integers(1, 3))
@settings(max_examples=80, deadline=None)
def test_any_corpus_gets_a_report_that_json_can_carry(made: Made, name: str, block: int, most: int) -> None:
    skipped = [SkippedFile(name, name)]
    report = made.report(ReportOptions(most_compared=most), skipped=skipped, block=block)
    assert report.findings
    assert report.n_documents == len(report.documents) == len(made.documents)
    assert report.n_chars == sum(map(len, made.texts.values()))
    assert 0 <= report.unreadable.share <= 1
    assert QualityReport.from_data(json.loads(json.dumps(report.to_data()))) == report


def test_what_is_no_report_is_refused() -> None:
    with pytest.raises(ValueError, match="n_documents"):
        QualityReport.from_data({"n_documents": "many"})
