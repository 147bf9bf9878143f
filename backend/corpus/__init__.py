"""Corpora: reading files, cutting them into chunks, keeping them by name and version."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from backend.corpus.chunking import check_chunking, chunk_spans
from backend.corpus.files import (
    AS_IT_IS,
    DocumentReader,
    FileFacts,
    FileReading,
    ParsedDocument,
    Reading,
    ReadLimits,
    ReadOptions,
    Section,
    SkippedFile,
    SourceFile,
    UnreadableFile,
)
from backend.corpus.readers import FORMATS_READ, READERS, is_text_like, read_file
from backend.corpus.types import (
    DEFAULT_TOKENIZER,
    WHOLE_DOCUMENTS,
    Chunk,
    Chunking,
    ChunkStrategy,
    Corpus,
    Derived,
    Document,
    IngestReport,
    SizeUnit,
    Tokenizer,
)

if TYPE_CHECKING:
    from backend.corpus.library import CorpusLibrary
    from backend.corpus.sources import SAMPLE_NAME, pasted, read_paths, sample_queries, sample_sources
    from backend.corpus.tokenizer import JsonTokenizer, default_tokenizer, model_tokenizer

__all__ = [
    "AS_IT_IS",
    "DEFAULT_TOKENIZER",
    "FORMATS_READ",
    "READERS",
    "SAMPLE_NAME",
    "WHOLE_DOCUMENTS",
    "Chunk",
    "ChunkStrategy",
    "Chunking",
    "Corpus",
    "CorpusLibrary",
    "Derived",
    "Document",
    "DocumentReader",
    "FileFacts",
    "FileReading",
    "IngestReport",
    "JsonTokenizer",
    "ParsedDocument",
    "ReadLimits",
    "ReadOptions",
    "Reading",
    "Section",
    "SizeUnit",
    "SkippedFile",
    "SourceFile",
    "Tokenizer",
    "UnreadableFile",
    "check_chunking",
    "chunk_spans",
    "default_tokenizer",
    "is_text_like",
    "model_tokenizer",
    "pasted",
    "read_file",
    "read_paths",
    "sample_queries",
    "sample_sources",
]

# What stands on the store is imported when it is first asked for: the process that reads needs none of it, and would
# start three times as slowly.
_ON_THE_STORE = {
    "library": ("CorpusLibrary",),
    "sources": ("SAMPLE_NAME", "pasted", "read_paths", "sample_queries", "sample_sources"),
    "tokenizer": ("JsonTokenizer", "default_tokenizer", "model_tokenizer"),
}


def __getattr__(name: str) -> Any:
    for module, names in _ON_THE_STORE.items():
        if name in names:
            value = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
