"""``cbsim convert``: one format to another, with every loss named."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cbsim.cli.options import file_named, option_file
from cbsim.cli.output import print_warnings, progress, say
from cbsim.cli.recordings import open_recording, tell_ending
from cbsim.errors import Problems, UsageError, printable

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
FOXGLOVE = "foxglove"  # of recordings; not told by the suffix, which every recording has


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="The file to convert; recognised by its content.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="The file to write.")],
    to: Annotated[str | None, typer.Option(help="Format to write, where the suffix does not tell.")] = None,
    rndf: Annotated[str | None, typer.Option(help="Network by which open goals are expanded.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="What the target cannot hold is an error.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Convert a file; exit 2 if it cannot be done."""
    from cbsim.export.convert import convert_file

    source = file_named(source)
    if to == FOXGLOVE:
        _show(source, target, quiet=quiet)
        return
    problems = Problems()
    suffix = Path(target).suffix.lower()
    name = to or TARGETS.get(suffix)
    if name is None:
        raise UsageError(
            f"no format for the suffix '{suffix}'; name one with --to: {', '.join((*TARGETS.values(), FOXGLOVE))}"
        )
    try:
        text = convert_file(source, name, option_file(rndf, "rndf"), problems, strict=strict)
        problems.raise_if_any()
    finally:
        print_warnings(problems, quiet=quiet)
    try:
        Path(target).write_text(text, encoding="utf-8", newline="")
    except OSError as reason:
        raise UsageError(f"cannot write '{target}': {reason.strerror}") from None
    if not quiet:
        say(f"wrote {printable(str(target))} ({name})")


def _show(source: str, target: str, *, quiet: bool) -> None:
    """Write a recording with what Foxglove and Lichtblick show."""
    from cbsim.foxglove import add_foxglove

    recording, problems = open_recording(source), Problems()
    try:
        with progress(f"converting {source}", None, quiet=quiet):
            add_foxglove(recording, target)
        tell_ending(source, recording, problems)
    finally:
        print_warnings(problems, quiet=quiet)
    problems.raise_if_any()
    if not quiet:
        say(f"wrote {printable(str(target))} ({FOXGLOVE})")
