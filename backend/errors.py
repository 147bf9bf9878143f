"""Errors that a person reads: what happened, to which file or query, and what to do about it.

::

    RagduelError
    ├── InputError            the request can't be right as it stands (exit code 2)
    │   └── NotFoundError     nothing goes by that name or id
    ├── UnavailableError      a model, package or server is not here; ``hint`` says how to get it (exit code 2)
    ├── ProviderError         an endpoint failed, refused or did not answer (exit code 3)
    ├── BudgetError           going on would cost more than the budget allows (exit code 3)
    └── CancelledError        somebody stopped the work
"""

from __future__ import annotations

from enum import StrEnum


class RagduelError(Exception):
    """An error whose text is fit for the page.

    Args:
        message: What happened, and to what. Never holds a key.
        hint: What the reader can do about it; may be empty.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InputError(RagduelError):
    """The input can't be used; nothing was changed."""


class NotFoundError(InputError):
    """No corpus, model, duel or verdict has this name or id."""


class UnavailableError(RagduelError):
    """Something that the request needs is not on this machine; ``hint`` says how to get it."""


class ProviderFault(StrEnum):
    """Why a provider call brought nothing usable."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    AUTHENTICATION = "authentication"
    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    CONTENT_FILTER = "content_filter"
    NOT_FOUND = "not_found"
    CONTEXT_LENGTH = "context_length"
    BAD_REQUEST = "bad_request"
    SERVER_ERROR = "server_error"
    BAD_REPLY = "bad_reply"


class ProviderError(RagduelError):
    """A chat or embedding endpoint failed.

    Args:
        message: Says which endpoint and quotes the server's own words.
        fault: The kind of failure.
        status: HTTP status, when there was one.
        hint: What the reader can do.
    """

    def __init__(self, message: str, *, fault: ProviderFault, status: int | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.fault = fault
        self.status = status


class CancelledError(RagduelError):
    """The work was stopped by a person; what was finished is kept."""


class BudgetError(RagduelError):
    """The next request could cost more than is left of the budget; what was paid for is kept."""
