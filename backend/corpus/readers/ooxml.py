"""What Word, Excel and PowerPoint files share: how parts name each other, and the document's title."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from backend.corpus.readers.packages import Package

_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
MOST_TITLE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Relation:
    """What a part refers to.

    Attributes:
        kind: Last word of its type: ``slide``, ``notesSlide``, ``worksheet``.
        part: Name of the part in the archive.
    """

    kind: str
    part: str


def relations(package: Package, part: str) -> dict[str, Relation]:
    """What a part (empty: the package) refers to, by id; addresses outside the file are left out."""
    folder, name = posixpath.split(part)
    root = package.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
    found = {}
    for element in root.iter(_RELATION) if root is not None else ():
        target, ident = element.get("Target") or "", element.get("Id") or ""
        if (element.get("TargetMode") or "").lower() == "external" or not target:
            continue
        path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
        found[ident] = Relation((element.get("Type") or "").rpartition("/")[2], path)
    return found


def main_part(package: Package, usual: str) -> str:
    """The part that the package names as its document, or the usual one."""
    named = [relation.part for relation in relations(package, "").values() if relation.kind == "officeDocument"]
    return next((part for part in named if part in package.names), usual)


def core_title(package: Package) -> str:
    """The title in the document's properties, or an empty string."""
    core = package.xml("docProps/core.xml")
    title = (core.findtext(_TITLE) if core is not None else "") or ""
    return " ".join(title.split())[:MOST_TITLE_CHARS]
