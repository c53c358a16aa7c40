"""`ProcessIsolation`: a planner's class in a child process, called as `PlannerIsolation` calls one in this process.

What the class does to its process stays there. If the process ends, by `os._exit`, a signal or a crash of a library,
the planner fails with the last lines that it wrote; if a call in compiled code takes too long, the process is ended.
Both ends exchange pickled messages over a pipe: as in one process, the planner is trusted, and its mistakes are not.
"""

from __future__ import annotations

import io
import pickle
import select
import sys
import time
from collections.abc import Callable
from multiprocessing import Pipe
from typing import Any

from cbsim.errors import UsageError
from cbsim.planner.isolation import PlannerError, describe_call
from cbsim.planner.remote.process import ChildProcess
from cbsim.spec.command import command_of

__all__ = ["ProcessIsolation"]

GRACE = 1.0  # [s] after a deadline, which the child enforces itself where it can
SLICE = 20  # [ms] between two looks at whether the child still runs


class ProcessIsolation:
    """Isolated calls into a planner of a child process, which `close` ends.

    Parameters
    ----------
    name : str
        ``module:Class``.
    limit : float
        Wall-clock time limit for importing it, and for creating it [s].
    begin : float
        Wall-clock time limit for starting Python itself [s].

    Attributes
    ----------
    planner : object
        What stands for the planner in this process: an object of a class of the same name, to pass to `call`.

    Raises
    ------
    UsageError
        If there is no such module or class, or it lacks a method.
    PlannerError
        If the code of the module or of the class raises, or ends the process.
    """

    def __init__(self, name: str, limit: float, begin: float = 30.0) -> None:
        ours, theirs = Pipe()
        self._pipe, self._ready = ours, select.poll()
        self._ready.register(ours.fileno(), select.POLLIN)
        command = [sys.executable, "-m", "cbsim.planner.remote.child", str(theirs.fileno())]
        try:
            self._child = ChildProcess(command, descriptors=[theirs.fileno()])
        finally:
            theirs.close()
        self._name = name
        try:
            self._send(name, 0.0, ("find", name, limit, sys.path))
            methods = self._answer(name, 0.0, 2.0 * limit + begin, "making it")
        except BaseException:
            self.close()
            raise
        self.planner = type(name.partition(":")[2], (), dict.fromkeys(methods, _never_called))()

    def call(self, planner: str, time: float, limit: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function of the planner; the first argument stands for the planner, as in `PlannerIsolation.call`."""
        self._send(planner, time, ("call", planner, time, limit, function.__name__, arguments[1:]))
        answer = self._answer(planner, time, limit, describe_call(function))
        return command_of(answer) if function.__name__ == "plan" else answer

    def close(self) -> None:
        """End the child process."""
        self._pipe.close()
        self._child.close()

    def _send(self, planner: str, at: float, message: object) -> None:
        try:
            self._pipe.send(message)
        except OSError:
            self._child.wait(GRACE)
            raise PlannerError(planner, at, self._ended("before the next call")) from None

    def _answer(self, planner: str, at: float, limit: float, what: str) -> Any:
        """Wait for an answer; its compile time does not count."""
        end = time.monotonic() + limit + GRACE
        while True:
            try:
                while not self._ready.poll(SLICE):
                    if self._child.exit_code is not None and not self._ready.poll(0):
                        raise EOFError
                    if time.monotonic() > end:
                        last = f"{what} took longer than its deadline of {limit:g} s"
                        self._child.close(0.0)
                        raise PlannerError(planner, at, self._child.last_lines() + last)
                kind, content = _Unpickler(io.BytesIO(self._pipe.recv_bytes())).load()
            except (EOFError, OSError):
                self._child.wait(GRACE)
                raise PlannerError(planner, at, self._ended(f"in {what}")) from None
            except (pickle.UnpicklingError, ValueError, TypeError, AttributeError, ImportError) as error:
                raise PlannerError(planner, at, f"{what} answered what cannot be read: {error}") from None
            if kind == "compiled":
                end += content
            elif kind == "result":
                return content
            elif kind == "usage":
                raise UsageError(content)
            else:
                raise PlannerError(planner, at, content)

    def _ended(self, when: str) -> str:
        return f"{self._child.last_lines()}the planner's process ended {when}: {self._child.ending or 'it hung up'}"


class _Unpickler(pickle.Unpickler):
    """Reads answers; code of the planner stays in its process."""

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] not in ("cbsim", "numpy"):
            raise pickle.UnpicklingError(f"an object of '{module}.{name}'")
        return super().find_class(module, name)


def _never_called(*_: Any) -> None:
    """Stand for a method of the planner in this process."""
