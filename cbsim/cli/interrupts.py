"""Interrupts of a command: Ctrl-C ends the process with one line and code 130 at any moment.

Inside an import or a callback of a library, a `KeyboardInterrupt` would be printed, swallowed or converted, so there
the process ends immediately; elsewhere it is raised, and files are closed. This module imports almost nothing, not even
`signal`, because an interrupt before its handler is installed gives a traceback.
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

__all__ = ["INTERRUPTED", "end", "end_at_once", "exit_callbacks", "install", "signal", "was_interrupted"]

INTERRUPTED = 130  # exit code: 128 + SIGINT
exit_callbacks: list[Callable[[], object]] = []
"""Functions that are called before an interrupt ends the process immediately."""

_leave = os._exit  # the original one, in case a planner replaces it
_interrupts: list[int] = []


def install() -> None:
    """Install the handler of interrupts, unless they are ignored, as by nohup."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _on_interrupt)
        sys.unraisablehook = _on_unraisable


def was_interrupted() -> bool:
    """Return whether an interrupt was received, which explains errors that follow."""
    return bool(_interrupts)


def _on_interrupt(number: int, frame: FrameType | None) -> None:
    if _interrupts or _is_importing(frame):
        end_at_once()
    _interrupts.append(number)
    raise KeyboardInterrupt


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _on_unraisable(lost: Any) -> None:
    """End the process if a `KeyboardInterrupt` was lost in a callback or a destructor; report others as usual."""
    if _interrupts and isinstance(lost.exc_value, KeyboardInterrupt):
        end_at_once()
    sys.__unraisablehook__(lost)


def end_at_once() -> NoReturn:
    """Call `exit_callbacks`, and end the process with code 130."""
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
    end(INTERRUPTED)


def end(code: int) -> NoReturn:
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
