"""Which language a text is in, from samples of it; "unknown" where that is not sure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from backend.corpus.quality.types import SEVERAL_LANGUAGES, UNKNOWN_LANGUAGE

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

SAMPLE_CHARS = 600
MIN_CONFIDENCE = 0.8
_FEWEST_LETTERS = 8
_MOST_SAMPLES = 12
_SAMPLES_A_CORPUS = 12_000  # about three seconds
_MAIN_SHARE = 0.5
# What the library calls "no language": codes, numbers, markup.
_NO_LANGUAGE = "zxx"
# The library tells relatives apart that a choice of model does not: members of a macrolanguage (ISO 639-3), old forms.
_RELATIVES = {
    "yue": "zh", "wuu": "zh", "ary": "ar", "arz": "ar", "nn": "no", "ltg": "lv", "uzs": "uz", "sdh": "ku",
    "grc": "el", "hbo": "he",
}  # fmt: skip

_NAMES = """af Afrikaans|am Amharic|ar Arabic|as Assamese|az Azerbaijani|be Belarusian|bg Bulgarian|bn Bengali|
br Breton|bs Bosnian|ca Catalan|cs Czech|cy Welsh|da Danish|de German|el Greek|en English|eo Esperanto|
es Spanish|et Estonian|eu Basque|fa Persian|fi Finnish|fr French|fy West Frisian|ga Irish|
gd Scottish Gaelic|gl Galician|gu Gujarati|ha Hausa|he Hebrew|hi Hindi|hr Croatian|ht Haitian Creole|
hu Hungarian|hy Armenian|id Indonesian|ig Igbo|is Icelandic|it Italian|ja Japanese|jv Javanese|
ka Georgian|kk Kazakh|km Khmer|kn Kannada|ko Korean|ku Kurdish|ky Kyrgyz|la Latin|lg Ganda|ln Lingala|
lo Lao|lt Lithuanian|lv Latvian|mg Malagasy|mk Macedonian|ml Malayalam|mn Mongolian|mr Marathi|ms Malay|
my Burmese|ne Nepali|nl Dutch|no Norwegian|om Oromo|or Odia|pa Punjabi|pl Polish|ps Pashto|pt Portuguese|
qu Quechua|ro Romanian|ru Russian|sa Sanskrit|si Sinhala|sk Slovak|sl Slovenian|so Somali|sq Albanian|
sr Serbian|sv Swedish|sw Swahili|ta Tamil|te Telugu|th Thai|tl Tagalog|tr Turkish|ug Uyghur|uk Ukrainian|
ur Urdu|uz Uzbek|vi Vietnamese|xh Xhosa|yo Yoruba|zh Chinese|zu Zulu|ace Acehnese|bcl Central Bikol|
dz Dzongkha|ext Extremaduran|gcf Guadeloupean Creole|gom Goan Konkani|gug Guarani|kik Kikuyu|
nso Northern Sotho|pcm Nigerian Pidgin|rw Kinyarwanda|se Northern Sami|sn Shona|st Southern Sotho|
an Aragonese|crh Crimean Tatar|fo Faroese|fuv Nigerian Fulfulde|gcr Guianese Creole|guw Gun|kab Kabyle|
lb Luxembourgish|lij Ligurian|wa Walloon|ba Bashkir|mt Maltese|oc Occitan|tg Tajik|tk Turkmen|tt Tatar|
vec Venetian|vo Volapük|und unknown|mul several languages"""


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    return {code: name for code, _, name in (entry.strip().partition(" ") for entry in _NAMES.split("|"))}


def language_name(code: str) -> str:
    """A language's English name; the code itself where it has none here."""
    return _names().get(code, code)


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def identify(text: str) -> tuple[str, float]:
    """The language of a short text.

    Returns:
        ISO 639 code and the library's confidence (0 to 1), that of close relatives added up; ``und`` where there is too
        little text, no language in it, or the confidence is below ``MIN_CONFIDENCE``.
    """
    if sum(map(str.isalpha, text)) < _FEWEST_LETTERS:
        return UNKNOWN_LANGUAGE, 0.0
    confidences: dict[str, float] = {}
    for label, confidence in _identifier().rank(text):
        code = _RELATIVES.get(label, label)
        confidences[code] = confidences.get(code, 0.0) + confidence
    best = max(confidences, key=confidences.__getitem__)
    if best == _NO_LANGUAGE or confidences[best] < MIN_CONFIDENCE:
        return UNKNOWN_LANGUAGE, min(1.0, confidences[best])
    return best, min(1.0, confidences[best])


@dataclass(frozen=True, slots=True)
class DocumentLanguage:
    """What the samples of one document say.

    Attributes:
        code: Its main language; ``und``: none is known, ``mul``: none has half of it.
        share: Of the sampled characters, of the language that has the most.
        confidence: Mean over that language's samples.
        shares: Of the sampled characters, by code; they add up to 1, or there are none.
    """

    code: str = UNKNOWN_LANGUAGE
    share: float = 0.0
    confidence: float = 0.0
    shares: tuple[tuple[str, float], ...] = ()


def samples_a_document(n_documents: int) -> int:
    """How many samples each document gets, so that large corpora take no longer than a few seconds."""
    return max(1, min(_MOST_SAMPLES, _SAMPLES_A_CORPUS // max(1, n_documents)))


class LanguageSampler:
    """Takes samples, evenly spread over a text that comes block by block.

    Args:
        n_chars: Of the text, as far as known.
        most_samples: At most so many.
    """

    def __init__(self, n_chars: int, most_samples: int) -> None:
        n_samples = max(1, min(most_samples, n_chars // SAMPLE_CHARS))
        # Each from the middle of its part of the text: beginnings are title pages and contents.
        part = max(SAMPLE_CHARS, n_chars // n_samples)
        self._starts = [i * part + (part - SAMPLE_CHARS) // 2 for i in range(n_samples)]
        self._samples: list[str] = []
        self._open = ""
        self._at = 0

    def feed(self, block: str) -> None:
        """Take what is wanted of the next block."""
        reached = 0
        while len(self._samples) < len(self._starts):
            start = self._starts[len(self._samples)] + len(self._open) - self._at
            if start >= len(block):
                break
            reached = max(reached, start)
            self._open += block[reached : reached + SAMPLE_CHARS - len(self._open)]
            if len(self._open) < SAMPLE_CHARS:
                break
            self._samples.append(self._open)
            self._open = ""
        self._at += len(block)

    def language(self) -> DocumentLanguage:
        """What the samples say."""
        samples = [*self._samples, self._open] if self._open else self._samples
        n_chars: dict[str, int] = {}
        confidences: dict[str, list[float]] = {}
        for sample in samples:
            code, confidence = identify(sample)
            n_chars[code] = n_chars.get(code, 0) + len(sample)
            confidences.setdefault(code, []).append(confidence)
        total = sum(n_chars.values())
        if not total:
            return DocumentLanguage()
        shares = sorted(((code, n / total) for code, n in n_chars.items()), key=lambda item: (-item[1], item[0]))
        known = [item for item in shares if item[0] != UNKNOWN_LANGUAGE]
        if not known:
            return DocumentLanguage(shares=tuple(shares))
        code, share = known[0]
        confidence = sum(confidences[code]) / len(confidences[code])
        if share <= _MAIN_SHARE and len(known) > 1:
            code = SEVERAL_LANGUAGES
        return DocumentLanguage(code, share, confidence, tuple(shares))
