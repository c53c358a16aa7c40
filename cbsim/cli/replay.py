"""``cbsim replay``: re-simulation of a recording, with comparison of all hashes."""

from __future__ import annotations

from typing import Annotated

import typer

from cbsim.cli.output import print_problems, progress
from cbsim.cli.recordings import exit_if_damaged, open_recording, report_divergence, report_ending
from cbsim.errors import Problems

__all__ = ["replay"]


def replay(
    recording: Annotated[str, typer.Argument(metavar="REC", help="A recording (MCAP).")],
    json: Annotated[str | None, typer.Option(help="Write the result as JSON to a file, or to '-'.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print divergence only.")] = False,
) -> None:
    """Re-simulate a recording from its files and commands; exit 1 at the first divergence, 2 if it is damaged."""
    from cbsim.evaluation.replay import replay as prove
    from cbsim.recording.divergence import software_differences
    from cbsim.recording.header import software

    opened = open_recording(recording)
    problems = Problems()
    with progress("replaying", None, quiet=quiet):
        found = prove(opened)
        report_ending(recording, opened, problems)
    print_problems(problems)
    apart = software_differences(opened.header.software, software())
    told = f"{len(opened) - 1} steps of '{opened.header.scenario}' replayed: every hash is the same"
    report_divergence(found, len(opened) - 1, told, json, differences=apart, quiet=quiet)
    exit_if_damaged(problems)
