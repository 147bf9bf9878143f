"""What a report comes down to: a short list of sentences, the most important first, each with what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backend.corpus.quality.languages import language_name
from backend.corpus.quality.types import (
    SEVERAL_LANGUAGES,
    UNKNOWN_LANGUAGE,
    Duplicates,
    Finding,
    NearDuplicates,
    QualityReport,
    Severity,
)
from backend.corpus.text import joined

_MOST_NAMED = 5
_MOST_NAME_CHARS = 80
_UNREADABLE_SHARE = 0.001
_EMPTY_SHARE = 0.2
_SHORT_SHARE = 0.05
_COPIES_SHARE = 0.01
_LANGUAGE_SHARE = 0.05
_UNKNOWN_SHARE = 0.2
# How ``read_paths`` ends what it says of hidden files and side files of operating systems: nobody misses them.
_NOT_MISSED = "left out."

_ORDER = list(Severity)


def findings_of(report: QualityReport) -> tuple[Finding, ...]:
    """What matters about a corpus: problems, then hints, then what is fine."""
    if not report.n_documents:
        found = [Finding(Severity.PROBLEM, "no_documents", "No document was read: add files that hold text.")]
        return (*found, *_skipped(report))
    rules = (
        _skipped, _picture_pages, _unreadable, _long_chunks, _guessed_encodings, _empty_pages, _duplicates,
        _near_duplicates, _short_chunks, _repeated_lines, _languages,
    )  # fmt: skip
    found = [finding for rule in rules for finding in rule(report)]
    return tuple(sorted(found, key=lambda finding: _ORDER.index(finding.severity)))


def _skipped(report: QualityReport) -> Iterator[Finding]:
    missed = [one.file for one in report.skipped if not one.reason.endswith(_NOT_MISSED)]
    if missed:
        total = len(missed) + report.n_documents
        gave = "gives" if len(missed) == 1 else "give"
        text = f"{_of(len(missed), total, 'file')} {gave} no text: {_names(missed)}. Each is listed with its reason."
        yield Finding(Severity.PROBLEM, "skipped_files", text)
    elif report.n_documents:
        yield Finding(Severity.FINE, "skipped_files", f"{_count(report.n_documents, 'file')} read, none left out.")


def _picture_pages(report: QualityReport) -> Iterator[Finding]:
    scanned = [one for one in report.documents if one.picture_pages]
    scanned.sort(key=lambda one: -len(one.picture_pages))
    for one in scanned[:_MOST_NAMED]:
        are = "is a picture" if len(one.picture_pages) == 1 else "are pictures"
        text = (
            f"{_of(len(one.picture_pages), one.n_pages, 'page')} of {_name(one.name)} {are}: "
            "run text recognition (OCR) first, and add the file again."
        )
        yield Finding(Severity.PROBLEM, "picture_pages", text)
    if len(scanned) > _MOST_NAMED:
        rest = scanned[_MOST_NAMED:]
        text = (
            f"{_count(sum(len(one.picture_pages) for one in rest), 'page')} of {len(rest)} more documents are "
            "pictures: run text recognition (OCR) first."
        )
        yield Finding(Severity.PROBLEM, "picture_pages", text)


def _unreadable(report: QualityReport) -> Iterator[Finding]:
    bad = [one for one in report.documents if one.unreadable.share > _UNREADABLE_SHARE]
    bad.sort(key=lambda one: -one.unreadable.share)
    for one in bad[:_MOST_NAMED]:
        if one.encoding:
            advice = f"it was read as {one.encoding}; choose another encoding"
        else:
            advice = "its fonts or its text layer are broken; look for another edition, or run text recognition (OCR)"
        text = f"{_percent(one.unreadable.share)} of the characters of {_name(one.name)} can't be read: {advice}."
        yield Finding(Severity.PROBLEM, "unreadable_characters", text)
    if len(bad) > _MOST_NAMED:
        text = f"{len(bad) - _MOST_NAMED} more documents hold characters that can't be read: see the list."
        yield Finding(Severity.PROBLEM, "unreadable_characters", text)
    if not bad and report.n_chars:
        text = f"{_percent(report.unreadable.share)} of the characters can't be read."
        if not report.unreadable.n_unreadable:
            text = "Every character can be read."
        yield Finding(Severity.FINE, "unreadable_characters", text)


def _long_chunks(report: QualityReport) -> Iterator[Finding]:
    lengths = report.lengths
    if lengths.n_long:
        are = "is" if lengths.n_long == 1 else "are"
        text = (
            f"{_of(lengths.n_long, lengths.n_chunks, 'chunk')} {are} longer than the {lengths.long_above} "
            f"{lengths.unit} that the model reads, and would be cut: choose a smaller chunk size."
        )
        yield Finding(Severity.PROBLEM, "long_chunks", text)
    elif lengths.long_above and lengths.n_chunks:
        text = f"No chunk is longer than {lengths.long_above} {lengths.unit}."
        yield Finding(Severity.FINE, "long_chunks", text)


def _guessed_encodings(report: QualityReport) -> Iterator[Finding]:
    guessed = [f"{_name(one.name)} ({one.encoding})" for one in report.documents if one.encoding_guessed]
    if guessed:
        text = (
            f"The encoding of {_count(len(guessed), 'file')} was guessed: {joined(_few(guessed))}. Look at the text, "
            "and choose another encoding if letters are wrong."
        )
        yield Finding(Severity.HINT, "guessed_encodings", text)


def _empty_pages(report: QualityReport) -> Iterator[Finding]:
    empty = [one for one in report.documents if one.n_pages and len(one.empty_pages) > _EMPTY_SHARE * one.n_pages]
    for one in empty[:_MOST_NAMED]:
        text = (
            f"{_of(len(one.empty_pages), one.n_pages, 'page')} of {_name(one.name)} "
            f"{'is' if len(one.empty_pages) == 1 else 'are'} empty: check that nothing is missing there."
        )
        yield Finding(Severity.HINT, "empty_pages", text)


def _duplicates(report: QualityReport) -> Iterator[Finding]:
    advice = {
        "document": "remove the copies, or a hit from any of them counts as another one",
        "record": "remove the copies in the source",
        "chunk": "the same hit can fill several ranks; look at the examples",
    }
    kinds: list[tuple[str, Duplicates]] = [
        ("document", report.duplicate_documents),
        ("record", report.duplicate_records),
        ("chunk", report.duplicate_chunks),
    ]
    found = False
    for word, duplicates in kinds:
        # Copied records are copied chunks as well: said once.
        least = max(_COPIES_SHARE * duplicates.n_units, report.duplicate_records.n_copies) if word == "chunk" else 0
        if duplicates.n_copies > least:
            found = True
            hold = "repeats" if duplicates.n_copies == 1 else "repeat"
            text = (
                f"{_of(duplicates.n_copies, duplicates.n_units, word)} {hold} the text of another"
                f"{_pairs(duplicates) if word == 'document' else ''}: {advice[word]}."
            )
            yield Finding(Severity.HINT, f"duplicate_{word}s", text)
    if not found:
        copies = report.duplicate_chunks.n_copies
        rest = f"; {_count(copies, 'chunk')} of {report.n_chunks} repeat another" if copies else ""
        yield Finding(Severity.FINE, "duplicate_documents", f"No two documents or records have the same text{rest}.")


def _near_duplicates(report: QualityReport) -> Iterator[Finding]:
    near: list[tuple[str, NearDuplicates]] = [("document", report.near_documents), ("record", report.near_records)]
    for word, one in near:
        sample = f" Compared were {one.n_compared} of {one.n_units}, evenly spread." if one.is_sample else ""
        if one.n_groups:
            names = ""
            if word == "document":
                names = f": {_names([place.document for place in one.examples[0].places])}"
            text = (
                f"{_of(one.n_in_groups, one.n_units, word)} are nearly the same as another, in "
                f"{_count(one.n_groups, 'group')}{names}. Keep one version of each, if they are versions.{sample}"
            )
            yield Finding(Severity.HINT, f"near_{word}s", text)
        elif one.n_compared > 1:
            yield Finding(Severity.FINE, f"near_{word}s", f"No two {word}s are nearly the same.{sample}")


def _short_chunks(report: QualityReport) -> Iterator[Finding]:
    lengths = report.lengths
    if lengths.n_chunks and lengths.n_short > _SHORT_SHARE * lengths.n_chunks:
        are = "is" if lengths.n_short == 1 else "are"
        text = (
            f"{_of(lengths.n_short, lengths.n_chunks, 'chunk')} {are} shorter than {lengths.short_below} "
            f"{lengths.unit} and hardly {'says' if lengths.n_short == 1 else 'say'} anything alone: "
            "choose a minimum size, or another way of cutting."
        )
        yield Finding(Severity.HINT, "short_chunks", text)


def _repeated_lines(report: QualityReport) -> Iterator[Finding]:
    over = [line for line in report.repeated_lines if not line.document]
    if over:
        text = (
            f"{_count(len(over), 'line')} {'stands' if len(over) == 1 else 'stand'} in many documents, "
            f"“{_name(over[0].text)}” in {over[0].n_documents}: "
            "if they are headers or footers, remove them in the source."
        )
        yield Finding(Severity.HINT, "repeated_lines", text)
    within = list(dict.fromkeys(line.document for line in report.repeated_lines if line.document))
    if within:
        text = f"Most pages of {_names(within)} repeat a line: if it is a header or footer, remove it in the source."
        yield Finding(Severity.HINT, "repeated_lines", text)


def _languages(report: QualityReport) -> Iterator[Finding]:
    known = [one for one in report.languages if one.code not in (UNKNOWN_LANGUAGE, SEVERAL_LANGUAGES)]
    # One long document must not hide that others are in another language.
    many = max(2, _LANGUAGE_SHARE * report.n_documents)
    large = [one for one in known if one.share >= _LANGUAGE_SHARE or one.n_documents >= many]
    unknown = next((one.share for one in report.languages if one.code == UNKNOWN_LANGUAGE), 0.0)
    if len(large) > 1 or (known and not large):
        shown = (large or known)[:_MOST_NAMED]
        names = joined([f"{one.name} ({_percent(one.share)})" for one in shown])
        rest = f" and {len(known) - len(shown)} more" if len(known) > len(shown) else ""
        text = f"The corpus is in several languages: {names}{rest}. Choose models that were trained on them."
        yield Finding(Severity.HINT, "languages", text)
    elif large and large[0].code != "en":
        text = f"The corpus is in {large[0].name}: choose models that were trained on it."
        yield Finding(Severity.HINT, "languages", text)
    elif large:
        text = f"The corpus is in {language_name(large[0].code)} ({_percent(large[0].share)} of the characters)."
        yield Finding(Severity.FINE, "languages", text)
    if unknown > _UNKNOWN_SHARE:
        text = (
            f"The language of {_percent(unknown)} of the characters is unknown: numbers, codes, or a language that is "
            "rare here. Look whether models can do anything with it."
        )
        yield Finding(Severity.HINT, "unknown_language", text)


def _pairs(duplicates: Duplicates) -> str:
    places = duplicates.examples[0].places if duplicates.examples else ()
    return f" ({_names([place.document for place in places])})" if len(places) > 1 else ""


def _few(names: Sequence[str]) -> list[str]:
    if len(names) <= _MOST_NAMED + 1:
        return list(names)
    return [*names[:_MOST_NAMED], f"{len(names) - _MOST_NAMED} more"]


def _names(names: Sequence[str]) -> str:
    return joined(_few([_name(name) for name in names]))


def _name(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= _MOST_NAME_CHARS else f"{name[:_MOST_NAME_CHARS]}…"


def _count(n: int, word: str) -> str:
    return f"{n} {word}{'' if n == 1 else 's'}"


def _of(n: int, total: int, word: str) -> str:
    return f"{n} of {_count(total, word)}" if total else _count(n, word)


def _percent(share: float) -> str:
    if 0 < share < 0.0001:
        return "less than 0.01%"
    return f"{100 * share:.2f}%" if share < 0.01 else f"{100 * share:.1f}%" if share < 0.1 else f"{100 * share:.0f}%"
