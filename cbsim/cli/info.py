"""``cbsim info``: contents of a file, as counts."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from cbsim.cli.options import file_named
from cbsim.cli.output import print_problems, print_result, write_json
from cbsim.cli.recordings import is_recording_file, open_recording, problems_of, report_ending
from cbsim.errors import FileError, Problems, RecordingError, Severity, printable

__all__ = ["info"]


def info(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of any known format.")],
    json: Annotated[str | None, typer.Option(help="Write the counts as JSON to a file, or to '-'.")] = None,
) -> None:
    """Count the contents of a file; exit 2 if it has errors."""
    data: dict[str, Any] = {"format": None}
    file = file_named(file)
    try:
        counts, problems = _recording(file) if is_recording_file(file) else _file(file)
        data |= counts
    except FileError as error:
        problems = error.problems
    except RecordingError as error:
        problems = problems_of(file, error)
    data |= {"errors": problems.count(Severity.ERROR), "warnings": problems.count(Severity.WARNING)}
    if json is not None:
        write_json(data, json)
    if json != "-":
        _print(file, data, problems)
    sys.exit(2 if data["errors"] else 0)


def _file(file: str) -> tuple[dict[str, Any], Problems]:
    """Count the contents of a file of a known format."""
    from cbsim.formats import read_file

    reading = read_file(file)
    counts = {} if reading.spec is None else reading.format.load().count(reading.spec)
    return {"format": reading.format.name, **counts}, reading.problems


def _recording(file: str) -> tuple[dict[str, Any], Problems]:
    """Count the contents of a recording."""
    recording = open_recording(file)
    scans = sum(len(batch.scans) for batch in recording.batches())
    header, problems = recording.header, Problems()
    report_ending(file, recording, problems)
    counts = {
        "scenario": header.scenario,
        "steps": max(len(recording) - 1, 0),
        "duration": float(recording.times[-1]) if len(recording) else 0.0,
        "seed": header.seed,
        "objects": len(header.objects),
        "sensors": len(header.sensors),
        "scans": scans,
        "commands": len(recording.commands()),
    }
    return {"format": "recording", **counts}, problems


def _print(file: str, data: dict[str, Any], problems: Problems) -> None:
    print_problems(problems, quiet=True)
    print_result(printable(file))
    for key, value in data.items():
        print_result(f"  {key:<18} {value:g}" if isinstance(value, float) else f"  {key:<18} {value}")
