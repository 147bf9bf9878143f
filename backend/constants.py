"""The three names of the project's first file, as views of the registry and of the prompt files.

The templates are jinja sources: fill them with ``backend.prompts.load_prompt(name).render(…)``, never with
``str.format``.
"""

from __future__ import annotations

from backend.embedding import BUILTIN_MODELS, SEED_NAMES
from backend.prompts import load_prompt

MODEL_MAP: dict[str, str] = {spec.key: spec.name for spec in BUILTIN_MODELS if spec.key in SEED_NAMES}
system_instructions: str = load_prompt("judge").source
hyde_prompt: str = load_prompt("hyde").source
