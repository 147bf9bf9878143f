"""Plans as TOML files, for the command line. ``docs/experiments.md`` shows one."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from backend.corpus.types import DEFAULT_TOKENIZER, Chunking, ChunkStrategy, SizeUnit
from backend.errors import InputError, NotFoundError
from backend.experiments.plans import checked
from backend.experiments.types import Arm, ExperimentPlan, JudgeSettings, RetrieverKind, Unit
from backend.judging.types import JudgeKind
from backend.retrieval.types import HydeSettings


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HydeTable(_Strict):
    """``hyde = true``, or its settings."""

    passages: int = Field(1, ge=1, le=16)
    with_query: bool = True
    temperature: float = Field(0.7, ge=0, le=2)


class ChunkingTable(_Strict):
    """How the corpus is cut for one arm."""

    strategy: ChunkStrategy = ChunkStrategy.TOKENS
    size: int = Field(200, ge=1)
    overlap: int = Field(40, ge=0)
    min_size: int = Field(0, ge=0)
    unit: SizeUnit = SizeUnit.TOKENS
    tokenizer: str = DEFAULT_TOKENIZER


class ArmTable(_Strict):
    """``[[arms]]``: a model, ``bm25 = true``, or several of them as a hybrid."""

    name: str = ""
    model: str = ""
    models: tuple[str, ...] = ()
    bm25: bool = False
    dimension: int | None = Field(None, ge=1)
    hyde: bool | HydeTable = False
    chunking: ChunkingTable | None = None

    @model_validator(mode="after")
    def _has_something(self) -> ArmTable:
        if not (self.model or self.models or self.bm25):
            raise ValueError('an arm needs model = "KEY", models = ["KEY", …] or bm25 = true')
        return self

    def arm(self) -> Arm:
        """As the rooms know it."""
        models = (*([self.model] if self.model else []), *self.models)
        if self.dimension:
            models = tuple(f"{model}@{self.dimension}" for model in models)
        n_lists = len(models) + self.bm25
        kind = RetrieverKind.HYBRID if n_lists > 1 else RetrieverKind.BM25 if self.bm25 else RetrieverKind.DENSE
        hyde = HydeTable() if self.hyde is True else self.hyde or None
        return Arm(
            self.name,
            kind,
            models,
            with_bm25=self.bm25 and kind is RetrieverKind.HYBRID,
            hyde=HydeSettings(hyde.passages, hyde.with_query, hyde.temperature) if hyde else None,
            chunking=Chunking(**self.chunking.model_dump()) if self.chunking else None,
        )


class JudgeTable(_Strict):
    """``[[judges]]``."""

    kind: JudgeKind = JudgeKind.LIKELIHOOD
    base_url: str = ""
    model: str = ""
    temperature: float = 0.0
    seed: int | None = None
    reasoning_effort: str = ""
    max_tokens: int = 4096
    both_orders: bool = True
    repeats: int = 1
    prompt: str = ""
    prompt_file: str = ""


class PlanTable(_Strict):
    """A whole plan file."""

    name: str = ""
    corpus: str
    queries: str | tuple[str, ...] = ()
    query_set: str = ""
    arms: tuple[ArmTable, ...]
    judges: tuple[JudgeTable, ...] = (JudgeTable(),)
    k: int = 5
    unit: Unit = Unit.TOP_CHUNK
    against: str = ""
    concurrency: int = 8
    requests_per_minute: int = 0
    budget_usd: float = 0.0
    probe: bool = True

    @model_validator(mode="after")
    def _asks_something(self) -> PlanTable:
        if bool(self.queries) == bool(self.query_set):
            raise ValueError('name either query_set = "ID" or queries = "FILE" or ["…", "…"]')
        return self


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan as written down: names of corpus and queries are not looked up yet.

    Attributes:
        plan: ``corpus_id`` holds the corpus' name or id; ``query_set_id`` a query set's id or name, or is empty.
        queries: Queries written in the plan.
        queries_path: A file that holds them, or None.
    """

    plan: ExperimentPlan
    queries: tuple[str, ...] = ()
    queries_path: Path | None = None


def read_plan(path: Path) -> PlanFile:
    """Read a plan file; paths in it are relative to it.

    Raises:
        NotFoundError: It, or a file that it names, is missing.
        InputError: It can't be used; the message names the place.
    """
    try:
        table = PlanTable.model_validate(tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except FileNotFoundError:
        raise NotFoundError(f"The plan {path} is missing.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The plan {path} can't be read: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not TOML: {error}.", hint="See docs/experiments.md for a plan.") from None
    except ValidationError as error:
        raise InputError(f"{path}: {_told(error)}.", hint="See docs/experiments.md for a plan.") from None
    queries_path = path.parent / table.queries if isinstance(table.queries, str) and table.queries else None
    if queries_path is not None and not queries_path.exists():
        raise NotFoundError(f"The file {queries_path}, which {path.name} names, is missing.")
    try:
        plan = checked(
            ExperimentPlan(
                name=table.name or path.stem,
                corpus_id=table.corpus,
                query_set_id=table.query_set,
                arms=tuple(arm.arm() for arm in table.arms),
                judges=tuple(_judge(judge, path.parent) for judge in table.judges),
                **table.model_dump(
                    include={"k", "unit", "against", "concurrency", "requests_per_minute", "budget_usd", "probe"}
                ),
            )
        )
    except InputError as error:
        raise type(error)(f"{path}: {error.message}", hint=error.hint) from None
    return PlanFile(plan, table.queries if isinstance(table.queries, tuple) else (), queries_path)


def _judge(table: JudgeTable, folder: Path) -> JudgeSettings:
    values: dict[str, Any] = table.model_dump(exclude={"prompt_file"})
    if table.prompt_file:
        path = folder / table.prompt_file
        try:
            values["prompt"] = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise NotFoundError(f"The judge's prompt {path} can't be read: {error.strerror}.") from None
    return JudgeSettings(**values)


def _told(error: ValidationError) -> str:
    lines = []
    for problem in error.errors():
        place = ".".join(str(part + 1) if isinstance(part, int) else part for part in problem["loc"])
        words = problem["msg"].removeprefix("Value error, ")
        lines.append(f"{place}: {words}" if place else words)
    return "; ".join(lines)
