"""Files that operating systems and tools leave beside documents: nobody means to add them."""

from __future__ import annotations

_FOLDERS = {"__MACOSX": "a folder of macOS side files", "__pycache__": "a folder of compiled Python"}
_FILES = {"thumbs.db": "a picture index of Windows", "desktop.ini": "folder settings of Windows"}


def side_folder(name: str) -> str:
    """What kind of folder this is, where it is left out; else empty."""
    return _FOLDERS.get(name) or ("a hidden folder" if name.startswith(".") else "")


def side_file(name: str) -> str:
    """What kind of file this is, where it is left out; else empty."""
    if name.startswith("._") or name == ".DS_Store":
        return "a side file of macOS"
    return _FILES.get(name.lower()) or ("a hidden file" if name.startswith(".") else "")
