"""Where one visible character ends: joined emoji, flags, accents, vowel signs and Hangul syllables stay whole.

A small part of the rules of Unicode Standard Annex 29, enough to place a cut; it needs no table of its own.
"""

from __future__ import annotations

import unicodedata

_ZERO_WIDTH_JOINER = "\u200d"
# Joins a consonant with the next one (rule GB9c): Devanagari, Bengali, Gujarati, Oriya, Telugu, Malayalam.
_CONJUNCT_LINKERS = frozenset("\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d")
_FLAG_HALVES = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_LAO_THAI_AM = "\u0e33\u0eb3"  # spacing marks by UAX 29, though letters by category


def splits_cluster(text: str, at: int) -> bool:  # noqa: PLR0911  (one return a rule)
    """Whether a cut before ``text[at]`` would tear a visible character apart."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if after < "\u0300":
        return (before == _ZERO_WIDTH_JOINER and not after.isspace() and after > "\x7f") or (before, after) == (
            "\r",
            "\n",
        )
    if after == _ZERO_WIDTH_JOINER or after in _LAO_THAI_AM or unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return not before.isspace()
    if before == _ZERO_WIDTH_JOINER:
        joins = at >= 2 and text[at - 2] in _CONJUNCT_LINKERS and unicodedata.category(after) == "Lo"
        return joins or unicodedata.category(after) == "So"
    if before in _CONJUNCT_LINKERS and unicodedata.category(after) == "Lo":
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    if _is_flag_half(after) and _is_flag_half(before):
        return _flag_halves_before(text, at) % 2 == 1
    return _hangul_joins(before, after)


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_halves_before(text: str, at: int) -> int:
    """Halves in a row up to ``at``, looked back for in growing steps: a text may be nothing but flags."""
    reach = 16
    while True:
        part = text[max(0, at - reach) : at]
        n_halves = len(part) - len(part.rstrip(_FLAG_HALVES))
        if n_halves < reach:
            return n_halves
        reach *= 4


def _hangul_joins(before: str, after: str) -> bool:
    """Conjoining jamo: leading consonant + vowel + trailing consonant make one syllable."""
    if "\u1160" <= after <= "\u11a7":  # vowel
        return "\u1100" <= before <= "\u11a7" or ("\uac00" <= before <= "\ud7a3" and (ord(before) - 0xAC00) % 28 == 0)
    if "\u11a8" <= after <= "\u11ff":  # trailing consonant
        return "\u1160" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    return "\u1100" <= before <= "\u115f" and ("\u1100" <= after <= "\u115f" or "\uac00" <= after <= "\ud7a3")
