"""Blind in the data: what an LLM judge is shown, and in which order. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass

from backend.judging.types import Side
from backend.prompts import Prompt, load_prompt
from backend.store import sha256_hex

PROMPT = "judge"
_NONCE_LENGTH = 16


@dataclass(frozen=True, slots=True)
class BlindRequest:
    """One order's prompt.

    Attributes:
        first: The side that stands as Chunk A.
        prompt: What the judge reads; nothing in it tells one side from the other but the texts.
        nonce: The code in the delimiters.
    """

    first: Side
    prompt: str
    nonce: str


def drawn_first(query: str, text_a: str, text_b: str, seed: int) -> Side:
    """The side shown first in the first order.

    Drawn over the texts' hashes and not over the sides, so that the same text stands first whichever model is
    called a.
    """
    lower_first = int(_draw("order", query, text_a, text_b, seed), 16) % 2 == 0
    a_is_lower = sha256_hex(text_a) <= sha256_hex(text_b)
    return "a" if a_is_lower == lower_first else "b"


def drawn_nonce(query: str, text_a: str, text_b: str, seed: int) -> str:
    """A code that occurs in none of the texts, the same whichever model is called a.

    A document can't forge the delimiters: the code depends on the document itself.
    """
    told = "\n".join((query, text_a, text_b)).casefold()
    attempt = 0
    while (nonce := _draw(f"nonce {attempt}", query, text_a, text_b, seed)[:_NONCE_LENGTH]) in told:
        attempt += 1
    return nonce


def blind_requests(
    query: str, text_a: str, text_b: str, *, seed: int, both_orders: bool = True, prompt: Prompt | None = None
) -> list[BlindRequest]:
    """The prompts to ask, the drawn order first.

    Args:
        query: As the person asked it, without any expansion.
        text_a: Side a's text; goes in unchanged to the character.
        text_b: Side b's.
        seed: Seed of the draw; recorded with the verdict.
        both_orders: Also ask with the sides exchanged.
        prompt: An edited one; None: the built-in.
    """
    template = prompt or load_prompt(PROMPT)
    nonce = drawn_nonce(query, text_a, text_b, seed)
    drawn = drawn_first(query, text_a, text_b, seed)
    other: Side = "b" if drawn == "a" else "a"
    texts = {"a": text_a, "b": text_b}
    requests = []
    for first, second in ((drawn, other), (other, drawn))[: 2 if both_orders else 1]:
        told = template.render(query=query, chunk_a=texts[first], chunk_b=texts[second], nonce=nonce)
        requests.append(BlindRequest(first, told, nonce))
    return requests


def _draw(purpose: str, query: str, text_a: str, text_b: str, seed: int) -> str:
    return sha256_hex("\0".join((purpose, str(seed), sha256_hex(query), *sorted(map(sha256_hex, (text_a, text_b))))))
