"""Jupyter notebooks: text cells, code cells, and what the code printed."""

from __future__ import annotations

import json
import re
from typing import Any

from backend.corpus.decoding import decode
from backend.corpus.files import FileFacts, Reading, SourceFile, TextSink, UnreadableFile
from backend.corpus.readers.markdown import headings
from backend.corpus.text import HeadingPath, clean_text

_MOST_BYTES = 100_000_000
_MOST_BRACKETS = 2_000_000  # an empty list of two bytes takes fifty in memory
_MOST_OUTPUT_CHARS = 4_000
_LOOKED_AT = 8_192
_ESCAPES = re.compile(r"\x1b\[[0-9;?]{0,40}[A-Za-z]")  # colours of a terminal
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_RESAVE = "Open it in Jupyter and save it again, or export it as Markdown."


class NotebookReader:
    """Reads notebooks by content, whatever the suffix."""

    media_type = "application/x-ipynb+json"

    def accepts(self, file: SourceFile) -> bool:
        """JSON that names a notebook's format, or an IPYNB name."""
        head = file.head(_LOOKED_AT)
        if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return False
        if file.name.lower().endswith(".ipynb"):
            return True
        return (b'"cells"' in head or b'"worksheets"' in head) and b'"nbformat"' in head + _tail(file)

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """Each cell at ``cell 7: Heading > Subheading``; code and what it printed in fences.

        Raises:
            UnreadableFile: No notebook, broken, too large, too many cells, or without text.
            CancelledError: From ``reading.check``, between cells.
        """
        reading.check()
        notebook = _parsed(file)
        cells = _cells(notebook)
        if len(cells) > reading.limits.max_records:
            raise UnreadableFile(
                f"{len(cells):,} cells, the most of one file is {reading.limits.max_records:,}.",
                hint="Split it, or raise RAGDUEL_MAX_RECORDS.",
            )
        metadata = _dict(notebook.get("metadata"))
        language = str(_dict(metadata.get("language_info")).get("name") or "")
        language = language if _LANGUAGE.fullmatch(language) else ""
        path = HeadingPath()
        place = ""
        cut: list[int] = []
        for number, cell in enumerate(cells, start=1):
            reading.check()
            source = _joined(cell.get("source", cell.get("input")))
            if cell.get("cell_type") in ("markdown", "heading"):
                if cell.get("cell_type") == "heading":  # of format 3
                    source = f"{'#' * min(6, max(1, _int(cell.get('level'))))} {source}"
                for _, level, heading in headings(clean_text(source)):
                    place = path.enter(level, heading)
            out.begin(f"cell {number}: {place}" if place else f"cell {number}")
            if cell.get("cell_type") != "code":
                out.add(source)
                continue
            out.add(_fenced(source, language))
            printed = _printed(cell.get("outputs"))
            if len(printed) > _MOST_OUTPUT_CHARS:
                printed = printed[:_MOST_OUTPUT_CHARS].rstrip() + " …"
                cut.append(number)
            out.add(f"Output:\n{_fenced(printed, '')}" if printed.strip() else "")
        warnings = []
        if cut:
            word = "cells" if len(cut) > 1 else "cell"
            warnings.append(
                f"{len(cut)} {word} printed more than {_MOST_OUTPUT_CHARS:,} characters: the rest is not read"
            )
        if not out.n_chars:
            raise UnreadableFile(
                "no text: all cells of the notebook are blank.", hint="Check that it was saved or copied whole."
            )
        return FileFacts(
            title=" ".join(str(metadata.get("title") or "").split())[:300],
            media_type=self.media_type,
            warnings=(*warnings, *out.replaced.notes()),
        )


def _tail(file: SourceFile) -> bytes:
    with file.open() as stream:
        stream.seek(max(0, file.size_bytes - _LOOKED_AT))
        return stream.read(_LOOKED_AT)


def _parsed(file: SourceFile) -> dict[str, Any]:
    if file.size_bytes > _MOST_BYTES:
        raise UnreadableFile(
            f"a notebook of {file.size_bytes / 1e6:.0f} MB, the most is {_MOST_BYTES / 1e6:.0f} MB.",
            hint="Clear the pictures among its outputs and save it again.",
        )
    text = decode(file.data).text
    if text.count("[") + text.count("{") > _MOST_BRACKETS:
        raise UnreadableFile(f"a notebook with more than {_MOST_BRACKETS:,} brackets.", hint="Split it.")
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableFile("a broken notebook (not valid JSON).", hint=_RESAVE) from error
    if not isinstance(notebook, dict) or not _cells_of(notebook):
        raise UnreadableFile("no text: a notebook without cells.", hint=_RESAVE)
    return notebook


def _cells_of(notebook: dict[str, Any]) -> list[Any]:
    cells = notebook.get("cells")
    if isinstance(cells, list):
        return cells
    sheets = notebook.get("worksheets")  # formats before 4
    return [
        cell
        for sheet in (sheets if isinstance(sheets, list) else [])
        for cell in (_dict(sheet).get("cells") or [])
        if isinstance(_dict(sheet).get("cells"), list)
    ]


def _cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [_dict(cell) for cell in _cells_of(notebook)]


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _int(value: object) -> int:
    return value if isinstance(value, int) else 1


def _joined(value: object) -> str:
    """Texts are kept as one string or as a list of lines."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _printed(outputs: object) -> str:
    """What a person sees below the code, as text; pictures and the like are left out."""
    texts = []
    for output in map(_dict, outputs if isinstance(outputs, list) else []):
        if output.get("output_type") in ("error", "pyerr"):
            texts.append(f"{output.get('ename') or 'Error'}: {output.get('evalue') or ''}")
        else:
            data = _dict(output.get("data"))
            texts.append(_joined(output.get("text")) or _joined(data.get("text/markdown") or data.get("text/plain")))
    return _ESCAPES.sub("", "\n".join(text.rstrip("\n") for text in texts if text.strip()))


def _fenced(code: str, language: str) -> str:
    if not code.strip():
        return ""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code.strip(chr(10))}\n{fence}"
