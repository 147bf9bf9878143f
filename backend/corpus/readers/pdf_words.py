"""The words of a PDF page: lines that end in a hyphen, ligatures, bullets, and letters that a font does not tell."""

from __future__ import annotations

import re

HYPHEN = "\ufffe"
"""What PDFium puts for a hyphen at a line's end; the line's end itself is gone."""

UNKNOWN = "\ufffd"
"""A glyph whose letter the file does not say."""

_AT_LINE_END = re.compile(rf"(\w*){HYPHEN}(\w*)")
_HYPHEN_AND_LINE_END = re.compile(r"(?<=[^\W\d_])- ?\n(?=[^\W\d_])")
_SOFT_HYPHEN = re.compile("\u00ad(?:[ \t]*\n)?")
_BLANKS_AT_LINE_END = re.compile(r"[ \t]+\n")
# "pre- and post-war": the hyphen stands for a part of the word that follows later.
_GOES_ON = frozenset(
    [
        "and",
        "or",
        "nor",
        "to",
        "und",
        "oder",
        "bzw",
        "sowie",
        "et",
        "ou",
        "y",
        "e",
        "o",
        "en",
        "of",
        "och",
        "og",
        "a",
        "i",
    ]
)
# Latin ligatures, and the glyphs of Word's bullet fonts that have a character of their own.
_PLAIN = str.maketrans(
    {
        "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl",
        "\ufb05": "st", "\ufb06": "st",
        "\uf0b7": "•", "\uf0a7": "▪", "\uf0d8": "➢", "\uf0fc": "✓", "\uf0e0": "→",
    }
)  # fmt: skip
_SPECIAL = re.compile("[\u00ad\ufb00-\ufb06\uf0a7-\uf0fc\ufffe]|- ?\n")
_PRIVATE_OR_UNKNOWN = re.compile("[\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def tidy(text: str) -> str:
    r"""A page's text with line ends ``\n``, words joined that a line's end had parted, and plain letters.

    A hyphen at a line's end goes where a small letter follows, unless the page writes the word with its hyphen
    elsewhere, a conjunction follows ("pre- and post-war"), or a digit stands before it.
    """
    text = text.replace("\r\n", "\n")
    if _SPECIAL.search(text) is not None:
        text = _SOFT_HYPHEN.sub("", text).translate(_PLAIN)
        text = _HYPHEN_AND_LINE_END.sub(HYPHEN, text)
        if HYPHEN in text:
            whole = text
            text = _AT_LINE_END.sub(lambda found: _joined(found[1], found[2], whole), text)
    return _BLANKS_AT_LINE_END.sub("\n", text)


def _joined(before: str, after: str, page: str) -> str:
    if after in _GOES_ON or not before:
        return f"{before}- {after}" if after else f"{before}-"
    if not (before[-1:].isalpha() and after[:1].islower()) or f"{before}-{after}" in page:
        return f"{before}-{after}"
    return before + after


def has_odd_letters(text: str) -> bool:
    """Whether a page's text hints at fonts that do not say what their glyphs stand for."""
    return _CONTROL.search(text) is not None or _PRIVATE_OR_UNKNOWN.search(text) is not None


def n_unknown(text: str) -> int:
    """Characters that stand for no letter: U+FFFD and private use."""
    return len(_PRIVATE_OR_UNKNOWN.findall(text))


def has_words(text: str) -> bool:
    """Whether a letter or a digit is in it that can be read."""
    return any(char.isalnum() for char in text)


def reads_as_text(guessed: str) -> bool:
    """Whether glyph numbers, taken for letters, look like a text.

    Old TeX fonts number their glyphs by ASCII and say no letters: most letters are small ones then. Fonts cut down to
    the glyphs in use number them from 1: small letters become capitals, signs and control characters.
    """
    letters = [char for char in guessed if not char.isspace()]
    if not letters or _CONTROL.search(guessed) is not None:
        return False
    small = sum("a" <= char <= "z" for char in letters)
    return small >= 0.6 * len(letters) and all(char < "\u0100" for char in letters)
