"""``cbsim report``: one page of a recording that opens anywhere, or of two beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cbsim.cli.output import emit, print_problems, progress
from cbsim.cli.recordings import exit_if_damaged, open_recording, tell_ending
from cbsim.errors import Problems, printable

__all__ = ["report"]


def report(
    recording: Annotated[str, typer.Argument(metavar="REC", help="A recording (MCAP).")],
    other: Annotated[str | None, typer.Argument(metavar="REC2", help="Another, to compare with.")] = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="HTML", help="Where to write the page.")] = "",
    title: Annotated[str, typer.Option(help="Of the page; by default the scenario's name.")] = "",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Write a page with verdict, replay, plots and tables; it needs no network. Exit 0, on damage 2."""
    from cbsim.report import write_report

    paths = [recording] if other is None else [recording, other]
    opened = [open_recording(path) for path in paths]
    target = output or str(Path(recording).with_suffix(".html").name)
    problems = Problems()
    with progress("reporting", None, quiet=quiet):
        written = write_report(opened, target, title=title)
        for path, one in zip(paths, opened, strict=True):
            tell_ending(path, one, problems)
    print_problems(problems, quiet=quiet)
    if not quiet:
        emit(f"{printable(str(written))}: {written.stat().st_size / 1e6:.2f} MB")
    exit_if_damaged(problems)
