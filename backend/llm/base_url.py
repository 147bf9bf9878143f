"""The forms in which people paste an endpoint's address, and the one form that is used."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from backend.errors import InputError

_HINT = "Example: http://localhost:11434/v1 or https://api.openai.com/v1."
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_PASTED_ENDS = ("/chat/completions", "/completions", "/embeddings", "/models")


def normalise_base_url(text: str) -> str:
    """Bring a pasted address into the form ``scheme://host[:port]/path``, without a slash at the end.

    A missing scheme becomes http for this machine, addresses in digits and names without a dot, else https. The
    path of a single call (``/chat/completions``, …), the query and the fragment go; no path becomes ``/v1``.

    Raises:
        InputError: The text is no http address, or carries a user and password.
    """
    text = without_invisible(text).strip().strip("\"'<>").strip()
    if not text:
        raise InputError("The address of the endpoint is empty.", hint=_HINT)
    if re.search(r"[\s\\\x00-\x1f\x7f]", text):
        raise InputError("The address of the endpoint holds blanks or characters that no address has.", hint=_HINT)
    has_scheme = "://" in text
    try:
        parts = urlsplit(text if has_scheme else f"//{text}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise InputError("The address of the endpoint is not a web address.", hint=_HINT) from None
    if "@" in parts.netloc:
        # Not quoted: it holds a password, and an address is shown and stored in many places.
        raise InputError(
            "The address of the endpoint carries a user name or password.",
            hint="Leave it out of the address and use the key field.",
        )
    if has_scheme and parts.scheme.lower() not in {"http", "https"}:
        raise InputError(f"The address of the endpoint begins with {parts.scheme}://, not http://.", hint=_HINT)
    _check_host(host, named=has_scheme or port is not None)
    scheme = parts.scheme.lower() if has_scheme else ("http" if _is_near(host) else "https")
    address = f"[{host}]" if ":" in host else host
    return f"{scheme}://{address}{'' if port is None else f':{port}'}{_path(parts)}"


def without_invisible(text: str) -> str:
    """A pasted word without the characters that pages put in for the line to break, or not to break, at."""
    return _INVISIBLE.sub("", text)


def is_loopback(base_url: str) -> bool:
    """Whether an address points at this machine, where no proxy belongs in between."""
    host = urlsplit(base_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_host(host: str, *, named: bool) -> None:
    if _is_ip(host):
        return
    labels = host.removesuffix(".").split(".")
    fits = all(re.fullmatch(r"[^\W_]([\w-]*\w)?", label) and len(label) < 64 for label in labels)
    # One bare word is a host only where a scheme or a port says so: else it is a slip, or a pasted key.
    if not fits or (len(labels) == 1 and host != "localhost" and not named):
        raise InputError("The address of the endpoint names no server.", hint=_HINT)


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_near(host: str) -> bool:
    return _is_ip(host) or "." not in host or host.endswith((".localhost", ".local"))


def _path(parts: SplitResult) -> str:
    path = parts.path.rstrip("/")
    while (end := next((e for e in _PASTED_ENDS if path.lower().endswith(e)), None)) is not None:
        path = path[: -len(end)].rstrip("/")
    return path or "/v1"
