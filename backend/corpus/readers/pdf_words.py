"""The words of a PDF page: lines that end in a hyphen, ligatures, bullets, and letters that a font does not tell."""

from __future__ import annotations

import re

HYPHEN = "\ufffe"
"""What PDFium puts for a hyphen at a line's end; the line's end itself is gone."""

UNKNOWN = "\ufffd"
"""A glyph whose letter the file does not say."""

_LAST_WORD = re.compile(r"\w*\Z")
_FIRST_WORD = re.compile(r"\w*")
_MOST_WORD = 60  # characters looked at on either side of a hyphen
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
_NOT_PLAIN = re.compile("[\ufb00-\ufb06\uf0a7-\uf0fc]")
_PRIVATE_OR_UNKNOWN = re.compile("[\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def tidy(text: str) -> str:
    r"""A page's text with line ends ``\n``, words joined that a line's end had parted, and plain letters.

    A hyphen at a line's end goes where a small letter follows, unless the page writes the word with its hyphen
    elsewhere, a conjunction follows ("pre- and post-war"), or a digit stands before it.
    """
    text = text.replace("\r\n", "\n")
    if "-\n" in text or "- \n" in text:
        text = _HYPHEN_AND_LINE_END.sub(HYPHEN, text)
    if HYPHEN in text:
        text = _hyphens_resolved(text)
    if not text.isascii():
        if "\u00ad" in text:
            text = _SOFT_HYPHEN.sub("", text)
        if _NOT_PLAIN.search(text) is not None:
            text = text.translate(_PLAIN)
    return _BLANKS_AT_LINE_END.sub("\n", text) if " \n" in text or "\t\n" in text else text


def _hyphens_resolved(text: str) -> str:
    first, *following = text.split(HYPHEN)
    whole = [first]
    for part in following:
        before = _LAST_WORD.search(whole[-1][-_MOST_WORD:])
        after = _FIRST_WORD.match(part[:_MOST_WORD])
        whole += [_between(before[0] if before else "", after[0] if after else "", text), part]
    return "".join(whole)


def _between(before: str, after: str, page: str) -> str:
    """What stands between two words that a hyphen and a line's end parted."""
    if not before or not after:
        return "-"
    if after in _GOES_ON:
        return "- "
    if not (before[-1].isalpha() and after[0].islower()) or f"{before}-{after}" in page:
        return "-"
    return ""


def has_unknown(text: str) -> bool:
    """Whether a character in it stands for no letter: U+FFFD or private use."""
    return not text.isascii() and _PRIVATE_OR_UNKNOWN.search(text) is not None


def n_unknown(text: str) -> int:
    """Characters that stand for no letter: U+FFFD and private use."""
    return 0 if text.isascii() else len(_PRIVATE_OR_UNKNOWN.findall(text))


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
