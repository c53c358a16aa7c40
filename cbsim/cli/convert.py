"""``cbsim convert``: one format to another, with every loss named."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cbsim.cli.output import print_warnings, say
from cbsim.errors import Problems, UsageError

__all__ = ["convert"]

TARGETS = {
    ".obj": "objects-v1",
    ".xml": "objects-v2",
    ".urdf": "urdf",
    ".jm": "juice",
    ".json": "shift",
    ".itd": "irit",
}


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="The file to convert; recognised by its content.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="The file to write.")],
    to: Annotated[str | None, typer.Option(help="Format to write, where the suffix does not tell.")] = None,
    rndf: Annotated[str | None, typer.Option(help="Network by which open goals are expanded.")] = None,
    strict: Annotated[bool, typer.Option(help="What the target cannot hold is an error.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Convert a file; exit 2 if it cannot be done."""
    from cbsim.export.convert import convert_file

    problems = Problems()
    suffix = Path(target).suffix.lower()
    name = to or TARGETS.get(suffix)
    if name is None:
        raise UsageError(f"no format for the suffix '{suffix}'; name one with --to: {', '.join(TARGETS.values())}")
    try:
        text = convert_file(source, name, rndf, problems, strict=strict)
        problems.raise_if_any()
    finally:
        print_warnings(problems, quiet=quiet)
    try:
        Path(target).write_text(text, encoding="utf-8", newline="")
    except OSError as reason:
        raise UsageError(f"cannot write '{target}': {reason.strerror}") from None
    if not quiet:
        say(f"wrote {target} ({name})")
