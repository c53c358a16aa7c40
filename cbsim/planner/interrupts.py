"""`Interrupts`: tells Ctrl-C from a `KeyboardInterrupt` that a planner raises, and holds it back during writes.

The handler of SIGINT that is in place stays the one that acts; it is only called through this one, which counts. Where
signals do not arrive (another thread, an ignored SIGINT), nothing is counted: a `KeyboardInterrupt` is somebody's own.
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
    """Counts interrupts while it is entered.

    Attributes
    ----------
    received : int
        SIGINTs since it was entered.
    """

    def __init__(self) -> None:
        self.received = 0
        self._holds, self._waiting = 0, False
        self._before: Callable[[int, FrameType | None], Any] | None = None

    def __enter__(self) -> Interrupts:
        self.received = 0
        before = signal.getsignal(signal.SIGINT)
        if callable(before) and threading.current_thread() is threading.main_thread():
            self._before = before
            signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let what is done inside finish; an interrupt that arrives meanwhile acts at its end."""
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            if self._waiting and not self._holds:
                self._waiting = False
                self._act(None)

    def _hear(self, _number: int, frame: FrameType | None) -> None:
        self.received += 1
        if self._holds:
            self._waiting = True
        else:
            self._act(frame)

    def _act(self, frame: FrameType | None) -> None:
        if self._before is not None:
            self._before(signal.SIGINT, frame)
