"""Where a sentence ends, told from the stop, what stands before it and what follows: rules for many languages at once.

No library did better here: the well-known rule-based ones read under 1 MB/s (benchmarks/README.md) and know few
languages. These rules look at one stop and its neighbourhood only, so a cut can be looked for backwards from the place
where a chunk is full, without reading the rest of the text.
"""

from __future__ import annotations

import re

# Full stops of scripts that put no blank after them.
CJK_STOPS = "。！？｡．"
STOPS = ".!?…؟۔।॥։።፧។៕။" + CJK_STOPS
CLOSERS = "\"')]}»”’」』）】〉》〕"
STOP_RUN = re.compile(f"[{re.escape(STOPS)}]+[{re.escape(CLOSERS)}]*")
# Between sentences without any stop: a blank line, a list item, a heading, a table's row.
STRUCTURE_GAP = re.compile(r"\n(?=[^\S\n]*(?:\n|[-*+•–|>#]|\d{1,3}[.)][^\S\n]))")

_NEXT_WORD = re.compile(r"\s*[\"'“‘«(\[¿¡„]*([^\s.,;:!?)]*)")
_LONGEST_WORD_CHARS = 24
_LONGEST_ABBREVIATION_CHARS = 6
_OPENERS = "\"'“‘«([{¿¡„"

# Never the last word of a sentence.
_BEFORE_MORE = frozenset(
    "mr mrs ms dr prof rev hon gov sen rep gen col capt lt sgt cmdr pres messrs mme mlle mt ft "
    "vs cf viz ca approx resp esp incl excl e.g i.e z.b d.h u.a o.ä bzw vgl ggf evtl hr fr "
    "т.е т.к напр ул".split()
)
# Before a number, a Roman number or a figure's letter only.
_BEFORE_NUMBERS = frozenset(
    "no nos nr fig figs eq eqs eqn ref refs tab vol vols p pp ch chap sec sect art para ed eds abb bd kap ziff "
    "jan feb mar apr jun jul aug sep sept oct nov dec рис табл стр".split()
)
# The last word of a sentence only where the next one is of those that often begin one.
_MAYBE_LAST = frozenset("inc ltd co corp jr sr st al bros dept univ".split())
_NUMBER = re.compile(r"[A-Z]?\d|[IVXLC]+$|[A-Z]$")
_BEGINNERS = frozenset(
    "The This That These Those There Then Thus They It Its In On At As An A We Our He She His Her If When While "
    "Where However But And So For From To By With After Before Each All No Not Some Both Here Such Although Because "
    "Der Die Das Es Er Sie Wir Ein Eine Im In Le La Les Il Elle Un Une El Los".split()
)


def ends_sentence(text: str, start: int, end: int) -> bool:
    """Whether a sentence ends with the run of stops and closing marks ``text[start:end]``."""
    if end >= len(text):
        return True
    after = text[end]
    if not after.isspace():
        # 3.14, example.org; but Chinese and Japanese put no blank there
        return after not in STOPS and after not in CLOSERS and text[start:end].rstrip(CLOSERS)[-1] in CJK_STOPS
    run = text[start:end].rstrip(CLOSERS) if end - start > 1 else text[start]
    if run[-1] in CJK_STOPS:
        return True
    if _goes_on(text, end):
        return run[-1] not in ".…" and end - start == len(run)  # “Where?” she asked.
    if run != "." or (start and text[start - 1] == "."):
        return True
    return _period_ends(text, start, end)


def _goes_on(text: str, end: int) -> bool:
    """Whether the next word begins with a small letter."""
    after = text[end + 1 : end + 2]
    return after.islower() or (not after.isalnum() and _next_word(text, end)[:1].islower())


def _next_word(text: str, at: int) -> str:
    found = _NEXT_WORD.match(text, at)
    return found.group(1) if found else ""


def _period_ends(text: str, start: int, end: int) -> bool:  # noqa: PLR0911  (one return a rule)
    """Whether a single period after a word ends a sentence, and not an abbreviation."""
    parts = text[max(0, start - _LONGEST_WORD_CHARS) : start].split()
    if not parts or text[start - 1].isspace():
        return True
    word = parts[-1].lstrip(_OPENERS)
    if len(word) > _LONGEST_ABBREVIATION_CHARS and word.isalpha():
        return True
    if word.isdigit():
        # “12. Sluices” at the beginning of a line is a list's number.
        before = start - len(parts[-1])
        return not (len(word) <= 3 and (before == 0 or text[before - 1] == "\n"))
    lowered = word.lower()
    if lowered in _BEFORE_MORE:
        return False
    following = _next_word(text, end)
    if lowered in _BEFORE_NUMBERS:
        return _NUMBER.match(following) is None
    begins = following in _BEGINNERS
    if len(word) == 1 and word.isalpha():
        return begins  # J. Smith; but: vitamin C. The
    inner = word.split(".")
    if len(inner) > 1 and all(len(part) <= 2 and not part.isdigit() for part in inner):
        return begins  # U.S. Army; but: in the U.S. The
    if lowered in _MAYBE_LAST:
        return begins
    return True


def split_sentences(text: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence, without the blanks between them; ``text[start:end]`` is the sentence."""
    ends = {m.end() for m in STOP_RUN.finditer(text) if ends_sentence(text, m.start(), m.end())}
    ends |= {m.start() for m in STRUCTURE_GAP.finditer(text)}
    found = []
    start = 0
    for end in sorted(ends | {len(text)}):
        piece = text[start:end]
        lead = len(piece) - len(piece.lstrip())
        if lead < len(piece):
            found.append((start + lead, start + len(piece.rstrip())))
        start = end
    return found
