"""Cutting documents into chunks: where a cut is natural, how much fits, one way through the text for all strategies."""

from backend.corpus.chunking.checks import check_chunking
from backend.corpus.chunking.documents import chunk_spans
from backend.corpus.chunking.sentences import split_sentences
from backend.corpus.chunking.tables import chunk_records

__all__ = ["check_chunking", "chunk_records", "chunk_spans", "split_sentences"]
