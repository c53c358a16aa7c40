"""`ChildProcess`: a process that ends with the run, whatever happens, and the last lines that it wrote."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence

from cbsim.errors import UsageError

__all__ = ["ChildProcess"]

KEPT_LINES, KEPT_LETTERS = 20, 2000  # of what a process has written, for messages
PATIENCE = 1.0  # [s] that a process has to end after a request
POLL = 0.005  # [s]
DRAIN = 0.5  # [s] to read what a process has written before it ended
ENDS_WITH_PARENT = """\
import ctypes, os, signal, sys
parent = int(sys.argv[1])
ctypes.CDLL(None, use_errno=True).prctl(1, int(signal.SIGKILL), 0, 0, 0)
if os.getppid() != parent:
    sys.exit(1)
os.execvp(sys.argv[2], sys.argv[2:])
"""  # PR_SET_PDEATHSIG survives exec, so that a planner ends even if this process is killed


class ChildProcess:
    """A process in a group of its own; what it writes goes to standard error.

    Parameters
    ----------
    command : sequence of str
        Program and arguments.
    environment : mapping, optional
        Variables in addition to those of this process.
    descriptors : sequence of int
        Files that it inherits.

    Raises
    ------
    OSError
        If it cannot be started.
    UsageError
        On systems without groups of processes.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None, descriptors: Sequence[int] = ()
    ) -> None:
        if not hasattr(os, "killpg"):
            raise UsageError("planners in processes of their own need Linux or macOS")
        wrapped = list(command)
        if sys.platform == "linux":
            wrapped = [sys.executable, "-I", "-S", "-c", ENDS_WITH_PARENT, str(os.getpid()), *command]
        self._process = subprocess.Popen(
            wrapped,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            pass_fds=tuple(descriptors),
            start_new_session=True,
        )
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._reading = threading.Lock()
        self._reader = threading.Thread(target=self._read, args=(sys.stderr,), name="cbsim planner", daemon=True)
        self._reader.start()
        self._code: int | None = None

    @property
    def exit_code(self) -> int | None:
        """Exit code, negative for a signal; None while it runs. Its group is not released before `close`."""
        if self._code is None and not hasattr(os, "waitid"):
            self._code = self._process.poll()
        elif self._code is None:
            found = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is not None:
                self._code = found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
        return self._code

    @property
    def ending(self) -> str:
        """How it ended: ``exit code 0`` or ``signal SIGSEGV``; empty while it runs."""
        code = self.exit_code
        if code is None:
            return ""
        if code >= 0:
            return f"exit code {code}"
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
        return f"signal {-code}"

    def wait(self, seconds: float) -> bool:
        """Wait for its end; returns whether it has ended."""
        end = time.monotonic() + seconds
        while self.exit_code is None and time.monotonic() < end:
            time.sleep(POLL)
        return self.exit_code is not None

    def last_lines(self) -> str:
        """Return the last lines that it has written, indented, under a heading; empty if there are none."""
        if self.exit_code is not None:
            self._reader.join(DRAIN)
        else:
            self._catch_up()
        text = "\n".join(f"  {line}" for line in list(self._lines))
        return f"its last lines:\n{text[-KEPT_LETTERS:]}\n" if text else ""

    def _catch_up(self) -> None:
        """Let the reader keep all that has been written; on a busy machine it may be behind."""
        stream, end = self._process.stdout, time.monotonic() + DRAIN
        assert stream is not None
        while self._reader.is_alive() and time.monotonic() < end:
            with self._reading:
                if not select.select([stream], [], [], 0.0)[0]:
                    return
            time.sleep(POLL)

    def close(self, patience: float = PATIENCE) -> None:
        """End it, and every process of its group: by its own will, else by SIGTERM, else by SIGKILL."""
        if self._process.returncode is not None:
            return
        if not self.wait(patience):
            self._signal(signal.SIGTERM)
            self.wait(PATIENCE)
        self._signal(signal.SIGKILL)  # its own children, too
        code = self._process.wait()
        self._code = code if self._code is None else self._code
        self._reader.join(DRAIN)
        if self._process.stdout is not None and not self._reader.is_alive():
            self._process.stdout.close()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _read(self, out: object) -> None:
        """Keep the last lines, and pass them on."""
        stream = self._process.stdout
        assert stream is not None
        data, rest = b" ", b""
        while data:
            select.select([stream], [], [])
            with self._reading:  # what has been read is kept before anybody asks for it
                data = os.read(stream.fileno(), KEPT_LETTERS)
                *lines, rest = (rest + data).split(b"\n")
                if rest and (not data or len(rest) > KEPT_LETTERS):
                    lines, rest = [*lines, rest], b""
                texts = [line.decode(errors="replace") for line in lines]
                self._lines.extend(texts)
            for text in texts:
                with contextlib.suppress(Exception):  # standard error may be gone
                    print(text, file=out)  # type: ignore[call-overload]
