"""No page imports a heavy library at its start, so that the first one shows within seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HEAVY = ("torch", "transformers", "sentence_transformers", "faiss", "openai", "xllamacpp", "wordllama")
SCRIPT = """
import json, sys
from streamlit.testing.v1 import AppTest
at = AppTest.from_file("app.py", default_timeout=120).run()
titles = [at.title[0].value]
for page in ("corpora", "verdicts", "settings"):
    at.switch_page(f"pages/{page}.py").run()
    titles.append(at.title[0].value)
    assert not at.exception and not at.error, page
print(json.dumps({"titles": titles, "modules": sorted(sys.modules)}))
"""


def test_every_page_starts_without_heavy_imports(tmp_path: Path) -> None:
    environment = {**os.environ, "RAGDUEL_DATA_DIR": str(tmp_path / "data")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=Path(__file__).resolve().parents[2], env=environment, check=False,
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["titles"] == ["Duel", "Corpora", "Verdicts", "Settings"]
    assert [name for name in HEAVY if name in told["modules"]] == []
