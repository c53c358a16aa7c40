"""``cbsim plot``: figures for papers, of one recording or of several overlaid."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated

import typer

from cbsim.cli.output import print_problems, print_result, print_status, progress
from cbsim.cli.recordings import exit_if_damaged, open_recording, report_ending
from cbsim.errors import Problems, UsageError, printable

__all__ = ["paper_size", "plot"]


def plot(
    recordings: Annotated[list[str], typer.Argument(metavar="REC", help="Recordings (MCAP).")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="An SVG, PDF or PNG to write.")] = "",
    kind: Annotated[str, typer.Option(help="trajectories, speed or scan.")] = "trajectories",
    object_: Annotated[
        list[str] | None, typer.Option("--object", metavar="NAME", help="Object to draw; repeatable.")
    ] = None,
    begin: Annotated[float, typer.Option("--from", help="Start of the plotted time [s].")] = 0.0,
    end: Annotated[float, typer.Option("--to", help="End of the plotted time [s].")] = math.inf,
    at: Annotated[list[float] | None, typer.Option(help="Time of outlines, or of a scan [s]; repeatable.")] = None,
    size: Annotated[str, typer.Option(metavar="WxH", help="Size of the figure [mm].")] = "",
    style: Annotated[str, typer.Option(help="colour, or bw: lines distinguished without colour.")] = "colour",
    sensor: Annotated[str, typer.Option(metavar="KEY", help="Laser of scans: object/conf.")] = "",
    frame: Annotated[str, typer.Option(help="Frame of scans: world or sensor.")] = "world",
    title: Annotated[str, typer.Option(help="Title of the figure.")] = "",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Plot trajectories on the road, speed profiles, or scans, as figures for papers."""
    from cbsim.plot import PlotRequest, write_plot

    measured = paper_size(size) if size else None
    request = PlotRequest(tuple(object_ or ()), begin, end, tuple(at or ()), measured, style, sensor, frame, title)
    target = output or Path(recordings[0]).with_suffix(".svg").name
    opened = [open_recording(path) for path in recordings]
    problems = Problems()
    with progress("drawing", None, quiet=quiet):
        runs = write_plot(opened, target, kind, request)
        for path, one in zip(recordings, opened, strict=True):
            report_ending(path, one, problems)
    print_problems(problems, quiet=quiet)
    if not quiet:
        for run in runs:
            if run.left_out and kind != "scan":
                print_status(f"{run.name}: {run.left_out} more objects move; --object NAME draws them")
        print_result(printable(str(target)))
    exit_if_damaged(problems)


def paper_size(text: str) -> tuple[float, float]:
    """Read the size of a figure, ``160x100`` [mm]."""
    match = re.fullmatch(r"(\d{1,5}(?:\.\d{1,3})?)[x×](\d{1,5}(?:\.\d{1,3})?)", text)
    if match is None:
        raise UsageError(f"size '{text}' is not of the form 160x100 [mm]")
    return float(match[1]), float(match[2])
