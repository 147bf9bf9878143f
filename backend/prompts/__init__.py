"""Prompts as files: one versioned template a prompt, filled in one pass so that texts are never read as templates.

A template's first line is ``{# version: N #}``. Its version shown with verdicts is ``N-<first 8 of its sha256>``.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

_FOLDER = Path(__file__).parent
# Chat prompts are plain text: autoescaping would change the documents that a judge reads.
_ENVIRONMENT = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template with its version.

    Attributes:
        name: File name without ending.
        version: ``N-<8 hex>``: the number in the file and the start of the sha256 of its text.
        source: The template's text.
    """

    name: str
    version: str
    source: str

    def render(self, **values: str) -> str:
        """Fill the template. Values go in as they are: braces, percent signs and markup included."""
        return _ENVIRONMENT.from_string(self.source).render(**values)


@lru_cache
def load_prompt(name: str) -> Prompt:
    """The prompt in ``prompts/<name>.j2``."""
    source = (_FOLDER / f"{name}.j2").read_text(encoding="utf-8")
    number = re.match(r"\{# version: (\d+)", source)
    if number is None:
        raise ValueError(f"prompts/{name}.j2 does not begin with its version")
    return Prompt(name, f"{number[1]}-{hashlib.sha256(source.encode()).hexdigest()[:8]}", source)


__all__ = ["Prompt", "load_prompt"]
