"""E-mail: who wrote to whom, when and about what, and the message; attachments are files of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.header import decode_header
from email.message import Message

from backend.corpus.decoding import decode
from backend.corpus.files import FileFacts, Reading, SourceFile, TextSink, UnreadableFile
from backend.corpus.readers.html import MOST_PAGE_BYTES, write_page
from backend.corpus.text import joined

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_KNOWN = frozenset(
    b"from to cc bcc subject date sender reply-to received return-path delivered-to message-id mime-version "
    b"content-type content-transfer-encoding dkim-signature in-reply-to references x-mailer user-agent".split()
)
_HEADER_LINE = re.compile(rb"([A-Za-z][A-Za-z0-9-]{1,60}):")
_BOUNDARY = re.compile(rb"boundary\s*=", re.IGNORECASE)
# A line that begins a message in a mailbox file (mbox); such lines in texts are quoted there (">From").
_NEXT_MESSAGE = re.compile(rb"\n\r?\n(?=From [^\r\n]{1,300}\r?\n[A-Za-z][A-Za-z0-9-]{1,60}:)")
_TEXTS = ("text", "multipart")  # one that claims parts and has none is text
_MOST_BOUNDARIES = 500  # each line of a message is compared with those of all parts above
_MOST_PARTS = 5_000
_MOST_HEADER_CHARS = 2_000


class EmailReader:
    """Reads messages by content, and mailbox files of many."""

    media_type = "message/rfc822"

    def accepts(self, file: SourceFile) -> bool:
        """Header lines of a message at the top, or an EML name."""
        return _begins_with_headers(file.head(4096)) or file.name.lower().endswith((".eml", ".mbox", ".mht", ".mhtml"))

    def read(self, file: SourceFile, out: TextSink, reading: Reading) -> FileFacts:
        """Sender, receivers, date and subject, then the text; the HTML version only where there is no other.

        Raises:
            UnreadableFile: Not text, parts nested without end, or without text.
            CancelledError: From ``reading.check``, between messages and parts.
        """
        reading.check()
        messages = _messages(file.data)
        if len(messages) > reading.limits.max_records:
            raise UnreadableFile(
                f"{len(messages):,} messages, the most of one file is {reading.limits.max_records:,}.",
                hint="Split it, or raise RAGDUEL_MAX_RECORDS.",
            )
        found = _Found()
        title = ""
        for number, data in enumerate(messages, start=1):
            reading.check()
            reading.step("message", number, len(messages))
            out.begin(f"message {number}" if len(messages) > 1 else "")
            message = _parsed(data)
            title = title or _header(message, "Subject")
            _write_message(message, out, reading, found)
        if not found.has_text:
            out_of = "the message holds" if len(messages) == 1 else "the messages hold"
            raise UnreadableFile(
                "; ".join([f"no text: {out_of} none", *found.warnings()]) + ".", hint="Add its attachments as files."
            )
        return FileFacts(
            title=title[:300],
            media_type=self.media_type,
            warnings=(*found.warnings(), *out.replaced.notes()),
            n_records=len(messages) if len(messages) > 1 else 0,
        )


def attachments(data: bytes) -> list[tuple[str, bytes]]:
    """(file name, content) of what is attached to a message or to those of a mailbox; names are as the sender chose.

    Raises:
        UnreadableFile: The message can't be taken apart.
    """
    found = []
    for message in _messages(data):
        for part in _parts(_parsed(message)):
            if (name := _attached(part)) and isinstance(content := part.get_payload(decode=True), bytes):
                found.append((name, content))
    return found


@dataclass(slots=True)
class _Found:
    """What was noticed beside the text."""

    has_text: bool = False
    attached: list[str] = field(default_factory=list)
    unreadable: int = 0
    encodings: dict[str, None] = field(default_factory=dict)

    def warnings(self) -> list[str]:
        notes = list(self.encodings)
        if self.attached:
            notes.append(f"attached, each a file of its own: {joined(self.attached)}")
        if self.unreadable:
            notes.append(f"parts of the message that could not be read: {self.unreadable}")
        return notes


def _begins_with_headers(head: bytes) -> bool:
    """Whether known header lines stand at the top, a sender or subject among them."""
    lines = head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n").split(b"\n")
    if lines[0].startswith(b"From "):
        lines = lines[1:]
    names: list[bytes] = []
    for line in lines:
        if line[:1] in (b" ", b"\t") and names:
            continue
        match = _HEADER_LINE.match(line)
        if match is None:
            break
        names.append(match.group(1).lower())
    known = {name for name in names if name in _KNOWN}
    return len(known) >= 3 and bool(known & {b"from", b"subject", b"sender"}) and 2 * len(known) >= len(set(names)) - 8


def _messages(data: bytes) -> list[bytes]:
    return _NEXT_MESSAGE.split(data) if data.startswith(b"From ") else [data]


def _parsed(data: bytes) -> Message:
    """A message taken apart.

    Raises:
        UnreadableFile: It nests without end.
    """
    from email import message_from_bytes
    from email.policy import compat32  # the newer one raises at headers that are not as they should be

    data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    if sum(1 for _ in _BOUNDARY.finditer(data)) > _MOST_BOUNDARIES:
        raise UnreadableFile(f"a message with more than {_MOST_BOUNDARIES} nested parts.", hint="Save it as text.")
    try:
        return message_from_bytes(data, policy=compat32)
    except Exception as error:  # broken messages raise whatever their damage leads to
        raise UnreadableFile("a broken e-mail message.", hint="Save it as text.") from error


def _parts(message: Message) -> Iterator[Message]:
    """Parts that hold content, in order, each once."""
    stack = [message]
    n_parts = 0
    while stack and n_parts < _MOST_PARTS:
        part = stack.pop()
        n_parts += 1
        payload = part.get_payload()
        if part.is_multipart() and isinstance(payload, list):
            stack += [inner for inner in reversed(payload) if isinstance(inner, Message)]
        else:
            yield part


def _write_message(message: Message, out: TextSink, reading: Reading, found: _Found) -> None:
    lines = [f"{name}: {value}" for name in _HEADERS if (value := _header(message, name))]
    out.add("\n".join(lines))
    found.has_text = found.has_text or bool(_header(message, "Subject"))
    stack = [message]
    n_parts = 0
    while stack and n_parts < _MOST_PARTS:
        reading.check()
        part = stack.pop()
        n_parts += 1
        payload = part.get_payload()
        if part.is_multipart() and isinstance(payload, list):
            inner = [at for at in payload if isinstance(at, Message)]
            if part.get_content_type() == "multipart/alternative":
                inner = _best(inner)
            elif part.get_content_type() == "message/rfc822":
                for forwarded in inner:
                    out.add("\n".join(f"{n}: {v}" for n in _HEADERS if (v := _header(forwarded, n))))
            stack += reversed(inner)
        elif name := _attached(part):
            found.attached.append(name)
        elif part.get_content_maintype() in _TEXTS:
            _write_text(part, out, reading, found)


def _best(versions: list[Message]) -> list[Message]:
    """Of versions of the same text, the plain one, if it says anything; else the last, which the sender prefers."""
    plain = [v for v in versions if v.get_content_type() == "text/plain" and _content(v).strip()]
    pages = [v for v in versions if v.get_content_type() == "text/html"]
    return (plain or pages or versions)[-1:]


def _write_text(part: Message, out: TextSink, reading: Reading, found: _Found) -> None:
    content = _content(part)
    if not content.strip():
        return
    try:
        decoded = decode(content, str(part.get_content_charset() or ""), reading.options.encoding)
        if part.get_content_type() != "text/html":
            found.has_text = out.add(decoded.text) or found.has_text
        elif len(content) <= MOST_PAGE_BYTES:
            before = out.n_chars
            write_page(decoded.text, out)
            found.has_text = out.n_chars > before or found.has_text
        else:
            found.unreadable += 1
            return
    except UnreadableFile:
        found.unreadable += 1
        return
    found.encodings.update(dict.fromkeys(decoded.warnings))


def _content(part: Message) -> bytes:
    try:
        content = part.get_payload(decode=True)
    except Exception:  # broken messages raise whatever their damage leads to
        return b""
    return content if isinstance(content, bytes) else b""


def _attached(part: Message) -> str:
    """The file name of an attachment; empty for a part of the message itself."""
    try:
        name = part.get_filename() or part.get_param("name") or ""
    except Exception:  # broken headers raise whatever their damage leads to
        name = ""
    name = " ".join(_decoded(str(name)).split())[:200]
    is_text = part.get_content_maintype() in _TEXTS
    if part.get_content_disposition() == "attachment" or (name and not is_text):
        return name or f"unnamed ({part.get_content_type()})"
    return "" if is_text else f"unnamed ({part.get_content_type()})"


def _header(message: Message, name: str) -> str:
    raw = next((str(value) for key, value in message.raw_items() if key.lower() == name.lower()), "")
    return " ".join(_decoded(raw[:_MOST_HEADER_CHARS]).split())


def _decoded(value: str) -> str:
    """A header with its encoded words read; those in no known charset as they stand."""
    if not value.isascii():  # bytes that stand bare were kept as lone surrogates
        value = _text_of(value.encode("utf-8", "surrogateescape"), "cp1252")
    try:
        words = decode_header(value)
    except Exception:  # broken headers raise whatever their damage leads to
        return value
    return "".join(word if isinstance(word, str) else _text_of(word, charset or "") for word, charset in words)


def _text_of(data: bytes, charset: str) -> str:
    try:
        return decode(data, charset).text if data else ""
    except UnreadableFile:
        return data.decode("latin-1")
