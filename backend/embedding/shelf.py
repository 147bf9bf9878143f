"""A shelf of things that are dear to make and dear to keep: made once, lent out, given up when long unused."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar


class _Closable(Protocol):
    def close(self) -> None: ...


T = TypeVar("T", bound=_Closable)


class _Slot(Generic[T]):
    def __init__(self, label: str) -> None:
        self.label = label
        self.making = threading.Lock()
        self.thing: T | None = None
        self.n_users = 0


class Shelf(Generic[T]):
    """Lends things by name. At most ``limit`` are kept; one in use is never closed, even over the limit.

    Args:
        limit: How many things are kept at most while nobody needs more at once.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._state = threading.Lock()
        self._slots: OrderedDict[Hashable, _Slot[T]] = OrderedDict()  # least recently used first
        self._given_up: list[_Slot[T]] = []  # cleared while in use

    @contextmanager
    def borrow(self, name: Hashable, label: str, make: Callable[[], T]) -> Iterator[T]:
        """The thing of this name, made at the first call; a second borrower waits for it to be made.

        Args:
            name: Identifies the thing.
            label: What ``labels`` calls it.
            make: Makes it; its error goes to the borrower, and the next borrower tries again.
        """
        with self._state:
            slot = self._slots.setdefault(name, _Slot(label))
            slot.n_users += 1
            self._slots.move_to_end(name)
        try:
            with slot.making:
                if slot.thing is None:
                    _close(self._take_idle(self._limit - 1))  # room first, so that memory never holds one more
                    slot.thing = make()
            yield slot.thing
        finally:
            _close(self._give_back(name, slot))
            _close(self._take_idle(self._limit))

    def labels(self) -> tuple[str, ...]:
        """What is kept now, least recently used first."""
        with self._state:
            return tuple(slot.label for slot in self._slots.values() if slot.thing is not None)

    def give_up(self, name: Hashable) -> None:
        """Give up the thing of this name, if there is one; in use, it is closed when its last user is done."""
        with self._state:
            idle = self._remove([name])
        _close(idle)

    def clear(self) -> None:
        """Give up everything, as ``give_up`` does."""
        with self._state:
            idle = self._remove(list(self._slots))
        _close(idle)

    def _remove(self, names: Sequence[Hashable]) -> list[T]:
        """Called with the lock held; gives what can be closed at once."""
        slots = [self._slots.pop(name) for name in names if name in self._slots]
        self._given_up.extend(slot for slot in slots if slot.n_users)
        return [slot.thing for slot in slots if not slot.n_users and slot.thing is not None]

    def _give_back(self, name: Hashable, slot: _Slot[T]) -> list[T]:
        with self._state:
            slot.n_users -= 1
            if slot.n_users:
                return []
            if slot in self._given_up:
                self._given_up.remove(slot)
                return [] if slot.thing is None else [slot.thing]
            if slot.thing is None and self._slots.get(name) is slot:
                del self._slots[name]
            return []

    def _take_idle(self, keep: int) -> list[T]:
        """Remove the least recently used idle things until at most ``keep`` are left."""
        taken: list[T] = []
        with self._state:
            made = [(name, slot) for name, slot in self._slots.items() if slot.thing is not None]
            surplus = len(made) - keep
            for name, slot in made:
                if surplus > 0 and slot.n_users == 0 and slot.thing is not None:
                    taken.append(slot.thing)
                    del self._slots[name]
                    surplus -= 1
        return taken


def _close(things: Sequence[_Closable]) -> None:
    for thing in things:
        thing.close()
