"""What every QueryExpander does."""

from __future__ import annotations

import pytest

from backend.errors import ProviderError, ProviderFault
from backend.retrieval import Expansion, HydeExpander, HydeSettings, QueryExpander
from tests.fakes.chat import FakeChat


class FixedExpander:
    """Passages known beforehand."""

    def expand(self, query: str) -> Expansion:
        return Expansion(passages=(f"A passage on {query}.",), writer="nobody", prompt_version="0")


def failing() -> QueryExpander:
    return HydeExpander(FakeChat(ProviderError("down", fault=ProviderFault.UNREACHABLE)), HydeSettings(), seed=1)


@pytest.mark.parametrize("expander", [FixedExpander(), HydeExpander(FakeChat("a passage"), HydeSettings(), seed=1)])
def test_passages_come_with_their_origin(expander: QueryExpander) -> None:
    expansion = expander.expand("tides")
    assert expansion.passages
    assert all(passage.strip() for passage in expansion.passages)
    assert expansion.failure == ""
    assert expansion.writer
    assert expansion.prompt_version


def test_a_failure_is_told_and_never_raised() -> None:
    expansion = failing().expand("tides")
    assert (expansion.passages, bool(expansion.failure)) == ((), True)


def test_the_same_query_gives_the_same_passages() -> None:
    expander = HydeExpander(FakeChat(["one", "two", "three"]), HydeSettings(n_passages=2), seed=1)
    assert expander.expand("tides").passages == expander.expand("tides").passages
