"""Reading files to text on disk: in this process, or in one of its own that may crash, hang or eat memory."""

from backend.corpus.reading.limits import limits_of
from backend.corpus.reading.process import ProcessReading
from backend.corpus.reading.spill import InProcessReading, read_sections, write_sections

__all__ = ["InProcessReading", "ProcessReading", "limits_of", "read_sections", "write_sections"]
