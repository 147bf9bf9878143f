"""Reading files to text on disk: in this process, or in one of its own that may crash, hang or eat memory."""

from backend.corpus.reading.spill import InProcessReading, read_sections, write_sections

__all__ = ["InProcessReading", "read_sections", "write_sections"]
