"""``cbsim report``: self-contained HTML report of a recording, of two for comparison, or of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cbsim.cli.output import print_problems, print_result, progress
from cbsim.cli.recordings import exit_if_damaged, open_recording, report_ending
from cbsim.errors import Problems, printable

__all__ = ["report"]


def report(
    recording: Annotated[str, typer.Argument(metavar="REC", help="A recording (MCAP), or the folder of a sweep.")],
    other: Annotated[str | None, typer.Argument(metavar="REC2", help="Another recording, for comparison.")] = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="HTML", help="HTML file to write.")] = "",
    title: Annotated[str, typer.Option(help="Title of the page; by default the scenario's name.")] = "",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Write a self-contained page with verdict, replay, plots and tables; exit 2 if a recording is damaged."""
    if other is None and Path(recording).is_dir():  # of a sweep
        from cbsim.cli.sweep_output import Told
        from cbsim.cli.sweep_report import report as report_sweep

        with Told(None, quiet=quiet) as told:
            report_sweep(recording, output, told)
        return
    from cbsim.report import write_report

    paths = [recording] if other is None else [recording, other]
    opened = [open_recording(path) for path in paths]
    target = output or str(Path(recording).with_suffix(".html").name)
    problems = Problems()
    with progress("reporting", None, quiet=quiet):
        written = write_report(opened, target, title=title)
        for path, one in zip(paths, opened, strict=True):
            report_ending(path, one, problems)
    print_problems(problems, quiet=quiet)
    if not quiet:
        print_result(f"{printable(str(written))}: {written.stat().st_size / 1e6:.2f} MB")
    exit_if_damaged(problems)
