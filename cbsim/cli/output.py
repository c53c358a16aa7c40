"""Output of commands: problems, results as JSON, and progress bars."""

from __future__ import annotations

import json
import logging
import math
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from cbsim.errors import UNPRINTABLE, Problems, Severity, printable
from cbsim.paths import writing

__all__ = [
    "EXIT_CODES",
    "announce_compilation",
    "counted",
    "has_compiled",
    "json_text",
    "prepare_streams",
    "print_json",
    "print_problems",
    "print_result",
    "print_status",
    "print_warnings",
    "progress",
    "write_json",
]

logging.getLogger("cbsim.kernels").setLevel(logging.WARNING)  # commands announce compilation themselves

EXIT_CODES = {"pass": 0, "fail": 1, "error": 3}  # by verdict
PROGRESS_DELAY = 2.0  # [s] after which a progress bar appears


def prepare_streams() -> None:
    """Make printing safe: characters that an encoding lacks are escaped, and closed streams are replaced."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (open to the end)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def print_result(text: str = "") -> None:
    """Print lines of the result to standard output, with control characters escaped."""
    sys.stdout.write(_lines(text))


def print_json(data: Any) -> None:
    """Print JSON."""
    sys.stdout.write(f"{json_text(data)}\n")


def print_status(text: str) -> None:
    """Print lines about progress and errors to standard error, apart from the result."""
    sys.stderr.write(_lines(text))
    sys.stderr.flush()


def _lines(text: str) -> str:
    return "".join(f"{printable(line)}\n" for line in text.split("\n"))


class _Compilation:
    """State of compilation in this process, which tests run several commands in."""

    is_quiet = False  # whether it is not announced
    has_begun = False


def has_compiled() -> bool:
    """Return whether kernels were compiled since `announce_compilation`, so that run times are not meaningful."""
    return _Compilation.has_begun


def announce_compilation(*, quiet: bool = False) -> None:
    """Print a line at the first compilation of a kernel, which takes seconds to a minute; nothing if `quiet`."""
    _Compilation.is_quiet = quiet
    _listen_to_compilation()


@cache
def _listen_to_compilation() -> None:
    from numba.core import event

    class Once(event.Listener):
        """Listener that prints a line at the first compilation."""

        def on_start(self, _event: object) -> None:
            if not _Compilation.has_begun and not _Compilation.is_quiet:
                print_status("compiling kernels, once for this machine; 'cbsim warmup' does it in advance …")
            _Compilation.has_begun = True

        def on_end(self, _event: object) -> None:
            """Do nothing at the end of a compilation."""

    event.register("numba:compile", Once())  # type: ignore[no-untyped-call]


def print_problems(problems: Problems, *, quiet: bool = False, infos: bool = False, stream: str = "err") -> None:
    """Print problems one per line, sorted by file and line; `quiet` prints errors only."""
    out = print_status if stream == "err" else print_result
    for problem in problems.in_order():
        if problem.severity is Severity.ERROR or (not quiet and (infos or problem.severity is Severity.WARNING)):
            out(str(problem))
    for code, count in problems.left_out.items():
        out(f"… and {count} more of {code}")


def print_warnings(problems: Problems, *, quiet: bool = False) -> None:
    """Print the warnings only; the exception that ends the command has the errors."""
    print_problems(Problems(problems.warnings), quiet=quiet)


def counted(problems: Problems) -> str:
    """Count problems in words: ``2 errors, 1 warning``."""
    parts = []
    for severity, word in ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "remark")):
        count = problems.count(severity)
        if count:
            parts.append(f"{count} {word}{'s' if count > 1 else ''}")
    return ", ".join(parts) or "no problems"


def plain(value: Any) -> Any:
    """Convert data for JSON: numpy numbers become Python's, non-finite ones null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value


def json_text(data: Any) -> str:
    """Write JSON with non-ASCII letters as they are, except control characters and surrogates, which are escaped."""
    text = json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False)
    return UNPRINTABLE.sub(lambda match: match[0] if match[0] == "\n" else f"\\u{ord(match[0]):04x}", text)


def write_json(data: dict[str, Any] | list[Any], target: str) -> None:
    """Write a result as JSON to a file, or to standard output for ``-``.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    if target == "-":
        print_json(plain(data))
        return
    with writing(target):
        Path(target).write_text(json_text(plain(data)) + "\n", encoding="utf-8")


@contextmanager
def progress(what: str, total: float | None, *, quiet: bool = False) -> Iterator[Callable[[float], None]]:
    """Show a progress bar after two seconds, if standard error is a terminal; yields a function of the amount done.

    A timer shows the bar, because the work may be one long call without updates; without a total, the bar only shows
    that work continues.
    """
    if quiet or not _is_watched():
        yield lambda _done: None
        return
    bar = _Bar(what, total)
    timer = threading.Timer(PROGRESS_DELAY, bar.show)
    timer.daemon = True
    timer.start()
    try:
        yield bar.update
    finally:
        timer.cancel()
        bar.close()


def _is_watched() -> bool:
    return sys.stderr.isatty()


class _Bar:
    """A progress bar that another thread may show with a delay, but not after it is closed."""

    def __init__(self, what: str, total: float | None) -> None:
        self.what, self.total, self.done = what, total, 0.0
        self._lock, self._closed = threading.Lock(), False
        self._shown: Any = None

    def show(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        with self._lock:
            if self._closed:
                return
            self._shown = Progress(console=Console(stderr=True), transient=True)
            self._shown.add_task(self.what, total=self.total, completed=self.done)
            self._shown.start()

    def update(self, done: float) -> None:
        with self._lock:
            self.done = done
            if self._shown is not None:
                self._shown.update(self._shown.task_ids[0], completed=done)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._shown is not None:
                self._shown.stop()
