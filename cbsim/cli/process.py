"""Process of a command, from the first import to the exit code.

Once a planner has run, or while a thread works for a window that was closed, the process ends without waiting for
threads and exit handlers, which could keep it alive or change its exit code.
"""

from __future__ import annotations

import sys

from cbsim.cli import interrupts
from cbsim.cli.interrupts import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["program"]


def program() -> NoReturn:
    """Run the command that the process was started with, and end the process."""
    interrupts.install()
    from cbsim.cli.main import main

    code = 0
    try:
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the result is complete
    except KeyboardInterrupt:
        interrupts.end_at_once()
    if _has_stragglers():
        interrupts.end(code)
    sys.exit(code)


def _has_stragglers() -> bool:
    """Return whether abandoned code may still run: a planner's, or work for a window that was closed."""
    isolation, waiting = (sys.modules.get(name) for name in ("cbsim.planner.isolation", "cbsim.viewer.progress_window"))
    return (isolation is not None and isolation.PlannerIsolation.has_called) or (
        waiting is not None and waiting.has_background_work()
    )
