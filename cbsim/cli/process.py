"""Process of a command, from the first import to the exit code.

Ctrl-C ends it with one line and code 130 at any moment. Inside an import or a callback of a library, a
`KeyboardInterrupt` would be printed, swallowed or converted, so there the process ends immediately; elsewhere it is
raised, and files are closed. Once a planner has run, or while a thread works for a window that was closed, the process
ends without waiting for threads and exit handlers, which could keep it alive or change its exit code. This module
imports almost nothing, not even `signal`, because an interrupt before its handler is installed gives a traceback.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, NoReturn
else:
    import _signal as signal  # which `signal` makes enumerations of, for 3 ms

__all__ = ["INTERRUPTED", "exit_callbacks", "program", "was_interrupted"]

INTERRUPTED = 130  # exit code: 128 + SIGINT
exit_callbacks: list[Callable[[], object]] = []
"""Functions that are called before an interrupt ends the process immediately."""

_leave = os._exit  # the original one, in case a planner replaces it
_interrupts: list[int] = []


def program() -> NoReturn:
    """Run the command that the process was started with, and end the process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # otherwise it is ignored, as by nohup
        signal.signal(signal.SIGINT, _on_interrupt)
        sys.unraisablehook = _on_unraisable
    from cbsim.cli.main import main

    code = 0
    try:
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the result is complete
    except KeyboardInterrupt:
        _end_at_once()
    if _has_stragglers():
        _end(code)
    sys.exit(code)


def _has_stragglers() -> bool:
    """Tell whether abandoned code may still run: a planner's, or work for a window that was closed."""
    isolation, waiting = (sys.modules.get(name) for name in ("cbsim.planner.isolation", "cbsim.viewer.progress_window"))
    return (isolation is not None and isolation.PlannerIsolation.has_called) or (
        waiting is not None and waiting.has_background_work()
    )


def was_interrupted() -> bool:
    """Tell whether an interrupt was received, which explains errors that follow."""
    return bool(_interrupts)


def _on_interrupt(number: int, frame: FrameType | None) -> None:
    if _interrupts or _is_importing(frame):
        _end_at_once()
    _interrupts.append(number)
    raise KeyboardInterrupt


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _on_unraisable(told: Any) -> None:
    """End the process if a `KeyboardInterrupt` was lost in a callback or a destructor; report others as usual."""
    if _interrupts and isinstance(told.exc_value, KeyboardInterrupt):
        _end_at_once()
    sys.__unraisablehook__(told)


def _end_at_once() -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for callback in exit_callbacks:
        try:  # noqa: SIM105
            callback()
        except Exception:  # partially imported modules may fail in any way
            pass
    show_cursor = b"\x1b[?25h" if os.isatty(2) else b""  # which a progress bar hides
    try:  # noqa: SIM105
        os.write(2, show_cursor + b"interrupted\n")
    except OSError:
        pass
    _end(INTERRUPTED)


def _end(code: int) -> NoReturn:
    """End the process immediately, together with its daemonic children."""
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105
            stream.flush()
        except (AttributeError, OSError, RuntimeError, ValueError):  # missing, full, locked or closed
            pass
    if "multiprocessing.process" in sys.modules:
        for child in sys.modules["multiprocessing.process"].active_children():
            child.terminate()
    _leave(code)
