"""What the documentation says of the registry is what the registry says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backend.embedding import BUILTIN_MODELS, ModelSpec

ROOT = Path(__file__).parents[2]


def row(spec: ModelSpec) -> str:
    prompts = " / ".join(
        f"`{prompt.strip()}`" if prompt else "none" for prompt in (spec.query_prompt, spec.document_prompt)
    )
    dimensions = ", ".join(map(str, spec.dimensions)) or str(spec.dimension)
    cells = (
        f"`{spec.key}`", spec.name, f"`{spec.revision[:12]}`" if spec.revision else "not pinned", spec.pooling,
        dimensions,
        str(spec.max_tokens or "no limit"), prompts, spec.licence,
    )  # fmt: skip
    return "| " + " | ".join(cell.replace("\n", "\\n").replace("|", "\\|") for cell in cells) + " |"


@pytest.mark.parametrize("spec", BUILTIN_MODELS, ids=lambda spec: spec.key)
def test_the_model_table_is_true(spec: ModelSpec) -> None:
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert row(spec) in text
    assert spec.caution in text


def test_every_link_between_the_documents_leads_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "benchmarks").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
