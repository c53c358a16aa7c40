"""``cbsim replay``: re-simulation of a recording, with comparison of all hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cbsim.cli.output import print_problems, print_status, progress
from cbsim.cli.recordings import exit_if_damaged, open_recording, report_divergence, report_ending
from cbsim.errors import Problems

if TYPE_CHECKING:
    from cbsim.recording.recording import Recording

__all__ = ["replay"]


def replay(
    recording: Annotated[str, typer.Argument(metavar="REC", help="A recording (MCAP).")],
    json: Annotated[str | None, typer.Option(help="Write the result as JSON to a file, or to '-'.")] = None,
    planners: Annotated[
        bool, typer.Option("--planners", help="Continue the planners from their checkpoints, too.")
    ] = False,
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
        if planners and found is None:
            _check_planners(opened)
        report_ending(recording, opened, problems)
    print_problems(problems)
    apart = software_differences(opened.header.software, software())
    told = f"{len(opened) - 1} steps of '{opened.header.scenario}' replayed: every hash is the same"
    report_divergence(found, len(opened) - 1, told, json, differences=apart, quiet=quiet)
    exit_if_damaged(problems)


def _check_planners(opened: Recording) -> None:
    """Continue the planners from their checkpoints; exit with 1 if one differs from the recorded run."""
    from cbsim.evaluation.resume import resume

    difference = resume(opened)
    if difference is not None:
        print_status(f"diverged: {difference}")
        raise typer.Exit(1)
