"""Weights that a checkpoint lacks: transformers fills them with random numbers and only logs it."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_LOGGER = "transformers.modeling_utils"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_MISSING = re.compile(r"^\s*(\S.*?)\s*\|\s*MISSING\b", re.MULTILINE)


class _ReportFilter(logging.Filter):
    """Reads this thread's load reports and keeps them out of the log."""

    def __init__(self) -> None:
        super().__init__()
        self.missing: set[str] = set()
        self._thread = threading.get_ident()

    def filter(self, record: logging.LogRecord) -> bool:
        message = _COLOURS.sub("", record.getMessage())
        if record.thread != self._thread or "LOAD REPORT" not in message:
            return True
        # The pooler is a head for classification: an embedding never passes through it, and many models lack it.
        self.missing.update(name for name in _MISSING.findall(message) if "pooler" not in name)
        return False


@contextmanager
def missing_weights() -> Iterator[set[str]]:
    """Collects the names of weights that loads in the block did not find. Call it under the load lock."""
    logger = logging.getLogger(_LOGGER)
    level = logger.level
    report = _ReportFilter()
    # A quieter setting would hide the report from us, too. One below WARNING: at WARNING itself, set on this very
    # logger, transformers also prints a list of layers for tensor parallelism, which nobody uses here.
    logger.setLevel(logging.WARNING - 1)
    logger.addFilter(report)
    try:
        yield report.missing
    finally:
        logger.removeFilter(report)
        logger.setLevel(level)
