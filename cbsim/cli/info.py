"""``cbsim info``: what a file holds."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from cbsim.cli.output import emit, print_problems, write_json
from cbsim.errors import FileError, Problems, Severity

__all__ = ["info"]


def info(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of any known format.")],
    json: Annotated[bool, typer.Option("--json", help="Print an object.")] = False,
) -> None:
    """Count what a file holds; exit 2 if it has errors."""
    from cbsim.formats import read_file

    data: dict[str, Any] = {"format": None}
    try:
        reading = read_file(file)
        problems = reading.problems
        data["format"] = reading.format.name
        if reading.spec is not None:
            data |= reading.format.load().count(reading.spec)
    except FileError as error:
        problems = error.problems
    data |= {"errors": problems.count(Severity.ERROR), "warnings": problems.count(Severity.WARNING)}
    if json:
        write_json(data, "-")
    else:
        _print(file, data, problems)
    sys.exit(2 if data["errors"] else 0)


def _print(file: str, data: dict[str, Any], problems: Problems) -> None:
    print_problems(problems, quiet=True)
    emit(file)
    for key, value in data.items():
        emit(f"  {key:<18} {value:g}" if isinstance(value, float) else f"  {key:<18} {value}")
