"""Corpora: reading files, cutting them into chunks, keeping them by name and version."""

from backend.corpus.chunking import check_chunking, chunk_spans
from backend.corpus.files import DocumentReader, ParsedDocument, Section, SkippedFile, SourceFile, UnreadableFile
from backend.corpus.library import CorpusLibrary
from backend.corpus.readers import FORMATS_READ, READERS, read_file
from backend.corpus.sources import SAMPLE_NAME, pasted, read_paths, sample_queries, sample_sources
from backend.corpus.tokenizer import WordPieceTokenizer, default_tokenizer
from backend.corpus.types import Chunk, Chunking, Corpus, Document, IngestReport, Tokenizer

__all__ = [
    "FORMATS_READ",
    "READERS",
    "SAMPLE_NAME",
    "Chunk",
    "Chunking",
    "Corpus",
    "CorpusLibrary",
    "Document",
    "DocumentReader",
    "IngestReport",
    "ParsedDocument",
    "Section",
    "SkippedFile",
    "SourceFile",
    "Tokenizer",
    "UnreadableFile",
    "WordPieceTokenizer",
    "check_chunking",
    "chunk_spans",
    "default_tokenizer",
    "pasted",
    "read_file",
    "read_paths",
    "sample_queries",
    "sample_sources",
]
