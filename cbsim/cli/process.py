"""`program`: the process of a command, from its first import to its exit code.

Ctrl-C ends it with one line and code 130 at any moment. Inside an import or a callback of a library a
`KeyboardInterrupt` would be printed, swallowed or turned into something else, so the process ends on the spot there;
elsewhere it is raised, and files are closed on the way out. Once a planner has run, or while a thread is at work for
a window that was closed, the process ends without threads and exit handlers: they could keep it alive, or change its
exit code. This module imports next to nothing, not
even `signal`, because an interrupt that comes before it is in charge gives a traceback.
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

__all__ = ["INTERRUPTED", "last_words", "program", "was_interrupted"]

INTERRUPTED = 130  # exit code: 128 + SIGINT
last_words: list[Callable[[], object]] = []
"""What is still to be said or written where an interrupt ends the process on the spot."""

_leave = os._exit  # a planner may put another one in its place
_heard: list[int] = []


def program() -> NoReturn:
    """Run the command that the process was started with, and end the process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else somebody ignores it for us, as nohup does
        signal.signal(signal.SIGINT, _hear)
        sys.unraisablehook = _unraisable
    from cbsim.cli.main import main

    code = 0
    try:
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the result is out
    except KeyboardInterrupt:
        _end_at_once()
    if _has_stragglers():
        _end(code)
    sys.exit(code)


def _has_stragglers() -> bool:
    """Tell whether code may still run that nobody waits for: a planner's, or work whose window was closed."""
    guard, waiting = (sys.modules.get(name) for name in ("cbsim.planner.guard", "cbsim.viewer.progress_window"))
    return (guard is not None and guard.Guard.has_called) or (waiting is not None and waiting.has_background_work())


def was_interrupted() -> bool:
    """Tell whether an interrupt has come: an error that follows is its doing."""
    return bool(_heard)


def _hear(number: int, frame: FrameType | None) -> None:
    if _heard or _is_importing(frame):
        _end_at_once()
    _heard.append(number)
    raise KeyboardInterrupt


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _unraisable(told: Any) -> None:
    """End where a `KeyboardInterrupt` got lost in a callback or a destructor; tell of anything else as usual."""
    if _heard and isinstance(told.exc_value, KeyboardInterrupt):
        _end_at_once()
    sys.__unraisablehook__(told)


def _end_at_once() -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for say in last_words:
        try:  # noqa: SIM105
            say()
        except Exception:  # what is half imported cannot be relied on
            pass
    show_cursor = b"\x1b[?25h" if os.isatty(2) else b""  # which a progress bar hides
    try:  # noqa: SIM105
        os.write(2, show_cursor + b"interrupted\n")
    except OSError:
        pass
    _end(INTERRUPTED)


def _end(code: int) -> NoReturn:
    """End the process here and now, with children that a normal exit would end too."""
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105
            stream.flush()
        except (AttributeError, OSError, RuntimeError, ValueError):  # absent, full, being written to, or closed
            pass
    if "multiprocessing.process" in sys.modules:
        for child in sys.modules["multiprocessing.process"].active_children():
            child.terminate()
    _leave(code)
