"""Output of ``cbsim sweep``: a line of progress, or JSON lines for CI."""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from cbsim.cli.output import plain, print_result, print_status
from cbsim.paths import writing

if TYPE_CHECKING:
    from cbsim.sweep.engine import Progress

__all__ = ["Told"]

PERIOD, LINE_PERIOD = 0.2, 1.0  # [s] between two updates of the terminal, and two JSON lines


class Told:
    """What a sweep tells: progress on the terminal, and JSON lines where asked for.

    Parameters
    ----------
    target : str or None
        File of the JSON lines, or ``-`` for standard output.
    quiet : bool
    """

    def __init__(self, target: str | None, *, quiet: bool) -> None:
        self.target, self.quiet = target, quiet
        self.last: Progress | None = None
        self._stream: IO[str] | None = None
        self._leaving = ExitStack()
        self._shown, self._written, self._width = -1e9, -1e9, 0

    def __enter__(self) -> Told:
        if self.target == "-":
            self._stream = sys.stdout
            self._leaving.enter_context(redirect_stdout(sys.stderr))  # where planners of this process print
        elif self.target is not None:
            with writing(self.target):
                self._stream = Path(self.target).open("w", encoding="utf-8")
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()
        self._leaving.close()
        if self._stream is not None and self.target != "-":
            self._stream.close()

    def progress(self, now: Progress) -> None:
        """Show how far a sweep is."""
        self.last, moment = now, time.monotonic()
        ended = now.done >= now.total
        if self._stream is not None and (ended or moment - self._written >= LINE_PERIOD):
            self._written = moment
            self._line({"progress": now.to_dict()})
        if not self.quiet and sys.stderr.isatty() and moment - self._shown >= PERIOD:
            self._shown = moment
            left = "" if now.left is None else f", {_duration(now.left)} left"
            text = f"{now.done} of {now.total} runs, {now.failing + now.errors} failing, {now.rate:.1f}/s{left}"
            sys.stderr.write(f"\r{text.ljust(self._width)}")
            sys.stderr.flush()
            self._width = len(text)

    def result(self, data: dict[str, Any], lines: list[str]) -> None:
        """Tell the result, as JSON or for people."""
        self._clear()
        if self._stream is not None:
            self._line({"result": plain(data)})
        if self.target != "-" and not self.quiet:
            for line in lines:
                print_result(line)
        elif self.quiet and data.get("verdict", "pass") != "pass":
            print_status(lines[0])

    def _line(self, data: dict[str, Any]) -> None:
        assert self._stream is not None
        self._stream.write(json.dumps(data, allow_nan=False, default=str) + "\n")
        self._stream.flush()

    def _clear(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0


def _duration(seconds: float) -> str:
    """Format a duration.

    >>> _duration(42.4), _duration(125.0), _duration(7300.0)
    ('42 s', '2 min 05 s', '2 h 01 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
