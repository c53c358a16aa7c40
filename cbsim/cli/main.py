"""The program `cbsim`: table of commands, and exit codes.

0 passed · 1 a check failed · 2 unacceptable file or usage · 3 the simulator failed · 130 interrupted.
"""

from __future__ import annotations

import atexit
import errno
import gc
import itertools
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from functools import cache
from typing import Annotated

import typer

from cbsim import __version__
from cbsim.cli import check, convert, diff, edit, info, judge, new, plot, replay, report, run, sweep, view, warmup
from cbsim.cli.commands import InterruptionError, add
from cbsim.cli.interrupts import INTERRUPTED, was_interrupted
from cbsim.cli.list import list_
from cbsim.cli.options import is_input
from cbsim.cli.output import prepare_streams, print_result, print_status
from cbsim.errors import CbsimError, FileError, ModelError, RecordingError, StepError, UsageError

__all__ = ["COMMANDS", "app", "main"]

USAGE, INTERNAL = 2, 3
EXHAUSTED = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EIO,
    errno.ENOMEM,
    errno.EMFILE,
)  # resources of the system, not errors of the user

COMMANDS: tuple[tuple[str, Callable[..., None], str], ...] = (
    ("run", run.run, "Run a scenario; exit 0 if every check passed, 1 if one failed."),
    ("sweep", sweep.sweep, "Run a scenario many times; resume, report, replay, diff."),
    ("check", check.check, "List all problems of files; exit 2 if there are errors."),
    ("info", info.info, "Count the contents of a file; exit 2 if it has errors."),
    ("convert", convert.convert, "Convert a file to another format."),
    ("judge", judge.judge, "Evaluate a recording: exit 0, or 1 if a check failed."),
    ("replay", replay.replay, "Re-simulate a recording and compare all hashes."),
    ("diff", diff.diff, "Compare two recordings; exit 1 where they diverge."),
    ("report", report.report, "Write a report: verdict, replay, plots, tables."),
    ("plot", plot.plot, "Plot figures for papers: trajectories, speed, scans."),
    ("view", view.view, "View a scenario, network, model or recording."),
    ("edit", edit.edit, "Edit objects on a road network."),
    ("list", list_, "List shipped scenarios, models, rules and planners."),
    ("warmup", warmup.warmup, "Compile all kernels and cache the machine code."),
)

app = typer.Typer(
    name="cbsim",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # otherwise units such as "[s]" are parsed as markup
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, function, summary in COMMANDS:
    add(app, name, function, summary)
app.add_typer(new.app, name="new")


def _print_version(wanted: bool) -> None:
    if wanted:
        print_result(f"cbsim {__version__}")
        raise typer.Exit


@app.callback()
def cbsim_(
    _version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit."),
    ] = False,
) -> None:
    """Simulate robot cars on DARPA road networks: traffic, lasers, planners, verdicts, exact replay."""


def main() -> None:
    """Run a command; errors become one line and an exit code, never a traceback."""
    _tune_garbage_collection()
    prepare_streams()
    if not sys.warnoptions:  # NaN is checked where it matters; numpy's warnings show lines of source
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="cbsim|numpy")
    try:
        app(with_default_values(sys.argv[1:]))
    except (FileError, ModelError, UsageError) as error:
        _fail(str(error), USAGE)
    except RecordingError as error:
        _fail(str(error), USAGE)
    except StepError as error:
        _fail(str(error) if "error:" in str(error) else f"error: the simulation failed: {error}", INTERNAL)
    except CbsimError as error:
        _fail(f"error: {error}", 1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader closed the pipe: print nothing more
        sys.exit(0)
    except (KeyboardInterrupt, InterruptionError) as stop:
        _fail(str(stop) or "interrupted", INTERRUPTED)
    except OSError as error:
        _fail(_describe(error), INTERNAL if error.errno in EXHAUSTED else USAGE)
    except MemoryError:
        _fail("error: out of memory", INTERNAL)
    except Exception as error:
        if was_interrupted():
            _fail("interrupted", INTERRUPTED)
        if os.environ.get("CBSIM_TRACEBACK"):
            traceback.print_exc()
        _fail(f"error: a defect of cbsim: {type(error).__name__}: {error} (CBSIM_TRACEBACK=1 shows where)", INTERNAL)


def with_default_values(arguments: list[str]) -> list[str]:
    """Add the default values of options that may be given without one: real time, a port, standard output.

    >>> with_default_values(["run", "loop", "--realtime", "--view"])
    ['run', 'loop', '--realtime', '1', '--view']
    >>> with_default_values(["run", "--foxglove-serve", "loop"])
    ['run', '--foxglove-serve', '127.0.0.1:8765', 'loop']
    >>> with_default_values(["info", "loop", "--json"])
    ['info', 'loop', '--json', '-']
    """
    found: list[str] = []
    for word, after in itertools.zip_longest(arguments, arguments[1:], fillvalue=""):
        found.append(word)
        if word == "--realtime" and not _is_number(after):
            found.append("1")
        if word == "--foxglove-serve" and not (after.rpartition(":")[2].isdecimal() and not after.startswith("-")):
            found.append("127.0.0.1:8765")
        if word == "--json" and (not after or (after.startswith("-") and after != "-") or _is_input(arguments, after)):
            found.append("-")
    return found


def _is_input(arguments: list[str], word: str) -> bool:
    """Return whether the word after ``--json`` is an input file, which must not be overwritten."""
    return arguments[:1] in (["check"], ["info"]) and is_input(word)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


@cache
def _tune_garbage_collection() -> None:
    """Reduce garbage collection, which costs a third of a second: objects of the start-up live until the end."""
    gc.set_threshold(200_000, *gc.get_threshold()[1:])
    atexit.register(gc.freeze)


def _describe(error: OSError) -> str:
    """Describe an error of the system, with the name of the file."""
    if error.filename is None and isinstance(error, FileNotFoundError):
        return "error: the working directory is gone"
    name = f"'{str(error.filename)[:200]}': " if error.filename is not None else ""
    return f"error: {name}{error.strerror or error}"


def _fail(message: str, code: int) -> None:
    text = message if "error:" in message or code == INTERRUPTED else f"error: {message}"
    sys.stdout.flush()
    print_status(text)
    sys.exit(code)
