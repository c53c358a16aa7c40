"""Isolation of the process from errors and side effects of planners.

Every call into a planner goes through a `PlannerIsolation`. It interrupts calls that take too long, converts any
exception into a `PlannerError` with the planner's own traceback, and restores process-wide state that a planner may
change: removed modules, working directory, floating-point error handling, standard streams. A planner cannot end the
process: `os._exit` raises, and a `KeyboardInterrupt` counts as the planner's own unless SIGINT was received. It is no
security boundary.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

import numpy as np

import cbsim
from cbsim.errors import CbsimError
from cbsim.planner.deadline import CallTimeout, DeadlineError
from cbsim.planner.interrupts import Interrupts

__all__ = ["PlannerError", "PlannerIsolation"]

PACKAGE_FOLDER = str(Path(cbsim.__file__).parent)
INTERNAL_FILES = tuple(str(Path(__file__).parent / f"{name}.py") for name in ("isolation", "deadline", "driver"))
CALL_DESCRIPTIONS = {
    "load": "importing it",
    "make": "making it",
}  # functions of this package, for messages
MAX_TRACEBACK = 20_000  # characters of a traceback


class PlannerError(CbsimError):
    """A planner raised, or returned something other than a valid command.

    Parameters
    ----------
    planner : str
        Name of its class.
    time : float
        Simulated time [s].
    reason : str
        What went wrong, with the planner's own traceback if it raised.
    """

    def __init__(self, planner: str, time: float, reason: str) -> None:
        self.planner, self.time, self.reason = planner, time, reason
        super().__init__(f"planner '{planner}' failed at t={time:.3f} s: {reason}")


class ExitError(BaseException):
    """A planner tried to end the process; a `BaseException`, so that ``except Exception`` does not catch it."""


class PlannerIsolation:
    """Isolated calls into planners; entered for the duration of a run.

    Attributes
    ----------
    timeout : CallTimeout
        Interrupts calls that take too long.
    interrupts : Interrupts
        Counts the user's interrupts, while entered.
    has_called : bool
        Whether any instance in this process has called a planner yet.
    """

    has_called = False

    def __init__(self) -> None:
        self.timeout, self.interrupts = CallTimeout(), Interrupts()
        self._modules: dict[str, Any] = {}
        self._count = 0
        self._exits = ExitStack()

    def __enter__(self) -> PlannerIsolation:
        self._modules, self._count = dict(sys.modules), len(sys.modules)
        streams = redirect_stdout(sys.stdout), redirect_stderr(sys.stderr)
        for context in (*streams, np.errstate(), _WorkingDirectory(), _NoProcessExit(), self.interrupts, self.timeout):
            self._exits.enter_context(context)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._exits.close()

    def on_exit(self, function: Callable[[], object]) -> None:
        """Call a function at the end of the run."""
        self._exits.callback(function)

    def call(self, planner: str, time: float, limit: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function of a planner.

        Parameters
        ----------
        planner : str
            Name of its class, for error messages.
        time : float
            Simulated time [s].
        limit : float
            Wall-clock time limit [s].
        function, *arguments
            Function to call, and its arguments.

        Raises
        ------
        PlannerError
            If the function raises, exits, takes too long or removes modules.
        KeyboardInterrupt
            If the user interrupts the run.
        """
        if not PlannerIsolation.has_called:  # setting it would drop what the interpreter has cached of this class
            PlannerIsolation.has_called = True
        try:
            result = self.timeout.call(limit, function, *arguments)
        except BaseException as error:
            if self.interrupts.received:  # however the planner handled it
                raise KeyboardInterrupt from error
            self._restored()
            last = f"{describe_call(function)} took longer than its deadline of {limit:g} s"
            raise PlannerError(
                planner, time, format_error(error, last if isinstance(error, DeadlineError) else "")
            ) from None
        if self.interrupts.received:  # the planner caught it
            raise KeyboardInterrupt
        if len(sys.modules) != self._count:
            removed = self._restored()
            self._count = len(sys.modules)
            if removed:
                names = ", ".join(removed[:5]) + (", …" if len(removed) > 5 else "")
                raise PlannerError(
                    planner, time, f"{describe_call(function)} removed modules from sys.modules: {names}"
                )
        return result

    def _restored(self) -> list[str]:
        """Put back the modules that existed before the planner was loaded, and list them."""
        removed = [name for name in self._modules if name not in sys.modules]
        sys.modules.update((name, self._modules[name]) for name in removed)
        return removed


def describe_call(function: Callable[..., Any]) -> str:
    """Describe a call, for error messages."""
    return CALL_DESCRIPTIONS.get(function.__name__, f"{function.__name__}()")


class _WorkingDirectory:
    """Context that restores the working directory."""

    def __enter__(self) -> None:
        self._folder: str | None = None
        try:
            self._folder = os.getcwd()  # noqa: PTH109 - a deleted folder must not raise here
        except OSError:
            return

    def __exit__(self, *_: object) -> None:
        if self._folder is not None and Path(self._folder).is_dir():
            os.chdir(self._folder)


class _NoProcessExit:
    """Context in which `os._exit`, which runs no handler and no `finally`, raises; forked processes may still exit."""

    def __enter__(self) -> None:
        leave, process = os._exit, os.getpid()
        self._leave = leave

        def _exit(status: int) -> NoReturn:
            if os.getpid() != process:
                leave(status)
            raise ExitError(f"os._exit({status}) would end the run")

        os._exit = _exit

    def __exit__(self, *_: object) -> None:
        os._exit = self._leave


def format_error(error: BaseException, last: str = "") -> str:
    """Format an exception with the planner's own frames only, without those of this package around or below them.

    Parameters
    ----------
    error : BaseException
    last : str, optional
        Replacement for the exception's own last line.
    """
    whole = traceback.TracebackException.from_exception(error)
    seen: set[int] = set()
    pending: list[traceback.TracebackException | None] = [whole]
    while pending:
        one = pending.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            one.stack = _own(one.stack)
            pending += [one.__cause__, one.__context__, *(getattr(one, "exceptions", None) or ())]
    if last:
        frames = "".join(whole.stack.format())
        text = f"Traceback (most recent call last):\n{frames}{last}" if frames else last
    else:
        text = "".join(whole.format()).rstrip()
    return text if len(text) <= MAX_TRACEBACK else f"{text[: MAX_TRACEBACK // 2]}\n…\n{text[-MAX_TRACEBACK // 2 :]}"


def _own(stack: traceback.StackSummary) -> traceback.StackSummary:
    frames = [f for f in stack if f.filename not in INTERNAL_FILES and not f.filename.startswith("<frozen importlib")]
    frames = [f for f in frames if not f.filename.endswith(os.path.join("importlib", "__init__.py"))]  # noqa: PTH118
    theirs = [frame for frame in frames if not frame.filename.startswith(PACKAGE_FOLDER + os.sep)]
    return traceback.StackSummary.from_list(theirs or frames)
