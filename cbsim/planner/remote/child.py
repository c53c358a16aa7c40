"""The child process of an isolated planner: ``python -m cbsim.planner.remote.child DESCRIPTOR``."""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from cbsim.errors import UsageError
from cbsim.kernel_compiler.times import compile_seconds
from cbsim.planner.driver import decided, find_planner, plan, start
from cbsim.planner.isolation import PlannerError, PlannerIsolation
from cbsim.spec.drawing import drawings_of

__all__ = ["main"]

PERIOD = 0.2  # [s] between two messages about compilation
METHODS = ("start", "plan", "draw", "save", "restore")


def draw(planner: Any) -> object:
    """Call a planner's ``draw``."""
    return drawings_of(planner.draw())


def save(planner: Any) -> object:
    """Call a planner's ``save``; any other type of result is named in the error."""
    memory = planner.save()
    if not isinstance(memory, bytes):
        raise TypeError(f"save() returned {type(memory).__name__}, expected bytes")
    return memory


def restore(planner: Any, memory: bytes) -> None:
    """Call a planner's ``restore``."""
    planner.restore(memory)


CALLS: dict[str, Callable[..., Any]] = {
    "start": start,
    "plan": plan,
    "draw": draw,
    "save": save,
    "restore": restore,
}


class Server:
    """Answers the calls of the parent process.

    Parameters
    ----------
    pipe : Connection
        To the parent.
    """

    def __init__(self, pipe: Connection) -> None:
        self._pipe, self._lock = pipe, threading.Lock()
        self._isolation = PlannerIsolation()
        self._planner: Any = None

    def serve(self) -> None:
        """Answer until the parent hangs up."""
        threading.Thread(target=self._tell_compiled, args=(threading.get_ident(),), daemon=True).start()
        with self._isolation, contextlib.suppress(EOFError, OSError):
            while True:
                what, *content = self._pipe.recv()
                self._send(*self._reply(self._find if what == "find" else self._call, content))

    def _reply(self, function: Callable[..., Any], content: list[Any]) -> tuple[str, Any]:
        try:
            return "result", function(*content)
        except PlannerError as error:
            return "fault", error.reason
        except UsageError as error:
            return "usage", str(error)

    def _send(self, kind: str, content: Any) -> None:
        try:
            data = pickle.dumps((kind, content), pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # drawings of the planner's own making
            data = pickle.dumps(("fault", f"its answer cannot be sent: {error}"))
        with self._lock:
            self._pipe.send_bytes(data)

    def _find(self, name: str, limit: float, path: list[str]) -> list[str]:
        sys.path[:] = path
        self._planner = find_planner(name, self._isolation, limit)
        return [method for method in METHODS if callable(getattr(self._planner, method, None))]

    def _call(self, name: str, time: float, limit: float, function: str, arguments: tuple[Any, ...]) -> Any:
        answer = self._isolation.call(name, time, limit, CALLS[function], self._planner, *arguments)
        return decided(name, time, answer) if function == "plan" else answer

    def _tell_compiled(self, thread: int) -> None:
        """Tell the parent how long kernels take to compile, which does not count."""
        told = 0.0
        with contextlib.suppress(OSError):
            while True:
                threading.Event().wait(PERIOD)
                seconds = compile_seconds(thread)
                if seconds > told:
                    self._send("compiled", seconds - told)
                    told = seconds


def main() -> None:
    """Serve on the descriptor that the command line names."""
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)
    Server(Connection(descriptor)).serve()


if __name__ == "__main__":
    main()
