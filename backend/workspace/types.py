"""What pages and the command line hand in, and what the doctor hands out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import SecretStr

from backend.judging.types import JudgeKind
from backend.retrieval.types import HydeSettings

CheckState = Literal["ok", "warning", "failed"]


@dataclass(frozen=True, slots=True)
class DuelRequest:
    """One query over one corpus under two models.

    Attributes:
        corpus: Id or name.
        query: As the person wrote it.
        model_a: Registry key.
        model_b: Registry key.
        k: Cutoff, 1 to 100.
        hyde: Query expansion, or None.
    """

    corpus: str
    query: str
    model_a: str
    model_b: str
    k: int = 5
    hyde: HydeSettings | None = None


@dataclass(frozen=True, slots=True)
class SessionKeys:
    """Keys that a person typed; they live in the session and in the memory of one job, nowhere else.

    A key belongs to the address it was typed for, and is sent to no other.

    Attributes:
        chat: Key of a chat endpoint.
        chat_url: That endpoint's base URL.
        embedding: Base URL of an embedding endpoint -> its key.
    """

    chat: SecretStr = field(default=SecretStr(""), repr=False)
    chat_url: str = ""
    embedding: Mapping[str, SecretStr] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """Which judge to ask, about what.

    Attributes:
        kind: LLM or likelihood.
        base_url: Chat endpoint; empty: the one in force.
        model: Chat model; empty: the one in force.
        both_orders: Ask both orders (LLM judge).
        rank: Judge this rank of each list; None: the two top-k lists.
        again: A person asks for another answer where the stored one could not be used; it is paid anew.
    """

    kind: JudgeKind = JudgeKind.LIKELIHOOD
    base_url: str = ""
    model: str = ""
    both_orders: bool = True
    rank: int | None = 1
    again: bool = False


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The chat endpoint in force, without its key.

    Attributes:
        base_url: Empty where none is set.
        model: Model name there.
        price_input_usd: USD per million prompt tokens.
        price_output_usd: USD per million completion tokens.
        use_local: The local chat server instead.
    """

    base_url: str = ""
    model: str = ""
    price_input_usd: float = 0.0
    price_output_usd: float = 0.0
    use_local: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor."""

    name: str
    state: CheckState
    detail: str
    hint: str = ""
