"""Text that every database can hold."""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with NULs (PostgreSQL refuses them) and lone surrogates (no UTF-8 has them) replaced by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)
