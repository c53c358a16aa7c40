"""`Watch`: a wall-clock limit on calls into a planner, which ends endless loops and sleeps where they stand.

On the main thread an interval timer's signal raises `DeadlineError` in the planner's own frame, so that its traceback
says where it hung. The timer repeats, because a planner may swallow what is raised in it; after the third time, every
line that the planner goes on to run raises again, `except` and `finally` clauses too. A planner may take the timer or
its signal away, knowingly or in a library: a watchdog thread notices that it is late, and sends that signal or a spare
one itself. On other threads, and where somebody else uses the timer, a watchdog thread raises there instead, which a
sleep notices only at its end. Compiled code that never returns to Python cannot be ended by any of them. Under a
debugger nothing is ended.
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
LATE = 0.2  # [s] after its time the timer is taken for lost
SETTLE = 0.01  # [s] for signals on their way to arrive: without their handlers they would end the process
DEAF = 5  # signals sent in vain after which an exception is set in the thread


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
        self._rung, self._sent = 0, 0
        self._is_debugged = False
        self._handlers: dict[int, Any] = {}
        self._tracer: Any = None
        self._exception = _Exception()
        self._lock = threading.Lock()
        self._has_sent = False
        self._closed = threading.Event()

    @staticmethod
    def is_free() -> bool:
        """Tell whether this is the main thread and nobody else uses the timer."""
        if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
            return False
        if signal.SIGALRM in signal.pthread_sigmask(signal.SIG_BLOCK, ()):
            return False
        return signal.getsignal(signal.SIGALRM) == signal.SIG_DFL and signal.getitimer(signal.ITIMER_REAL)[0] == 0.0

    def open(self) -> None:
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        is_free = signal.getsignal(signal.SIGVTALRM) == signal.SIG_DFL and signal.SIGVTALRM not in blocked
        spare = [signal.SIGVTALRM] if is_free else []
        self._handlers = {number: signal.signal(number, self._ring) for number in (signal.SIGALRM, *spare)}

    def arm(self, limit: float) -> None:
        self._sent, self._is_debugged = 0, False
        self._until = time.monotonic() + limit
        if not self._ticks:
            self._ticks = True
            signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
            threading.Thread(target=self._look, name="cbsim watchdog", daemon=True).start()

    def disarm(self) -> None:
        self._until = None
        if self._rung:
            if self._rung > STUBBORN:
                sys.settrace(self._tracer)
            self._rung = 0
            signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
        self._exception.settle()

    def close(self) -> None:
        with self._lock:  # nothing is sent from here on
            self._closed.set()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self._handlers)  # one that waits would end the process later
        if self._has_sent:
            time.sleep(SETTLE)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _ring(self, _number: int, frame: FrameType | None) -> None:
        if self._until is None or time.monotonic() < self._until:
            return
        if not self._rung and _is_debugged():
            self._is_debugged = True
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

    def _look(self) -> None:
        """Watch the timer from another thread."""
        while not self._closed.wait(TICK):
            until = self._until
            if until is not None and time.monotonic() > until + LATE and not self._is_debugged:
                with self._lock:
                    if not self._closed.is_set():
                        self._send()

    def _send(self) -> None:
        """Send what the timer should have sent, where the handler is still this one's; else set the exception."""
        self._sent, self._has_sent = self._sent + 1, True
        main = threading.main_thread().ident
        for number in self._handlers:
            if main is not None and signal.getsignal(number) == self._ring:
                signal.pthread_kill(main, number)
        if self._sent > DEAF and not self._rung:
            self._exception.set_if(lambda: self._until is not None)


class _Exception:
    """An exception that another thread sets in the one that makes this."""

    def __init__(self) -> None:
        self._target = ctypes.c_ulong(threading.get_ident())
        self._lock = threading.Lock()
        self._is_set = False

    def set_if(self, wanted: Callable[[], bool]) -> None:
        """Set it, if that is still wanted."""
        with self._lock:
            if wanted():
                self._is_set = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(self._target, ctypes.py_object(DeadlineError))

    def settle(self) -> None:
        """Wait for one that is on its way, and drop it; nobody may want one any more."""
        with self._lock:
            was_set, self._is_set = self._is_set, False
        if was_set:
            # Taking it back, with a null pointer, would leave the interpreter looking for it for ever, so let it come:
            # it does at a backward jump.
            with contextlib.suppress(DeadlineError):
                for _ in range(100):
                    pass


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
        self._until: float | None = None
        self._exception = _Exception()
        self._closed = threading.Event()

    def open(self) -> None:
        self._exception = _Exception()
        threading.Thread(target=self._look, name="cbsim deadline", daemon=True).start()

    def arm(self, limit: float) -> None:
        self._until = time.monotonic() + limit

    def disarm(self) -> None:
        self._until = None
        self._exception.settle()

    def close(self) -> None:
        self._closed.set()

    def _look(self) -> None:
        while not self._closed.wait(AGAIN):
            self._exception.set_if(self._is_over)

    def _is_over(self) -> bool:
        return self._until is not None and time.monotonic() > self._until
