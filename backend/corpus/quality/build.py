"""Making the report: one way through the documents, one through the chunks, and a look at the examples."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from backend.corpus.files import Check, SkippedFile, Step, go_on, say_nothing
from backend.corpus.quality.duplicates import DuplicateSearch, digest_of
from backend.corpus.quality.findings import findings_of
from backend.corpus.quality.languages import (
    DocumentLanguage,
    LanguageSampler,
    language_name,
    samples_a_document,
)
from backend.corpus.quality.lengths import CountTokens, LengthCounter
from backend.corpus.quality.minhash import TextSketch
from backend.corpus.quality.near import MIN_JACCARD, NearSearch
from backend.corpus.quality.places import Lookup, SectionsOf, TextOf
from backend.corpus.quality.repeated import DocumentLines, LineCounter
from backend.corpus.quality.types import DocumentQuality, LanguageShare, NearDuplicates, QualityReport, Unreadable
from backend.corpus.quality.unreadable import UnreadableCounter
from backend.corpus.quality.walk import EvenSample, Observer, TextWindow, observed
from backend.corpus.types import Chunk, Document
from backend.store import storable

_MOST_COMPARED = 50_000
_MOST_SKETCHED_CHARS = 2_000_000
_MOST_ROW_CHARS = 1_000_000
_SHORT_TOKENS = 10
_SHORT_CHARS = 40
_STEP_UNITS = 1_000


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What may be decided about a report.

    Attributes:
        count_tokens: Counts the tokens of chunks, as ``JsonTokenizer.count``; None: characters are counted.
        short_below: Shorter chunks count as short; 0: 10 tokens, or 40 characters.
        long_above: Longer chunks count as long: what the model reads; 0: no limit.
        most_compared: Documents, and records, that are searched for near duplicates; of more, so many evenly spread.
        min_jaccard: From where on two texts are near duplicates.
    """

    count_tokens: CountTokens | None = None
    short_below: int = 0
    long_above: int = 0
    most_compared: int = _MOST_COMPARED
    min_jaccard: float = MIN_JACCARD

    @property
    def shortest(self) -> int:
        """``short_below`` in the unit that is counted."""
        return self.short_below or (_SHORT_TOKENS if self.count_tokens else _SHORT_CHARS)


AS_USUAL = ReportOptions()


def build_report(
    documents: Sequence[Document],
    text_of: TextOf,
    sections_of: SectionsOf,
    chunks: Iterable[Chunk],
    skipped: Sequence[SkippedFile] = (),
    warnings: Sequence[str] = (),
    *,
    check: Check = go_on,
    step: Step = say_nothing,
    options: ReportOptions = AS_USUAL,
) -> QualityReport:
    """Look at a whole corpus. Texts, sections and chunks go by once; memory does not grow with their length.

    Args:
        documents: The corpus' documents.
        text_of: A document's text, block by block.
        sections_of: A document's sections in order.
        chunks: All chunks; their documents are told by ``document_id``.
        skipped: Files that gave no text, and why.
        warnings: What reading said about the batch.
        check: Called between blocks and chunks; raises CancelledError where somebody stopped the work.
        step: Told ``("document", done, total)`` and ``("chunk", done, 0)``.
        options: How chunks are counted, and how much is compared.

    Raises:
        CancelledError: From ``check``.
    """
    survey = _Survey(documents, options, check)
    for number, document in enumerate(documents):
        step("document", number, len(documents))
        survey.read(number, document, text_of, sections_of)
    step("document", len(documents), len(documents))
    duplicate_chunks, lengths = DuplicateSearch(), LengthCounter(options.count_tokens)
    numbers = {document.document_id: number for number, document in enumerate(documents)}
    for done, chunk in enumerate(chunks):
        if done % _STEP_UNITS == 0:
            check()
            step("chunk", done, 0)
        lengths.feed(chunk.text)
        place = numbers.get(chunk.document_id, -1), max(0, chunk.start), max(0, chunk.end)
        duplicate_chunks.add(digest_of(chunk.text), *place)
    step("chunk", len(duplicate_chunks), len(duplicate_chunks))

    lookup = Lookup(documents, text_of, sections_of)
    check()
    records = survey.near_records.groups(options.min_jaccard)
    whole = survey.near_documents.groups(options.min_jaccard)
    check()
    report = QualityReport(
        n_documents=len(documents),
        n_chars=survey.unreadable.n_chars,
        n_chunks=len(duplicate_chunks),
        media_types=tuple(Counter(storable(document.media_type) for document in documents).most_common()),
        skipped=tuple(SkippedFile(storable(one.file), storable(one.reason)) for one in skipped),
        warnings=tuple(storable(warning) for warning in warnings),
        documents=tuple(survey.documents),
        duplicate_documents=lookup.duplicates(survey.same_documents.found(), of_documents=True),
        duplicate_records=lookup.duplicates(survey.same_records.found()),
        duplicate_chunks=lookup.duplicates(duplicate_chunks.found()),
        near_documents=NearDuplicates(
            n_units=len(documents),
            n_compared=survey.near_documents.n_compared,
            is_sample=survey.document_sample.is_sample,
            min_jaccard=options.min_jaccard,
            n_groups=len(whole),
            n_in_groups=sum(len(group.units) for group in whole),
            examples=lookup.near_documents(whole),
        ),
        near_records=NearDuplicates(
            n_units=len(survey.same_records),
            n_compared=survey.near_records.n_compared,
            is_sample=survey.record_sample.is_sample,
            min_jaccard=options.min_jaccard,
            n_groups=len(records),
            n_in_groups=sum(len(group.units) for group in records),
            examples=lookup.near_groups(records, survey.same_records.span),
        ),
        languages=survey.languages(),
        unreadable=survey.unreadable,
        lengths=lengths.counted(options.shortest, options.long_above),
        repeated_lines=survey.lines.repeated(),
    )
    return replace(report, findings=findings_of(report))


@dataclass(slots=True)
class _Digest:
    """Of a text that comes block by block."""

    _hash: hashlib.blake2b = field(default_factory=lambda: hashlib.blake2b(digest_size=8))

    def feed(self, block: str) -> None:
        self._hash.update(block.encode("utf-8", "surrogatepass"))

    @property
    def value(self) -> int:
        return int.from_bytes(self._hash.digest())


class _Survey:
    """What is gathered on the way through the documents."""

    def __init__(self, documents: Sequence[Document], options: ReportOptions, check: Check) -> None:
        self.documents: list[DocumentQuality] = []
        self.unreadable = Unreadable()
        self.lines = LineCounter()
        self.same_documents, self.same_records = DuplicateSearch(), DuplicateSearch()
        self.near_documents, self.near_records = NearSearch(), NearSearch()
        self.document_sample = EvenSample(len(documents), options.most_compared)
        self.record_sample = EvenSample(sum(d.facts.n_records for d in documents), options.most_compared)
        self._n_samples = samples_a_document(len(documents))
        self._language_chars: Counter[str] = Counter()
        self._language_documents: Counter[str] = Counter()
        self._check = check

    def read(self, number: int, document: Document, text_of: TextOf, sections_of: SectionsOf) -> None:
        """Look at the next document."""
        counter, digest, sketch = UnreadableCounter(), _Digest(), TextSketch(_MOST_SKETCHED_CHARS)
        sampler = LanguageSampler(document.n_chars, self._n_samples)
        lines = DocumentLines()
        is_table = document.facts.n_records > 0
        observers: list[Observer] = [lambda _: self._check(), counter.feed, digest.feed, sampler.feed]
        compared = self.document_sample.takes(number)
        if compared:
            observers.append(sketch.feed)
        if not is_table:
            observers.append(lines.feed)
        window = TextWindow(observed(text_of(document), observers))
        if is_table:
            self._read_records(number, document, window, sections_of)
        window.drain()
        if not is_table:
            self.lines.add(lines.finish(), storable(document.name), document.facts.n_pages)
        if counter.n_chars:  # documents without text are no copies of each other
            self.same_documents.add(digest.value, number, 0, counter.n_chars)
            if compared:
                self.near_documents.add_sketch(number, digest.value, sketch.sketch())
        self._keep(document, counter.counted(document.n_unreadable), sampler.language())

    def _read_records(self, number: int, document: Document, window: TextWindow, sections_of: SectionsOf) -> None:
        for at, section in enumerate(sections_of(document)):
            if at % _STEP_UNITS == 0:
                self._check()
            if not section.is_row:
                continue
            text = window.take(section.start, min(section.end, section.start + _MOST_ROW_CHARS)).strip()
            unit, digest = len(self.same_records), digest_of(text)
            self.same_records.add(digest, number, section.start, section.end)
            if self.record_sample.takes(unit):
                self.near_records.add_text(unit, digest, text)

    def _keep(self, document: Document, unreadable: Unreadable, language: DocumentLanguage) -> None:
        facts = document.facts
        self.documents.append(
            DocumentQuality(
                name=storable(document.name),
                media_type=storable(document.media_type),
                encoding=storable(facts.encoding),
                encoding_guessed=facts.encoding_guessed,
                n_chars=unreadable.n_chars,
                n_pages=facts.n_pages,
                empty_pages=facts.empty_pages,
                picture_pages=facts.picture_pages,
                n_records=facts.n_records,
                language=language.code,
                language_share=language.share,
                language_confidence=language.confidence,
                unreadable=unreadable,
                warnings=tuple(storable(warning) for warning in facts.warnings),
            )
        )
        before = self.unreadable
        self.unreadable = Unreadable(
            n_chars=before.n_chars + unreadable.n_chars,
            n_replacement=before.n_replacement + unreadable.n_replacement,
            n_private_use=before.n_private_use + unreadable.n_private_use,
            n_control=before.n_control + unreadable.n_control,
            n_replaced=before.n_replaced + unreadable.n_replaced,
        )
        self._language_documents[language.code] += 1
        for code, share in language.shares:
            self._language_chars[code] += round(share * unreadable.n_chars)

    def languages(self) -> tuple[LanguageShare, ...]:
        """By falling share of the characters."""
        total = max(1, sum(self._language_chars.values()))
        codes = {*self._language_chars, *self._language_documents}
        shares = [
            LanguageShare(
                code, language_name(code), self._language_chars[code] / total, self._language_documents[code]
            )
            for code in codes
        ]  # fmt: skip
        return tuple(sorted(shares, key=lambda one: (-one.share, -one.n_documents, one.code)))
