"""``cbsim diff``: first divergence of two recordings."""

from __future__ import annotations

from typing import Annotated

import typer

from cbsim.cli.output import print_problems, progress
from cbsim.cli.recordings import exit_if_damaged, open_recording, report_divergence, report_ending
from cbsim.errors import Problems

__all__ = ["diff"]


def diff(
    one: Annotated[str, typer.Argument(metavar="A", help="A recording (MCAP).")],
    other: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    json: Annotated[str | None, typer.Option(help="Write the result as JSON to a file, or to '-'.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print divergence only.")] = False,
) -> None:
    """Compare the hashes of two recordings; exit 1 at the first divergence, 2 if one is damaged."""
    from cbsim.evaluation.replay import diff as compare
    from cbsim.recording.divergence import setup_differences

    first, second = open_recording(one), open_recording(other)
    problems = Problems()
    with progress("comparing", None, quiet=quiet):
        found = compare(first, second)
        for path, opened in ((one, first), (other, second)):
            report_ending(path, opened, problems)
    print_problems(problems, quiet=quiet)
    differences = setup_differences(first.header, second.header)
    told = f"{len(first) - 1} steps: the recordings are the same"
    report_divergence(found, len(first) - 1, told, json, differences=differences, quiet=quiet)
    exit_if_damaged(problems)
