"""``python -m backend.ui.server [streamlit options]``: Streamlit's own server for app.py, with the app warming up.

Streamlit imports an app when its first visitor arrives. Here a thread does so while the browser still loads the page,
so that the first visitor waits for neither.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from backend.settings import load_settings

APP = Path(__file__).resolve().parents[2] / "app.py"
_NEEDED_FIRST = ("backend.ui.duel_view", "backend.ui.duel_form", "backend.ui.first_visit", "pandas")


def main(options: Sequence[str]) -> None:
    """Run the server until it is stopped.

    Args:
        options: As for ``streamlit run app.py``.
    """
    threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()
    from streamlit.web import cli

    cli.main(["run", str(APP), *with_upload_limit(options)])


def with_upload_limit(options: Sequence[str]) -> list[str]:
    """Streamlit's options with the upload limit of our settings, unless they name one."""
    if any(option.startswith("--server.maxUploadSize") for option in options):
        return list(options)
    return [*options, f"--server.maxUploadSize={load_settings().max_upload_mb}"]


def _warm_up() -> None:
    for name in _NEEDED_FIRST:
        importlib.import_module(name)


if __name__ == "__main__":
    main(sys.argv[1:])
