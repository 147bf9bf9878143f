"""Prompts as files: one versioned template a prompt, filled in one pass so that texts are never read as templates.

A template's first line is ``{# version: N #}``. Its version shown with verdicts is ``N-<first 8 of its sha256>``.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from backend.errors import InputError

_FOLDER = Path(__file__).parent
_JUDGE_TEXTS = ("query", "chunk_a", "chunk_b")
_NONCE, _TRIAL = "nonce", "0123456789abcdef"
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


def edited_prompt(source: str) -> Prompt:
    """A judge's prompt that a person edited, checked; its version is ``edited-<8 hex>`` of its text.

    Raises:
        InputError: It is no template, lacks a text, or a text does not stand between lines with the code that no
            document can forge.
    """
    try:
        names = meta.find_undeclared_variables(_ENVIRONMENT.parse(source))
    except TemplateSyntaxError as error:
        raise InputError(f"The prompt can't be read as a template: {error.message}, line {error.lineno}.") from None
    if missing := sorted({*_JUDGE_TEXTS, _NONCE} - names):
        raise InputError("The prompt lacks " + ", ".join(f"{{{{ {name} }}}}" for name in missing) + ".")
    if unknown := sorted(names - {*_JUDGE_TEXTS, _NONCE}):
        raise InputError("The prompt asks for what there is not: " + ", ".join(unknown) + ".")
    prompt = Prompt("judge", f"edited-{hashlib.sha256(source.encode()).hexdigest()[:8]}", source)
    try:
        lines = prompt.render(**{name: f"\n{name}\n" for name in _JUDGE_TEXTS}, **{_NONCE: _TRIAL}).splitlines()
    except TemplateError as error:
        raise InputError(f"The prompt can't be filled: {error}.") from None
    told = [line.strip() for line in lines if line.strip()]
    for name in _JUDGE_TEXTS:
        for at in (at for at, line in enumerate(told) if line == name):
            around = told[max(at - 1, 0) : at] + told[at + 1 : at + 2]
            if len(around) < 2 or not all(_TRIAL in line for line in around):
                raise InputError(
                    f"In the prompt {{{{ {name} }}}} does not stand between two lines with {{{{ nonce }}}}.",
                    hint="Keep the marker lines: without them a document could pass for a part of the prompt.",
                )
    return prompt


__all__ = ["Prompt", "edited_prompt", "load_prompt"]
