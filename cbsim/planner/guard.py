"""`Guard`: every call into a planner goes through it, so that what a planner does wrong is its own fault alone.

It ends calls that take too long, turns whatever a planner raises into a `PlannerError` with the planner's own
traceback, and undoes what a planner may do to the process: modules removed, working directory, floating point
errors and standard streams changed. A planner cannot end the process: `os._exit` raises, and a `KeyboardInterrupt`
is the planner's own where nobody has sent an interrupt.
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
from cbsim.planner.deadline import DeadlineError, Watch
from cbsim.planner.interrupts import Interrupts

__all__ = ["Guard", "PlannerError"]

OURS = str(Path(cbsim.__file__).parent)
MACHINERY = tuple(str(Path(__file__).parent / f"{name}.py") for name in ("guard", "deadline", "driver"))
DOINGS = {"load": "importing it", "make": "making it"}  # what is done by functions that are not the planner's own
LONGEST = 20_000  # characters of a traceback


class PlannerError(CbsimError):
    """A planner raised, or gave what is not a command: the driver's fault, not the simulator's.

    Parameters
    ----------
    planner : str
        Its class.
    time : float
        Simulated time [s].
    reason : str
        What it did, with its own traceback if it raised.
    """

    def __init__(self, planner: str, time: float, reason: str) -> None:
        self.planner, self.time, self.reason = planner, time, reason
        super().__init__(f"planner '{planner}' failed at t={time:.3f} s: {reason}")


class ExitError(BaseException):
    """A planner wanted to end the process; derived so that ``except Exception`` lets it pass."""


class Guard:
    """Calls planners; entered for the length of a run.

    Attributes
    ----------
    watch : Watch
        Which ends calls that take too long.
    interrupts : Interrupts
        Of the user, while it is entered.
    has_called : bool
        Whether any guard of this process has called a planner yet.
    """

    has_called = False

    def __init__(self) -> None:
        self.watch, self.interrupts = Watch(), Interrupts()
        self._modules: dict[str, Any] = {}
        self._count = 0
        self._exits = ExitStack()

    def __enter__(self) -> Guard:
        self._modules, self._count = dict(sys.modules), len(sys.modules)
        streams = redirect_stdout(sys.stdout), redirect_stderr(sys.stderr)
        for context in (*streams, np.errstate(), _Here(), _Staying(), self.interrupts, self.watch):
            self._exits.enter_context(context)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._exits.close()

    def call(self, planner: str, time: float, limit: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function of a planner.

        Parameters
        ----------
        planner : str
            Its class, to blame.
        time : float
            Simulated time [s].
        limit : float
            Longest wall-clock time [s].
        function, *arguments
            What to call.

        Raises
        ------
        PlannerError
            If it raises, exits, takes too long or removes modules.
        KeyboardInterrupt
            If the user has interrupted it.
        """
        Guard.has_called = True
        try:
            result = self.watch.call(limit, function, *arguments)
        except BaseException as error:
            if self.interrupts.received:  # whatever the planner has made of it
                raise KeyboardInterrupt from error
            self._restored()
            last = f"{doing(function)} took longer than its deadline of {limit:g} s"
            raise PlannerError(planner, time, told(error, last if isinstance(error, DeadlineError) else "")) from None
        if self.interrupts.received:  # the planner has swallowed it
            raise KeyboardInterrupt
        if len(sys.modules) != self._count:
            removed = self._restored()
            self._count = len(sys.modules)
            if removed:
                names = ", ".join(removed[:5]) + (", …" if len(removed) > 5 else "")
                raise PlannerError(planner, time, f"{doing(function)} removed modules of others: {names}")
        return result

    def _restored(self) -> list[str]:
        """Put modules back that were there before the planner was, and list them."""
        removed = [name for name in self._modules if name not in sys.modules]
        sys.modules.update((name, self._modules[name]) for name in removed)
        return removed


def doing(function: Callable[..., Any]) -> str:
    """Say what a function does, to a user."""
    return DOINGS.get(function.__name__, f"{function.__name__}()")


class _Here:
    """Comes back to the working directory."""

    def __enter__(self) -> None:
        self._folder: str | None = None
        try:
            self._folder = os.getcwd()  # noqa: PTH109 - a folder that is gone must not raise here
        except OSError:
            return

    def __exit__(self, *_: object) -> None:
        if self._folder is not None and Path(self._folder).is_dir():
            os.chdir(self._folder)


class _Staying:
    """Refuses `os._exit`, which no handler and no `finally` would survive; a forked process may end itself."""

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


def told(error: BaseException, last: str = "") -> str:
    """Format an exception with the frames of the planner alone: neither ours around them, nor ours below them.

    Parameters
    ----------
    error : BaseException
    last : str, optional
        In place of the exception's own last line.
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
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}\n…\n{text[-LONGEST // 2 :]}"


def _own(stack: traceback.StackSummary) -> traceback.StackSummary:
    frames = [f for f in stack if f.filename not in MACHINERY and not f.filename.startswith("<frozen importlib")]
    frames = [f for f in frames if not f.filename.endswith(os.path.join("importlib", "__init__.py"))]  # noqa: PTH118
    theirs = [frame for frame in frames if not frame.filename.startswith(OURS + os.sep)]
    return traceback.StackSummary.from_list(theirs or frames)
