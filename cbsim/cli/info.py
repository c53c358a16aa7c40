"""``cbsim info``: contents of a file, as counts."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from cbsim.cli.options import file_named
from cbsim.cli.output import print_problems, print_result, write_json
from cbsim.cli.recordings import is_recording_file, open_recording, problems_of, report_ending
from cbsim.errors import FileError, Problems, RecordingError, Severity, UsageError, printable

__all__ = ["info"]


def info(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of any known format.")],
    json: Annotated[str | None, typer.Option(help="Write the counts as JSON to a file, or to '-'.")] = None,
    junction: Annotated[
        str | None,
        typer.Option(metavar="POINT", help="Who goes first at the junction of a stop line or waypoint, such as 2.1.4."),
    ] = None,
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
    rows = [] if junction is None or data["errors"] else _add_junction(file, junction, data)
    if json is not None:
        write_json(data, json)
    if json != "-":
        _print(file, {key: value for key, value in data.items() if key != "junction"}, problems)
        for row in rows:
            print_result(row)
    sys.exit(2 if data["errors"] else 0)


def _file(file: str) -> tuple[dict[str, Any], Problems]:
    """Count the contents of a file of a known format."""
    from cbsim.models import count, read_file

    reading = read_file(file)
    return {"format": reading.format.name, **count(reading)}, reading.problems


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
        "objects": len(header.objects.single),
        **(
            {"pools": len(header.pools), "cars": len(header.objects) - len(header.objects.single)}
            if header.pools
            else {}
        ),
        **({"recorded": header.traffic} if header.traffic != "all" else {}),
        "sensors": len(header.sensors),
        "scans": scans,
        "commands": len(recording.commands()),
    }
    return {"format": "recording", **counts}, problems


def _add_junction(file: str, point: str, data: dict[str, Any]) -> list[str]:
    """Put the junction at a point into the data, and give its table in lines."""
    from cbsim.formats import read_file
    from cbsim.road.junction_table import junction_data, junction_lines
    from cbsim.spec.road import RoadNetwork

    network = read_file(file).spec
    if not isinstance(network, RoadNetwork):
        raise UsageError(f"--junction is for road networks; '{printable(file)}' is of format {data['format']}")
    data["junction"] = junction_data(network, point)
    return junction_lines(data["junction"])


def _print(file: str, data: dict[str, Any], problems: Problems) -> None:
    print_problems(problems, quiet=True)
    print_result(printable(file))
    for key, value in data.items():
        print_result(f"  {key:<18} {value:g}" if isinstance(value, float) else f"  {key:<18} {value}")
