"""HyDE: search with a passage that might answer the query (Gao et al. 2022, arXiv 2212.10496).

The passages are written once and shared by both models of a duel, so that the writer's luck does not count as a
difference between models.
"""

from __future__ import annotations

import time

from backend.errors import ProviderError
from backend.llm.types import ChatMessage, ChatModel, ChatRequest
from backend.prompts import load_prompt
from backend.retrieval.types import Expansion, HydeSettings

HYDE_PROMPT = "hyde"
_MAX_TOKENS = 512  # as in the authors' code


class HydeExpander:
    """Writes hypothetical passages with a chat model.

    Args:
        chat: The writer.
        settings: How many passages, and how they are used.
        seed: Seed of the first passage; the next ones count up, so that several passages differ.
    """

    def __init__(self, chat: ChatModel, settings: HydeSettings, seed: int) -> None:
        self._chat = chat
        self._settings = settings
        self._seed = seed

    def expand(self, query: str) -> Expansion:
        """Write the passages; a failure gives an Expansion without passages that says why."""
        prompt = load_prompt(HYDE_PROMPT)
        passages: list[str] = []
        failure = ""
        started = time.perf_counter()
        for n in range(self._settings.n_passages):
            request = ChatRequest(
                messages=(ChatMessage("user", prompt.render(query=query)),),
                temperature=self._settings.temperature,
                max_tokens=_MAX_TOKENS,
                seed=self._seed + n,
                cut_off_counts=True,  # a passage without its end still searches
            )
            try:
                reply = self._chat.complete(request)
            except ProviderError as error:
                failure = str(error)
                break
            if text := reply.text.strip():
                passages.append(text)
            else:
                failure = reply.refusal or f"The writer gave no text (finish reason: {reply.finish_reason})."
        return Expansion(
            passages=tuple(passages),
            failure=failure,
            writer=self._chat.endpoint.model,
            prompt_version=prompt.version,
            latency_ms=(time.perf_counter() - started) * 1000,
            with_query=self._settings.with_query,
        )
