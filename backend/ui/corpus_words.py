"""Corpora in words: how one was cut, what kind of file a document came from, what a job does to which corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from backend.corpus.quality import QualityReport, language_name
from backend.corpus.types import Chunking, Document
from backend.ui import chunking_form
from backend.ui.text import count

CORPUS_JOBS = ("ingest", "extend", "rechunk", "remove", "report")
"""Kinds of jobs that the corpora page shows."""

_KINDS = {
    "application/epub+zip": "EPUB book",
    "application/json": "JSON",
    "application/jsonl": "JSON lines",
    "application/pdf": "PDF",
    "application/rtf": "RTF",
    "application/vnd.oasis.opendocument.presentation": "OpenDocument slides",
    "application/vnd.oasis.opendocument.spreadsheet": "OpenDocument table",
    "application/vnd.oasis.opendocument.text": "OpenDocument text",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "application/x-ipynb+json": "Notebook",
    "application/x-subrip": "Subtitles",
    "message/rfc822": "E-mail",
    "text/csv": "CSV table",
    "text/html": "Web page",
    "text/markdown": "Markdown",
    "text/plain": "Text",
    "text/tab-separated-values": "TSV table",
    "text/vtt": "Subtitles",
}
_MOST_KINDS = 3
_PAGE_WORDS = {"PowerPoint": "slide", "OpenDocument slides": "slide", "Excel": "sheet", "OpenDocument table": "sheet"}


def chunking_whole(cut: Chunking) -> str:
    """How a corpus was cut, in full. Plain text."""
    counted = f", counted by the tokenizer of {cut.tokenizer}" if cut.counts_tokens else ""
    return f"cut: {chunking_form.in_words(cut)}{counted}"


def kind(media_type: str) -> str:
    """What kind of file a document came from."""
    return _KINDS.get(media_type, media_type)


def kinds(documents: Iterable[Document]) -> str:
    """Kinds of files with their numbers, the commonest first: ``12 PDF, 3 Word``."""
    counted = Counter(kind(document.media_type) for document in documents).most_common()
    words = [f"{n:,} {name}" for name, n in counted[:_MOST_KINDS]]
    if len(counted) > _MOST_KINDS:
        words.append(f"{sum(n for _, n in counted[_MOST_KINDS:]):,} other")
    return ", ".join(words)


def extent(document: Document) -> str:
    """Pages, slides, sheets or records of a document; "" where there are none."""
    facts = document.facts
    if facts.n_records:
        return count(facts.n_records, "record")
    return count(facts.n_pages, _PAGE_WORDS.get(kind(facts.media_type), "page")) if facts.n_pages else ""


def encoding(document: Document) -> str:
    """The encoding of a text file, and whether it was guessed; "" where the format says it itself."""
    facts = document.facts
    return f"{facts.encoding} (guessed)" if facts.encoding and facts.encoding_guessed else facts.encoding


def languages(documents: Sequence[Document], report: QualityReport) -> list[str]:
    """The main language of each document as the report has it; "" where it does not know the document."""
    told = {one.name: one.language for one in report.documents}
    return [language_name(told[document.name]) if document.name in told else "" for document in documents]


def job_title(job_kind: str, params: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """What a job does to which corpus. Plain text.

    Args:
        job_kind: One of ``CORPUS_JOBS``, or any other.
        params: The job's.
        names: Corpus id -> name, of the corpora that are there.
    """
    if job_kind == "ingest":
        return f"Reading files for “{params.get('name', '')}”"
    name = names.get(str(params.get("corpus_id", "")))
    corpus = f"“{name}”" if name else "a corpus that was deleted"
    n_documents = len(params.get("document_ids", ()))
    return {
        "extend": f"Adding files to {corpus}",
        "rechunk": f"Cutting {corpus} anew",
        "remove": f"Removing {count(n_documents, 'document')} from {corpus}",
        "report": f"Writing the quality report of {corpus}",
    }.get(job_kind, "Working")
