"""Wall-clock limit on calls into a planner, which interrupts endless loops and sleeps.

On the main thread, the signal of an interval timer raises `DeadlineError` in the planner's own frame, so that the
traceback shows where it hung. The timer repeats, because a planner may catch the exception; after the third attempt,
every further line of the planner raises again, including those of `except` and `finally` clauses. If the planner, or a
library that it uses, replaces the timer or its handler, a watchdog thread notices the delay and sends the signal, or a
spare one, itself. On other threads, and where the timer is already in use, a watchdog thread sets the exception
asynchronously; a blocking sleep sees it only when it returns. Compiled code that never returns to Python cannot be
interrupted. Under a debugger, no limit applies. Kernels of this package that a call has to compile first do not count:
a slow machine must not turn a planner's first call into a failure.
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

from cbsim.kernel_compiler.times import compile_seconds

__all__ = ["CallTimeout", "DeadlineError"]

Result = TypeVar("Result")

TICK = 0.05  # [s] period of the timer; setting a timer for each call would cost two system calls
RETRY_PERIOD = 0.02  # [s] between two attempts to interrupt a call
DEBUGGERS = ("bdb", "pdb", "_pydevd_bundle", "pydevd")
TRACE_AFTER = 3  # attempts after which a trace function raises on every line
TIMER_GRACE = 0.2  # [s] of delay after which the timer counts as lost
SETTLE = 0.01  # [s] for pending signals to arrive: without their handlers they would end the process
SIGNAL_ATTEMPTS = 5  # signals without effect after which an exception is set in the thread


class DeadlineError(BaseException):
    """A call exceeded its time limit; a `BaseException`, so that ``except Exception`` does not catch it."""


def _end_of(limit: float, thread: int) -> float:
    """End of a call that begins now in wall-clock time [s], less the time that its thread has spent compiling."""
    return time.monotonic() + limit - compile_seconds(thread)


def _delay_since(end: float, thread: int) -> float:
    """Time since the end of a call [s], negative before it; time that its thread spends compiling does not count."""
    return time.monotonic() - end - compile_seconds(thread)


class _Interrupter(Protocol):
    """Mechanism that interrupts a call."""

    def open(self) -> None: ...
    def arm(self, limit: float) -> None: ...
    def disarm(self) -> None: ...
    def close(self) -> None: ...


class CallTimeout:
    """Time limit on calls, while entered; reentrant, at a cost of a few microseconds a call.

    Examples
    --------
    >>> with CallTimeout() as timeout:
    ...     timeout.call(1.0, max, 2, 3)
    3
    """

    def __init__(self) -> None:
        self._interrupter: _Interrupter = _ThreadInterrupter()
        self._depth = 0
        self._hook = sys.unraisablehook

    def __enter__(self) -> CallTimeout:
        if not self._depth:
            self._hook, sys.unraisablehook = sys.unraisablehook, self._on_unraisable
            self._interrupter = _TimerInterrupter() if _TimerInterrupter.is_free() else _ThreadInterrupter()
            self._interrupter.open()
        self._depth += 1
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._depth -= 1
        if not self._depth:
            self._interrupter.close()
            if sys.unraisablehook == self._on_unraisable:
                sys.unraisablehook = self._hook

    def _on_unraisable(self, told: sys.UnraisableHookArgs) -> None:
        """Say nothing of an interruption that a destructor swallows: the next attempt follows."""
        if not issubclass(told.exc_type, DeadlineError):
            self._hook(told)

    def call(self, limit: float, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function.

        Parameters
        ----------
        limit : float
            Longest wall-clock time it may take [s].

        Raises
        ------
        DeadlineError
            If it takes longer; the traceback shows where it was interrupted.
        """
        interrupter = self._interrupter
        try:
            try:
                interrupter.arm(limit)
                return function(*arguments)
            finally:
                interrupter.disarm()
        except DeadlineError as error:
            while True:  # the interrupter may raise once more on the way here
                with contextlib.suppress(DeadlineError):
                    interrupter.disarm()
                    break
            raise _in_function(error) from None


def _in_function(error: DeadlineError) -> DeadlineError:
    """Error that was raised in the function: the one that came once more hides it if it was raised in this module."""
    while isinstance(error.__context__, DeadlineError):
        frame = error.__traceback__
        while frame is not None and frame.tb_frame.f_code.co_filename == __file__:
            frame = frame.tb_next
        if frame is not None:
            break
        error = error.__context__
    return error


class _TimerInterrupter:
    """Interruption by the signal of the process's interval timer, on the main thread; it ticks from the first call."""

    def __init__(self) -> None:
        self._end: float | None = None
        self._thread = threading.get_ident()
        self._ticks = False
        self._raised, self._sent = 0, 0
        self._is_debugged = False
        self._handlers: dict[int, Any] = {}
        self._tracer: Any = None
        self._exception = _AsyncException()
        self._lock = threading.Lock()
        self._has_sent = False
        self._closed = threading.Event()

    @staticmethod
    def is_free() -> bool:
        """Return whether this is the main thread and the timer is unused."""
        if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
            return False
        if signal.SIGALRM in signal.pthread_sigmask(signal.SIG_BLOCK, ()):
            return False
        return signal.getsignal(signal.SIGALRM) == signal.SIG_DFL and signal.getitimer(signal.ITIMER_REAL)[0] == 0.0

    def open(self) -> None:
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        is_free = signal.getsignal(signal.SIGVTALRM) == signal.SIG_DFL and signal.SIGVTALRM not in blocked
        spare = [signal.SIGVTALRM] if is_free else []
        self._handlers = {number: signal.signal(number, self._on_signal) for number in (signal.SIGALRM, *spare)}

    def arm(self, limit: float) -> None:
        self._sent, self._is_debugged = 0, False
        self._end = _end_of(limit, self._thread)
        if not self._ticks:
            self._ticks = True
            signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
            threading.Thread(target=self._monitor, name="cbsim watchdog", daemon=True).start()

    def disarm(self) -> None:
        self._end = None
        if self._raised:
            if self._raised > TRACE_AFTER:
                sys.settrace(self._tracer)
            self._raised = 0
            signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
        if self._sent:  # else no exception can have been set: the watchdog counts before it sets one
            self._exception.settle()

    def close(self) -> None:
        with self._lock:  # no signal is sent from here on
            self._closed.set()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self._handlers)  # a pending one would end the process later
        if self._has_sent:
            time.sleep(SETTLE)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _on_signal(self, _number: int, frame: FrameType | None) -> None:
        if self._end is None or _delay_since(self._end, self._thread) < 0.0:
            return
        if not self._raised and _is_debugged():
            self._is_debugged = True
            return
        self._raised += 1
        if self._raised == 1:
            signal.setitimer(signal.ITIMER_REAL, RETRY_PERIOD, RETRY_PERIOD)
        if self._raised == TRACE_AFTER + 1:
            self._tracer = sys.gettrace()
        if self._raised > TRACE_AFTER:
            sys.settrace(_raise)  # the interpreter drops a trace function that raises, so set it again each time
            while frame is not None and frame.f_code is not CallTimeout.call.__code__:
                frame.f_trace = _raise
                frame = frame.f_back
        raise DeadlineError

    def _monitor(self) -> None:
        """Monitor the timer from another thread."""
        while not self._closed.wait(TICK):
            end = self._end
            if end is not None and _delay_since(end, self._thread) > TIMER_GRACE and not self._is_debugged:
                with self._lock:
                    if not self._closed.is_set():
                        self._send()

    def _send(self) -> None:
        """Send the timer's signal if its handler is still in place; otherwise set the exception."""
        self._sent, self._has_sent = self._sent + 1, True
        main = threading.main_thread().ident
        for number in self._handlers:
            if main is not None and signal.getsignal(number) == self._on_signal:
                signal.pthread_kill(main, number)
        if self._sent > SIGNAL_ATTEMPTS and not self._raised:
            self._exception.set_if(lambda: self._end is not None)


class _AsyncException:
    """An exception that another thread sets asynchronously in the thread that creates this object."""

    def __init__(self) -> None:
        self._target = ctypes.c_ulong(threading.get_ident())
        self._lock = threading.Lock()
        self._is_set = False

    def set_if(self, wanted: Callable[[], bool]) -> None:
        """Set the exception if `wanted` still returns true."""
        with self._lock:
            if wanted():
                self._is_set = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(self._target, ctypes.py_object(DeadlineError))

    def settle(self) -> None:
        """Wait for a pending exception and discard it."""
        with self._lock:
            was_set, self._is_set = self._is_set, False
        if was_set:
            # Cancelling it with a null pointer would leave the interpreter polling for it for ever, so let it arrive,
            # which it does at a backward jump.
            with contextlib.suppress(DeadlineError):
                for _ in range(100):
                    pass


def _is_debugged() -> bool:
    """Return whether a debugger traces this thread: a user who steps through a planner must not run into a limit."""
    tracer = sys.gettrace()
    return getattr(tracer, "__module__", "").partition(".")[0] in DEBUGGERS


def _raise(frame: FrameType, event: str, _: Any) -> Any:
    if frame.f_code.co_filename == __file__:
        return None
    if event == "line":
        raise DeadlineError
    return _raise


class _ThreadInterrupter:
    """Interruption by an exception that another thread sets in this one."""

    def __init__(self) -> None:
        self._end: float | None = None
        self._thread = threading.get_ident()
        self._exception = _AsyncException()
        self._closed = threading.Event()

    def open(self) -> None:
        self._exception, self._thread = _AsyncException(), threading.get_ident()
        threading.Thread(target=self._monitor, name="cbsim deadline", daemon=True).start()

    def arm(self, limit: float) -> None:
        self._end = _end_of(limit, self._thread)

    def disarm(self) -> None:
        self._end = None
        self._exception.settle()

    def close(self) -> None:
        self._closed.set()

    def _monitor(self) -> None:
        while not self._closed.wait(RETRY_PERIOD):
            self._exception.set_if(self._is_overdue)

    def _is_overdue(self) -> bool:
        end = self._end
        return end is not None and _delay_since(end, self._thread) > 0.0
