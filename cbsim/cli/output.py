"""What all commands share: printing problems, results as JSON, and progress on work that takes long."""

from __future__ import annotations

import json
import math
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from cbsim.errors import Problems, Severity, UsageError

__all__ = [
    "EXIT_CODES",
    "announce_compilation",
    "counted",
    "emit",
    "has_compiled",
    "print_problems",
    "print_warnings",
    "progress",
    "say",
    "write_json",
]

EXIT_CODES = {"pass": 0, "fail": 1, "error": 3}  # of a verdict
PATIENCE = 2.0  # [s] work that takes longer shows a progress bar


def emit(text: str = "") -> None:
    """Print a line of result."""
    sys.stdout.write(f"{text}\n")


def say(text: str) -> None:
    """Print a line about the work, apart from its result."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


_compiled: list[bool] = []


def has_compiled() -> bool:
    """Tell whether kernels have been compiled since that was announced: then times say little."""
    return bool(_compiled)


@cache
def announce_compilation() -> None:
    """Say so once a kernel has to be compiled: the first run of its kind takes longer, by seconds up to a minute."""
    from numba.core import event

    class Once(event.Listener):
        """Speaks at the first compilation."""

        spoken = False

        def on_start(self, _event: object) -> None:
            if not self.spoken:
                self.spoken = True
                _compiled.append(True)
                say("compiling kernels, once for this machine; 'cbsim warmup' does it ahead …")

        def on_end(self, _event: object) -> None:
            """Nothing is said then."""

    event.register("numba:compile", Once())  # type: ignore[no-untyped-call]


def print_problems(problems: Problems, *, quiet: bool = False, infos: bool = False, stream: str = "err") -> None:
    """Print problems one a line, in the order of the files' lines; quiet leaves only errors."""
    out = say if stream == "err" else emit
    for problem in problems.in_order():
        if problem.severity is Severity.ERROR or (not quiet and (infos or problem.severity is Severity.WARNING)):
            out(str(problem))
    for code, count in problems.left_out.items():
        out(f"… and {count} more of {code}")


def print_warnings(problems: Problems, *, quiet: bool = False) -> None:
    """Print the warnings alone; the errors are in the exception that ends the command."""
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
    """Make data fit for JSON: numbers of numpy become Python's, what is not finite becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value


def write_json(data: dict[str, Any] | list[Any], target: str) -> None:
    """Write a result as JSON to a file, or to standard output for ``-``.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    text = json.dumps(plain(data), indent=2, allow_nan=False, ensure_ascii=False)
    if target == "-":
        emit(text)
        return
    try:
        Path(target).write_text(text + "\n", encoding="utf-8")
    except OSError as reason:
        raise UsageError(f"cannot write '{target}': {reason.strerror}") from None


@contextmanager
def progress(what: str, total: float | None, *, quiet: bool = False) -> Iterator[Callable[[float], None]]:
    """Show a bar once the work has taken two seconds, if anybody watches; yields a function of the amount done.

    A timer shows it, because the work may be one long call that tells nothing on the way; without a total, the bar
    only says that work goes on.
    """
    if quiet or not _is_watched():
        yield lambda _done: None
        return
    bar = _Bar(what, total)
    timer = threading.Timer(PATIENCE, bar.show)
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
    """A progress bar that may be shown late, by another thread, and never once it is closed."""

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
