"""``cbsim convert``: conversion between formats, with a warning for each loss."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cbsim.cli.options import file_named, option_file
from cbsim.cli.output import print_status, print_warnings, progress
from cbsim.cli.recordings import open_recording, report_ending
from cbsim.errors import Problems, UsageError, printable
from cbsim.paths import writing

__all__ = ["convert"]

TARGETS = {
    ".obj": "objects-v1",
    ".xml": "objects-v2",
    ".urdf": "urdf",
    ".jm": "juice",
    ".json": "shift",
    ".itd": "irit",
    ".geojson": "geojson",
}
FOXGLOVE, PARQUET, ROS2 = RECORDING_TARGETS = "foxglove", "parquet", "ros2"  # all but PARQUET have a recording's suffix


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="The file to convert; recognised by its content.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="The file to write.")],
    to: Annotated[str | None, typer.Option(help="Format to write; by default that of the suffix.")] = None,
    rndf: Annotated[str | None, typer.Option(help="Network used to expand goals without waypoints.")] = None,
    ros2: Annotated[bool, typer.Option("--ros2", help="Write a recording as a bag of ROS 2; as --to ros2.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Losses are errors.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Convert a file to another format; exit 2 if that is not possible."""
    from cbsim.export.convert import convert_file

    source = file_named(source)
    if ros2 and to not in (None, ROS2):
        raise UsageError(f"--ros2 and --to {to} name two formats")
    kind = ROS2 if ros2 else to or Path(target).suffix.lower().removeprefix(".")
    if kind == PARQUET or (kind in RECORDING_TARGETS and (ros2 or to is not None)):
        _convert_recording(source, target, kind, quiet=quiet)
        return
    problems = Problems()
    suffix = Path(target).suffix.lower()
    name = to or TARGETS.get(suffix)
    if name is None:
        known = ", ".join((*TARGETS.values(), *RECORDING_TARGETS))
        raise UsageError(f"no format for the suffix '{suffix}'; name one with --to: {known}")
    try:
        text = convert_file(source, name, option_file(rndf, "rndf"), problems, strict=strict)
        problems.raise_if_any()
    finally:
        print_warnings(problems, quiet=quiet)
    with writing(target):
        Path(target).write_text(text, encoding="utf-8", newline="")
    if not quiet:
        print_status(f"wrote {printable(str(target))} ({name})")


def _convert_recording(source: str, target: str, name: str, *, quiet: bool) -> None:
    """Write a recording with channels for Foxglove and Lichtblick, as a bag of ROS 2, or its motion as a table."""
    from cbsim.foxglove import add_foxglove
    from cbsim.ros2 import write_ros2

    recording, problems = open_recording(source), Problems()
    try:
        with progress(f"converting {source}", None, quiet=quiet):
            if name == FOXGLOVE:
                add_foxglove(recording, target)
            elif name == ROS2:
                write_ros2(recording, target)
            else:
                recording.to_parquet(target)
        report_ending(source, recording, problems)
    finally:
        print_warnings(problems, quiet=quiet)
    problems.raise_if_any()
    if not quiet:
        print_status(f"wrote {printable(str(target))} ({name})")
