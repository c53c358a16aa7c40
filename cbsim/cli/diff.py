"""``cbsim diff``: where two recordings part."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cbsim.cli.output import emit, progress
from cbsim.cli.recordings import open_recording

__all__ = ["diff"]


def diff(
    one: Annotated[str, typer.Argument(metavar="A", help="A recording (MCAP).")],
    other: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print divergence only.")] = False,
) -> None:
    """Compare two recordings hash by hash; exit 1 with the first divergence."""
    from cbsim.run.replay import diff as compare

    first, second = open_recording(one), open_recording(other)
    with progress("comparing", None, quiet=quiet):
        found = compare(first, second)
    if found is not None:
        emit(f"diverged: {found}")
        sys.exit(1)
    if not quiet:
        emit(f"{len(first)} steps: the recordings are the same")
