"""Conversions of files to other formats; one line in `CONVERSIONS` each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cbsim.errors import Problems, UsageError
from cbsim.export.objects import to_v1, to_v2
from cbsim.formats import FORMATS, read_as
from cbsim.models import read_file
from cbsim.paths import Files
from cbsim.spec.road import RoadNetwork

__all__ = ["CONVERSIONS", "convert_file"]

Convert = Callable[[Any, RoadNetwork | None, Problems, bool], Any]  # spec, network, problems, strict


def _objects_to_v1(spec: Any, network: RoadNetwork | None, problems: Problems, _strict: bool) -> Any:
    return to_v1(spec, network, problems)


def _objects_to_v2(spec: Any, _network: RoadNetwork | None, problems: Problems, strict: bool) -> Any:
    return to_v2(spec, problems, strict=strict)


def _unchanged(spec: Any, _network: RoadNetwork | None, _problems: Problems, _strict: bool) -> Any:
    return spec


def _juice_to_urdf(spec: Any, _network: RoadNetwork | None, problems: Problems, _strict: bool) -> Any:
    from cbsim.export.juice import robot_of_juice

    return robot_of_juice(spec, problems)


def _shift_to_urdf(spec: Any, _network: RoadNetwork | None, problems: Problems, _strict: bool) -> Any:
    from cbsim.export.shift import robot_of_model

    return robot_of_model(spec, problems)


def _irit_to_urdf(spec: Any, _network: RoadNetwork | None, problems: Problems, _strict: bool) -> Any:
    from cbsim.export.irit import robot_of_walker

    return robot_of_walker(spec, problems)


def _network_to_geojson(spec: Any, _network: RoadNetwork | None, _problems: Problems, _strict: bool) -> Any:
    from cbsim.export.geojson import geojson_of_network

    return geojson_of_network(spec)


CONVERSIONS: dict[tuple[str, str], Convert] = {
    ("objects-v1", "objects-v1"): _objects_to_v1,
    ("objects-v2", "objects-v1"): _objects_to_v1,
    ("objects-v1", "objects-v2"): _objects_to_v2,
    ("objects-v2", "objects-v2"): _objects_to_v2,
    ("urdf", "urdf"): _unchanged,
    ("irit", "irit"): _unchanged,
    ("irit", "urdf"): _irit_to_urdf,
    ("juice", "juice"): _unchanged,
    ("juice", "urdf"): _juice_to_urdf,
    ("shift", "shift"): _unchanged,
    ("shift", "urdf"): _shift_to_urdf,
    ("rndf", "geojson"): _network_to_geojson,
}
WRITTEN = {"geojson"}  # write-only formats, whose conversions return text


def convert_file(
    source: str | Path, target_format: str, rndf: str | Path | None, problems: Problems, *, strict: bool = False
) -> str:
    """Convert a file to the text of another format.

    Parameters
    ----------
    source : path
        The file.
    target_format : str
        Name of a format, as in `cbsim.formats.FORMATS`, or ``geojson``.
    rndf : path or None
        Network by which open goals are expanded.
    problems : Problems
        Collects what the target cannot hold.
    strict : bool
        Such losses are errors.

    Raises
    ------
    FileError
        If the file or the network has errors.
    UsageError
        If there is no such conversion.
    """
    files = Files([source, *([rndf] if rndf is not None else [])])
    reading = read_file(source, files)
    problems.extend(reading.problems)
    problems.raise_if_any()
    step = CONVERSIONS.get((reading.format.name, target_format))
    if step is None:
        ways = ", ".join(f"{a} to {b}" for a, b in CONVERSIONS if a != b)
        raise UsageError(f"no conversion from {reading.format.name} to {target_format}; there is {ways}")
    network = None if rndf is None else _network(rndf, files)
    converted = step(reading.spec, network, problems, strict)
    problems.raise_if_any()
    if target_format in WRITTEN:
        return str(converted)
    writer = next(row for row in FORMATS if row.name == target_format).load().write
    return str(writer(converted))


def _network(path: str | Path, files: Files) -> RoadNetwork:
    problems = Problems()
    reading = read_as(("rndf",), path, files, problems)
    problems.raise_if_any()
    assert reading is not None
    assert isinstance(reading.spec, RoadNetwork)
    return reading.spec
