"""Configuration: every setting is a ``RAGDUEL_…`` variable in the environment or in ``.env``."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend.errors import InputError


class Settings(BaseSettings):
    """All settings, each with its default. ``docs/configuration.md`` lists them in one table.

    ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` are read where the ``RAGDUEL_…`` name is not set, since people
    have those already.
    """

    model_config = SettingsConfigDict(
        env_prefix="RAGDUEL_", env_file=".env", extra="ignore", frozen=True, env_ignore_empty=True
    )

    data_dir: Path = Field(Path("data"), description="Where all data lives: database, documents, vectors, indexes.")
    database_url: str = Field("", description="SQLAlchemy URL of a PostgreSQL database; empty: SQLite in data_dir.")
    llm_base_url: str = Field(
        "",
        validation_alias=AliasChoices("RAGDUEL_LLM_BASE_URL", "OPENAI_BASE_URL"),
        description="Base URL of an OpenAI-compatible chat endpoint for the LLM judge and HyDE.",
    )
    llm_api_key: SecretStr = Field(
        SecretStr(""),
        validation_alias=AliasChoices("RAGDUEL_LLM_API_KEY", "OPENAI_API_KEY"),
        description="Key for that endpoint; empty for local servers.",
    )
    llm_model: str = Field("", description="Chat model name at that endpoint.")
    llm_timeout_s: float = Field(60.0, gt=0, description="Seconds one chat or embedding call may take.")
    llm_max_retries: int = Field(2, ge=0, le=10, description="Repeats after 429 and 5xx; a time-out is not repeated.")
    llm_price_input_usd: float = Field(0.0, ge=0, description="USD per million prompt tokens, for the cost shown.")
    llm_price_output_usd: float = Field(0.0, ge=0, description="USD per million completion tokens, for the cost shown.")
    embedding_base_url: str = Field("", description="Embedding endpoint that RAGDUEL_EMBEDDING_API_KEY is for.")
    embedding_api_key: SecretStr = Field(
        SecretStr(""), description="Key for that endpoint and no other; the chat key goes to its own address only."
    )
    offline: bool = Field(False, description="Never try to download a model.")
    max_loaded_models: int = Field(2, ge=1, description="Embedding models kept in memory at once.")
    encode_batch_size: int = Field(32, ge=1, description="Texts a model encodes at once.")
    torch_threads: int = Field(0, ge=0, description="Threads for torch; 0: its own default.")
    chunk_tokens: int = Field(200, ge=8, description="Chunk size in tokens of the chunking tokenizer.")
    chunk_overlap_tokens: int = Field(40, ge=0, description="Tokens that neighbouring chunks share.")
    max_upload_mb: int = Field(200, ge=1, description="Largest single file accepted, in MB.")
    max_files: int = Field(2000, ge=1, description="Most files accepted in one batch, those in archives included.")
    max_batch_mb: int = Field(2000, ge=1, description="Most that one batch may hold, in MB.")
    max_pages: int = Field(5000, ge=1, description="Most pages, slides or sheets of one file.")
    max_records: int = Field(2_000_000, ge=1, description="Most rows or lines of one table.")
    max_archive_entries: int = Field(10_000, ge=1, description="Most files in one archive.")
    max_unpacked_mb: int = Field(2000, ge=1, description="Most that one archive may hold unpacked, in MB.")
    max_archive_ratio: int = Field(200, ge=1, description="Most that a file in an archive may grow when unpacked.")
    max_archive_nesting: int = Field(3, ge=0, description="Archives within archives that are opened.")
    max_file_seconds: float = Field(300.0, gt=0, description="Seconds that reading one file may take.")
    max_file_memory_mb: int = Field(2000, ge=100, description="Memory that reading one file may take, in MB.")
    job_workers: int = Field(2, ge=1, description="Background jobs that run at the same time.")
    seed: int = Field(20261130, description="Seed of every drawn order.")
    llm_port: int = Field(8099, ge=1, le=65535, description="Loopback port of the local chat server.")

    @field_validator("llm_api_key", "embedding_api_key")
    @classmethod
    def _trim_key(cls, value: SecretStr) -> SecretStr:
        # A key pasted with a line break makes an illegal HTTP header (openai-python#961).
        return SecretStr(value.get_secret_value().strip())

    @property
    def sqlalchemy_url(self) -> str:
        """The database that records go to."""
        return self.database_url or f"sqlite:///{(self.data_dir / 'ragduel.sqlite3').resolve()}"


def load_settings(**overrides: Any) -> Settings:
    """Read the settings.

    Raises:
        InputError: A variable holds a value that can't be used; the message names it, never a secret's value.
    """
    try:
        return Settings(**overrides)
    except ValidationError as error:
        lines = [f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}" for e in error.errors()]
        raise InputError(
            "A setting can't be used: " + "; ".join(lines) + ".", hint="See docs/configuration.md."
        ) from None


@lru_cache(maxsize=1)
def current_settings() -> Settings:
    """The settings of this process, read once."""
    return load_settings()
