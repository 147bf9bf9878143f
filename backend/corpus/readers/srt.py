"""Subtitles (SRT and WebVTT): what is said as running text, with the time it is said as its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from backend.corpus.files import FileFacts, Reading, SourceFile, TextSink, UnreadableFile
from backend.corpus.readers.plain import decoded_text, text_facts

_TIMES = re.compile(
    r"[ \t]*(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[,.]\d{1,3}[ \t]{0,9}-->[ \t]{0,9}(?:\d{1,4}:)?\d{1,2}:\d{2}[,.]\d{1,3}"
)
_FIRST_CUE = re.compile(r"\s{0,99}(?:\d{1,9}[ \t]*[\r\n]{1,4})?" + _TIMES.pattern)
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?[ \t]+([^<>]{1,200})>")
_TAGS = re.compile(r"</?[a-zA-Z0-9.:][^<>]{0,200}>|\{\\?[a-zA-Z][^{}]{0,100}\}")
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": " ", "&lrm;": "", "&rlm;": ""}
_CUES_A_GROUP = 10
_SECONDS_A_GROUP = 60
_MOST_CUES_A_GROUP = 15  # where no sentence ends after ten
_SENTENCE_END = (".", "!", "?", "…", "。", "！", "？", '."', '!"', '?"', ".”", "!”", "?”")
_CUES_A_CHECK = 1_000


@dataclass(frozen=True, slots=True)
class _Cue:
    start_s: int
    text: str


class SubtitleReader:
    """Reads subtitles by content, in any encoding that can be told."""

    media_type = "application/x-subrip"

    def accepts(self, file: SourceFile) -> bool:
        """WebVTT's first word, or a first cue with its times."""
        head = file.head(4096).replace(b"\x00", b"").decode("latin-1")
        for mark in ("ï»¿", "ÿþ", "þÿ"):
            head = head.removeprefix(mark)
        return _FIRST_CUE.match(head) is not None or re.match(r"WEBVTT(?:[ \t\r\n]|$)", head) is not None

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """About ten cues or a minute to a paragraph, at ``00:01:05``; numbers, times and tags are dropped.

        Raises:
            UnreadableFile: Not text, or nothing is said.
            CancelledError: From ``reading.check``, between batches of cues.
        """
        reading.check()
        text, decoded = decoded_text(file.data, out.replaced, forced=reading.options.encoding)
        is_vtt = text.startswith("WEBVTT")
        group: list[_Cue] = []
        for n, cue in enumerate(_cues(text, rolls=is_vtt)):
            if n % _CUES_A_CHECK == 0:
                reading.check()
            if group and _is_full(group, cue):
                _write(group, out)
                group = []
            group.append(cue)
        _write(group, out)
        if not out.n_chars:
            raise UnreadableFile("no text: the subtitles say nothing.", hint="Check that it was saved or copied whole.")
        return text_facts("text/vtt" if is_vtt else self.media_type, decoded, out.replaced)


def _is_full(group: list[_Cue], following: _Cue) -> bool:
    full = len(group) >= _CUES_A_GROUP or following.start_s - group[0].start_s >= _SECONDS_A_GROUP
    return full and (group[-1].text.endswith(_SENTENCE_END) or len(group) >= _MOST_CUES_A_GROUP)


def _write(group: list[_Cue], out: TextSink) -> None:
    if group:
        minutes, seconds = divmod(group[0].start_s, 60)
        out.begin(f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}")
        out.add(" ".join(cue.text for cue in group))


def _cues(text: str, *, rolls: bool) -> Iterator[_Cue]:
    """Cues with words, in file order; where captions roll, a line that the cue before ended with is not said again."""
    start_s = -1
    said: list[str] = []
    last = ""
    for line in (*text.split("\n"), ""):
        times = _TIMES.match(line)
        if times or not line.strip():
            # The number of the next cue may follow without a blank line.
            if times and said and said[-1].isdigit() and start_s >= 0:
                said.pop()
            if start_s >= 0 and said:
                yield _Cue(start_s, " ".join(said))
                last = said[-1]
            said = []
            hours, minutes, seconds = times.groups() if times else ("", "", "")
            start_s = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) if times else -1
        elif start_s >= 0 and (words := _words(line)) and not (rolls and words == last):
            said.append(words)


def _words(line: str) -> str:
    line = _TAGS.sub("", _VOICE.sub(lambda match: f"{match.group(1).strip()}: ", line))
    for entity, sign in _ENTITIES.items():
        line = line.replace(entity, sign)
    return " ".join(line.split())
