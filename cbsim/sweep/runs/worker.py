"""Process of a local worker: tasks come through standard input and results go through standard output, pickled."""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from cbsim.errors import CbsimError

__all__ = ["LENGTH", "main", "read_message", "write_message"]

LENGTH = struct.Struct("<Q")
QUIET = 0.2  # [s] between two notes of progress


def write_message(stream: IO[bytes], message: object) -> None:
    """Write a message with its length."""
    data = pickle.dumps(message, protocol=5)
    stream.write(LENGTH.pack(len(data)) + data)
    stream.flush()


def read_message(stream: IO[bytes]) -> Any:
    """Read a message.

    Raises
    ------
    EOFError
        If the other process has ended.
    """
    length = LENGTH.unpack(_exactly(stream, LENGTH.size))[0]
    return pickle.loads(_exactly(stream, length))


def _exactly(stream: IO[bytes], count: int) -> bytes:
    """Read a number of bytes; a stream without buffer returns what there is."""
    parts: list[bytes] = []
    while count:
        part = stream.read(count)
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def main() -> None:
    """Serve tasks until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    tasks, results = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    silent = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):  # planners may print, and read
        os.dup2(silent, number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    with suppress(EOFError, BrokenPipeError):
        while True:
            function, arguments = read_message(tasks)
            try:
                message = ("result", function(*arguments, **_progress(function, results)))
            except (CbsimError, OSError, MemoryError) as error:
                message = ("error", _sendable(error))
            except Exception as error:
                message = ("error", RuntimeError(f"{type(error).__name__}: {error}"))
            write_message(results, message)


def _progress(function: Callable[..., Any], results: IO[bytes]) -> dict[str, Any]:
    """Give notes of progress to functions that take some."""
    if function.__name__ != "run_chunk":
        return {}
    last = [time.monotonic()]

    def tell(done: int) -> None:
        if time.monotonic() - last[0] > QUIET:
            last[0] = time.monotonic()
            write_message(results, ("progress", done))

    return {"progress": tell}


def _sendable(error: Exception) -> Exception:
    """Return an error that can be pickled: itself, or its text."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        kind = type(error)
        from cbsim.errors import FileError, ModelError, UsageError

        if isinstance(error, FileError | ModelError | UsageError):
            return UsageError(str(error))
        return OSError(str(error)) if issubclass(kind, OSError) else RuntimeError(str(error))
    return error


if __name__ == "__main__":
    main()
