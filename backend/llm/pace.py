"""The pace of a run: how many calls at once, how many a minute, at what cost, and when to stop asking.

One object is shared by all chat models of a run. Only calls that reach the endpoint pass it; stored answers are free.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from backend.errors import BudgetError, CancelledError, InputError, ProviderError, ProviderFault
from backend.llm.types import ChatEndpoint, ChatReply, ChatRequest

_WINDOW_S = 60.0
_HEARD_WITHIN_S = 0.2
_AT_FIRST = 2  # calls under way until one has succeeded: a wrong key is found out by as many
_MOST_FAILURES = 5  # in a row
_FATAL = {ProviderFault.AUTHENTICATION, ProviderFault.QUOTA, ProviderFault.NOT_FOUND}
_TROUBLE = {
    ProviderFault.UNREACHABLE, ProviderFault.TIMEOUT, ProviderFault.SERVER_ERROR, ProviderFault.RATE_LIMIT,
}  # fmt: skip


@dataclass
class Pace:
    """Holds callers back. Safe to share between threads.

    Args:
        concurrency: Calls under way at the same time.
        requests_per_minute: Calls started in any 60 seconds; 0: no limit.
        budget_usd: Most that may be spent; 0: no limit.
        spent_usd: Spent before.
        cancelled: Asked while waiting; True raises a CancelledError.
        clock: Seconds, for tests.
    """

    concurrency: int = 8
    requests_per_minute: int = 0
    budget_usd: float = 0.0
    spent_usd: float = 0.0
    cancelled: Callable[[], bool] | None = None
    clock: Callable[[], float] = time.monotonic
    n_calls: int = 0
    fatal: ProviderError | None = None
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)
    _started: deque[float] = field(default_factory=deque, repr=False)
    _reserved_usd: float = 0.0
    _n_under_way: int = 0
    _n_failed_in_a_row: int = 0
    _held_until: float = 0.0
    _has_succeeded: bool = False

    @contextmanager
    def turn(self, endpoint: ChatEndpoint, request: ChatRequest) -> Iterator[Callable[[ChatReply], None]]:
        """Wait for a turn; the block then makes its call and hands the reply to what it got.

        Raises:
            ProviderError: An earlier failure means that every further call would fail too.
            BudgetError: The call could cost more than is left.
            CancelledError: Stopped while waiting.
            InputError: There is a budget, and the endpoint has no prices.
        """
        reserved = self._worst_usd(endpoint, request)
        self._enter(reserved)
        told: list[ChatReply] = []
        spent = 0.0
        try:
            yield told.append
        except ProviderError as error:
            self._failed(error)
            raise
        finally:
            if told:
                cost = told[0].cost_usd
                spent = reserved if cost is None else cost
            self._leave(reserved, spent, succeeded=bool(told))

    def hold(self, seconds: float) -> None:
        """Nobody starts before so many seconds are over: the endpoint asked for it (``Retry-After``)."""
        with self._changed:
            self._held_until = max(self._held_until, self.clock() + seconds)

    def _worst_usd(self, endpoint: ChatEndpoint, request: ChatRequest) -> float:
        """No request costs more: a token is a byte at least, and a reply ends at its limit."""
        if not self.budget_usd:
            return 0.0
        if not (endpoint.price_input_usd or endpoint.price_output_usd):
            raise InputError(
                f"A budget is set, but no price is known for {endpoint.model}.",
                hint="Enter the endpoint's prices on the settings page, or run without a budget.",
            )
        n_bytes = sum(len(message.content.encode("utf-8", "replace")) + 16 for message in request.messages)
        n_bytes += len(str(request.json_schema)) if request.json_schema else 0
        return (n_bytes * endpoint.price_input_usd + request.max_tokens * endpoint.price_output_usd) / 1e6

    def _enter(self, reserved: float) -> None:
        with self._changed:
            while (wait_s := self._wait_s(reserved)) > 0:
                if self.cancelled is not None and self.cancelled():
                    raise CancelledError("Stopped while waiting for a turn.")
                self._changed.wait(min(wait_s, _HEARD_WITHIN_S))
            self._n_under_way += 1
            self._reserved_usd += reserved
            self.n_calls += 1
            self._started.append(self.clock())

    def _wait_s(self, reserved: float) -> float:
        """Seconds until there may be a turn; 0: now."""
        if self.fatal is not None:
            e = self.fatal
            raise ProviderError(e.message, fault=e.fault, status=e.status, hint=e.hint)
        if self.budget_usd and self.spent_usd + self._reserved_usd + reserved > self.budget_usd:
            if not self._n_under_way:
                raise BudgetError(
                    f"The budget of {self.budget_usd:g} USD would be exceeded: {self.spent_usd:.6g} USD are spent, and "
                    f"the next call may cost up to {reserved:.6g} USD.",
                    hint="Raise the budget and resume; what was judged is kept.",
                )
            return _HEARD_WITHIN_S
        most = self.concurrency if self._has_succeeded else min(self.concurrency, _AT_FIRST)
        if self._n_under_way >= most:
            return _HEARD_WITHIN_S
        now = self.clock()
        while self._started and now - self._started[0] >= _WINDOW_S:
            self._started.popleft()
        by_limit = 0.0
        if self.requests_per_minute and len(self._started) >= self.requests_per_minute:
            by_limit = self._started[-self.requests_per_minute] + _WINDOW_S - now
        return max(self._held_until - now, by_limit, 0.0)

    def _failed(self, error: ProviderError) -> None:
        with self._changed:
            self._n_failed_in_a_row += error.fault in _TROUBLE
            if error.fault in _FATAL or self._n_failed_in_a_row >= _MOST_FAILURES:
                self.fatal = self.fatal or error

    def _leave(self, reserved: float, spent: float, *, succeeded: bool) -> None:
        with self._changed:
            self._n_under_way -= 1
            self._reserved_usd -= reserved
            self.spent_usd += spent
            if succeeded:
                self._has_succeeded = True
                self._n_failed_in_a_row = 0
            self._changed.notify_all()
