"""Count of the user's interrupts (SIGINT), which are deferred during writes.

The count distinguishes Ctrl-C from a `KeyboardInterrupt` that a planner raises. The existing handler of SIGINT still
acts; it is called through a handler that counts. On other threads than the main one, and where SIGINT is ignored,
nothing is counted, and a `KeyboardInterrupt` is attributed to the code that raised it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["Interrupts"]


class Interrupts:
    """Counter of interrupts, while entered.

    Attributes
    ----------
    received : int
        Number of SIGINTs since it was entered.
    """

    def __init__(self) -> None:
        self.received = 0
        self._deferrals, self._is_pending = 0, False
        self._previous: Callable[[int, FrameType | None], Any] | None = None

    def __enter__(self) -> Interrupts:
        self.received = 0
        previous = signal.getsignal(signal.SIGINT)
        if callable(previous) and threading.current_thread() is threading.main_thread():
            self._previous = previous
            signal.signal(signal.SIGINT, self._on_interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
            self._previous = None

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Defer interrupts that arrive in this context to its end."""
        self._deferrals += 1
        try:
            yield
        finally:
            self._deferrals -= 1
            if self._is_pending and not self._deferrals:
                self._is_pending = False
                self._forward(None)

    def _on_interrupt(self, _number: int, frame: FrameType | None) -> None:
        self.received += 1
        if self._deferrals:
            self._is_pending = True
        else:
            self._forward(frame)

    def _forward(self, frame: FrameType | None) -> None:
        if self._previous is not None:
            self._previous(signal.SIGINT, frame)
