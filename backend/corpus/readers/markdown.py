"""Markdown: kept as written, with the headings above each line as its place."""

from __future__ import annotations

import re

from backend.corpus.files import FileFacts, Reading, Section, SourceFile, TextSink
from backend.corpus.readers.plain import decoded_text, text_facts
from backend.corpus.text import HeadingPath

_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NOT_A_TITLE_LINE = re.compile(r"\s*(?:$|[-*+>|#]|\d+[.)]\s)")
_FRONT_TITLE = re.compile(r"^title:(.*)$", re.MULTILINE)


class MarkdownReader:
    """Reads Markdown; headings inside code fences are none."""

    media_type = "text/markdown"

    def accepts(self, file: SourceFile) -> bool:
        """By name: any text is Markdown."""
        return file.name.lower().endswith(_SUFFIXES)

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """The text as written; sections from each heading to the next.

        Raises:
            UnreadableFile: Not text, or blank.
        """
        reading.check()
        text, decoded = decoded_text(file.data, out.replaced, forced=reading.options.encoding)
        front = _front_matter_end(text)
        found = headings(text, front)
        path = HeadingPath()
        title = ""
        sections = []
        ends = [*(start for start, _, _ in found[1:]), len(text)] if found else []
        for (start, level, heading), end in zip(found, ends, strict=True):
            place = path.enter(level, heading)
            title = title or heading
            if place:
                sections.append(Section(start, end, place))
        named = _FRONT_TITLE.search(text[:front])
        front_title = _unquoted(named.group(1).strip()) if named else ""
        out.add_whole(text, sections)
        return text_facts(self.media_type, decoded, out.replaced, (front_title or title)[:300])


def _front_matter_end(text: str) -> int:
    """Where a YAML block at the top ends; 0 without one."""
    if not text.startswith("---\n"):
        return 0
    end = text.find("\n---\n", 3)
    return end + 5 if end >= 0 else 0


def _unquoted(value: str) -> str:
    return value.removeprefix(value[0]).removesuffix(value[0]) if value[:1] in ("'", '"') else value


def _without_closing_marks(rest: str) -> str:
    """The words of ``# Care #``: marks at the end count as decoration after a blank only (CommonMark 4.2).

    By hand: an expression for it takes time with the square of the blanks in a line.
    """
    rest = rest.rstrip(" \t")
    words = rest.rstrip("#")
    return (words if not words or words[-1] in " \t" else rest).strip()


def headings(text: str, begin: int = 0) -> list[tuple[int, int, str]]:
    """(start, level, heading) in order; those inside code fences are none."""
    found: list[tuple[int, int, str]] = []
    fence = ""
    before: tuple[int, str] | None = None  # the line above, if it may be the text of an underlined heading
    position = begin
    for line in text[begin:].split("\n"):
        start, position = position, position + len(line) + 1
        marker = _FENCE.match(line)
        if fence:
            if marker and marker.group(1).startswith(fence) and not line.strip(" `~\t"):
                fence = ""
            continue
        if marker:
            fence, before = marker.group(1), None
            continue
        atx = _ATX.match(line)
        setext = _SETEXT.match(line) if before else None
        if atx:
            found.append((start, len(atx.group(1)), _without_closing_marks(line[atx.end() :])))
        elif setext and before:
            found.append((before[0], 1 if setext.group(1)[0] == "=" else 2, before[1].strip()))
        before = None if atx or setext or _NOT_A_TITLE_LINE.match(line) else (start, line)
    return found
