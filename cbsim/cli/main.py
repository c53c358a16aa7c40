"""The program `cbsim`: its commands in one table, and what its exit codes mean.

0 ran and passed · 1 ran and failed a check · 2 unacceptable file or usage · 3 the simulator failed · 130 interrupted.
"""

from __future__ import annotations

import atexit
import errno
import gc
import itertools
import os
import sys
import traceback
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import typer

from cbsim.cli import check, convert, diff, edit, info, judge, new, plot, replay, report, run, view, warmup
from cbsim.cli.output import say
from cbsim.cli.process import INTERRUPTED, was_interrupted
from cbsim.errors import CbsimError, FileError, ModelError, RecordingError, StepError, UsageError

__all__ = ["COMMANDS", "app", "main"]

USAGE, INTERNAL = 2, 3
EXHAUSTED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOMEM, errno.EMFILE)  # no fault of the user's

COMMANDS = (
    ("run", run.run),
    ("check", check.check),
    ("info", info.info),
    ("convert", convert.convert),
    ("judge", judge.judge),
    ("replay", replay.replay),
    ("diff", diff.diff),
    ("report", report.report),
    ("plot", plot.plot),
    ("view", view.view),
    ("edit", edit.edit),
    ("warmup", warmup.warmup),
)


class _InterruptionError(Exception):
    """Ctrl-C in a command; typer would take a `KeyboardInterrupt` for itself, with what it says."""


def _interruptible(function: Callable[..., None]) -> Callable[..., None]:
    @wraps(function)
    def command(*arguments: Any, **options: Any) -> None:
        try:
            function(*arguments, **options)
        except KeyboardInterrupt as stop:
            raise _InterruptionError(*stop.args) from None

    return command


app = typer.Typer(
    name="cbsim",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # else "[s]" is taken for markup, and units vanish
    help="Simulate robot cars on DARPA road networks: traffic, lasers, planners, verdicts, exact replay.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, function in COMMANDS:
    app.command(name)(_interruptible(function))
app.add_typer(new.app, name="new")


def main() -> None:
    """Run a command; what goes wrong becomes one line and an exit code, never a traceback."""
    _look_for_garbage_seldom()
    try:
        app(completed(sys.argv[1:]))
    except (FileError, ModelError, UsageError) as error:
        _fail(str(error), USAGE)
    except RecordingError as error:
        _fail(str(error), USAGE)
    except StepError as error:
        _fail(str(error) if "error:" in str(error) else f"error: the simulation failed: {error}", INTERNAL)
    except CbsimError as error:
        _fail(f"error: {error}", 1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader went away: nothing left to say
        sys.exit(0)
    except (KeyboardInterrupt, _InterruptionError) as stop:
        _fail(str(stop) or "interrupted", INTERRUPTED)
    except OSError as error:
        _fail(_words(error), INTERNAL if error.errno in EXHAUSTED else USAGE)
    except MemoryError:
        _fail("error: out of memory", INTERNAL)
    except Exception as error:
        if was_interrupted():
            _fail("interrupted", INTERRUPTED)
        if os.environ.get("CBSIM_TRACEBACK"):
            traceback.print_exc()
        _fail(f"error: a defect of cbsim: {type(error).__name__}: {error} (CBSIM_TRACEBACK=1 shows where)", INTERNAL)


def completed(arguments: list[str]) -> list[str]:
    """Give ``--realtime`` and ``--foxglove-serve`` their usual values where none follows: real time, a port.

    >>> completed(["run", "loop", "--realtime", "--view"])
    ['run', 'loop', '--realtime', '1', '--view']
    >>> completed(["run", "--foxglove-serve", "loop"])
    ['run', '--foxglove-serve', '127.0.0.1:8765', 'loop']
    """
    found: list[str] = []
    for word, after in itertools.zip_longest(arguments, arguments[1:], fillvalue=""):
        found.append(word)
        if word == "--realtime" and not _is_number(after):
            found.append("1")
        if word == "--foxglove-serve" and not (after.rpartition(":")[2].isdecimal() and not after.startswith("-")):
            found.append("127.0.0.1:8765")
    return found


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


@cache
def _look_for_garbage_seldom() -> None:
    """Spare the collector a third of a second: what a start makes stays to the end, and then goes all at once."""
    gc.set_threshold(200_000, *gc.get_threshold()[1:])
    atexit.register(gc.freeze)


def _words(error: OSError) -> str:
    """Say what the system refused, and of which file."""
    if error.filename is None and isinstance(error, FileNotFoundError):
        return "error: the working directory is gone"
    name = f"'{str(error.filename)[:200]}': " if error.filename is not None else ""
    return f"error: {name}{error.strerror or error}"


def _fail(message: str, code: int) -> None:
    text = message if "error:" in message or code == INTERRUPTED else f"error: {message}"
    sys.stdout.flush()
    say(text)
    sys.exit(code)
