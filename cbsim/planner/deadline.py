"""`Watch`: a wall-clock limit on calls into a planner, which ends endless loops and sleeps where they stand.

On the main thread an interval timer's signal raises `DeadlineError` in the planner's own frame, so that its traceback
says where it hung. The timer repeats, because a planner may swallow what is raised in it; after the third time, every
line that the planner goes on to run raises again, `except` and `finally` clauses too. On other threads, and where
somebody else uses the timer, a watchdog thread raises there instead, which a sleep notices only at its end. Compiled
code that never returns to Python cannot be ended by either. Under a debugger nothing is ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Protocol, TypeVar

__all__ = ["DeadlineError", "Watch"]

Result = TypeVar("Result")

TICK = 0.05  # [s] between two looks at the clock: a timer that is set for each call would cost two system calls
AGAIN = 0.02  # [s] between two attempts to end a call
DEBUGGERS = ("bdb", "pdb", "_pydevd_bundle", "pydevd")
STUBBORN = 3  # attempts after which every line raises


class DeadlineError(BaseException):
    """A call took longer than it may; derived so that ``except Exception`` lets it pass."""


class _Bell(Protocol):
    """What interrupts a call."""

    def open(self) -> None: ...
    def arm(self, limit: float) -> None: ...
    def disarm(self) -> None: ...
    def close(self) -> None: ...


class Watch:
    """Limits calls while it is entered; it may be entered again, and costs a few microseconds a call.

    Examples
    --------
    >>> with Watch() as watch:
    ...     watch.call(1.0, max, 2, 3)
    3
    """

    def __init__(self) -> None:
        self._bell: _Bell = _Thread()
        self._depth = 0

    def __enter__(self) -> Watch:
        if not self._depth:
            self._bell = _Alarm() if _Alarm.is_free() else _Thread()
            self._bell.open()
        self._depth += 1
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._depth -= 1
        if not self._depth:
            self._bell.close()

    def call(self, limit: float, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function.

        Parameters
        ----------
        limit : float
            Longest wall-clock time it may take [s].

        Raises
        ------
        DeadlineError
            If it takes longer, with a traceback that leads to where it was.
        """
        bell = self._bell
        try:
            try:
                bell.arm(limit)
                return function(*arguments)
            finally:
                bell.disarm()
        except DeadlineError:
            while True:  # the bell may ring once more on the way here
                with contextlib.suppress(DeadlineError):
                    bell.disarm()
                    break
            raise


class _Alarm:
    """Rings by the signal of the process's interval timer, on the main thread; it ticks from the first call on."""

    def __init__(self) -> None:
        self._until: float | None = None
        self._ticks = False
        self._rung = 0
        self._handler: Any = None
        self._tracer: Any = None

    @staticmethod
    def is_free() -> bool:
        """Tell whether this is the main thread and nobody else uses the timer."""
        if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
            return False
        return signal.getsignal(signal.SIGALRM) == signal.SIG_DFL and signal.getitimer(signal.ITIMER_REAL)[0] == 0.0

    def open(self) -> None:
        self._handler = signal.signal(signal.SIGALRM, self._ring)

    def arm(self, limit: float) -> None:
        self._until = time.monotonic() + limit
        if not self._ticks:
            self._ticks = True
            signal.setitimer(signal.ITIMER_REAL, TICK, TICK)

    def disarm(self) -> None:
        self._until = None
        if self._rung:
            if self._rung > STUBBORN:
                sys.settrace(self._tracer)
            self._rung, self._ticks = 0, False
            signal.setitimer(signal.ITIMER_REAL, 0.0)

    def close(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, self._handler)

    def _ring(self, _number: int, frame: FrameType | None) -> None:
        if self._until is None or time.monotonic() < self._until or (not self._rung and _is_debugged()):
            return
        self._rung += 1
        if self._rung == 1:
            signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
        if self._rung == STUBBORN + 1:
            self._tracer = sys.gettrace()
        if self._rung > STUBBORN:
            sys.settrace(_raise)  # a trace function that raises is forgotten, so set it again each time
            while frame is not None and frame.f_code is not Watch.call.__code__:
                frame.f_trace = _raise
                frame = frame.f_back
        raise DeadlineError


def _is_debugged() -> bool:
    """Tell whether a debugger traces this thread: somebody is looking at the planner, and takes their time."""
    tracer = sys.gettrace()
    return getattr(tracer, "__module__", "").partition(".")[0] in DEBUGGERS


def _raise(_frame: FrameType, event: str, _: Any) -> Any:
    if event == "line":
        raise DeadlineError
    return _raise


class _Thread:
    """Rings by an exception that another thread sets in this one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until: float | None = None
        self._rung = False
        self._closed = threading.Event()

    def open(self) -> None:
        self._target = ctypes.c_ulong(threading.get_ident())
        threading.Thread(target=self._watch, name="cbsim deadline", daemon=True).start()

    def arm(self, limit: float) -> None:
        self._until = time.monotonic() + limit

    def disarm(self) -> None:
        with self._lock:
            self._until = None
            rung, self._rung = self._rung, False
        if rung:
            # One may be on its way still. Taking it back, with a null pointer, would leave the interpreter looking for
            # it for ever, so let it come: it does at a backward jump.
            with contextlib.suppress(DeadlineError):
                for _ in range(100):
                    pass

    def close(self) -> None:
        self._closed.set()

    def _watch(self) -> None:
        while not self._closed.wait(AGAIN):
            with self._lock:
                if self._until is not None and time.monotonic() > self._until:
                    self._rung = True
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(self._target, ctypes.py_object(DeadlineError))
