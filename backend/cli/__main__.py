"""``python -m backend.cli`` is ``ragduel``."""

from backend.cli import main

main()
