"""``cbsim replay``: step a recording again and prove every hash."""

from __future__ import annotations

from typing import Annotated

import typer

from cbsim.cli.output import print_problems, progress
from cbsim.cli.recordings import exit_if_damaged, open_recording, tell_divergence, tell_ending
from cbsim.errors import Problems

__all__ = ["replay"]


def replay(
    recording: Annotated[str, typer.Argument(metavar="REC", help="A recording (MCAP).")],
    json: Annotated[str | None, typer.Option(help="Write the result as JSON to a file, or to '-'.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print divergence only.")] = False,
) -> None:
    """Re-simulate a recording from the files and commands it carries; exit 1 on the first divergence, 2 on damage."""
    from cbsim.evaluation.replay import replay as prove
    from cbsim.recording.batch import software
    from cbsim.recording.divergence import unlike_software

    opened = open_recording(recording)
    problems = Problems()
    with progress("replaying", None, quiet=quiet):
        found = prove(opened)
        tell_ending(recording, opened, problems)
    print_problems(problems)
    apart = unlike_software(opened.header.software, software())
    told = f"{len(opened) - 1} steps of '{opened.header.scenario}' replayed: every hash is the same"
    tell_divergence(found, len(opened) - 1, told, json, apart=apart, quiet=quiet)
    exit_if_damaged(problems)
