"""``ragduel …``: everything without a browser. Exit code 0; 2 for wrong input; 3 for a failing provider."""

from backend.cli.main import app, main

__all__ = ["app", "main"]
