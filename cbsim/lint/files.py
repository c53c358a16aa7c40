"""`lint_files`: read files of any formats and apply every rule that fits, each file in the light of the others."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cbsim.errors import FileError, Problems
from cbsim.formats import Reading, read_file
from cbsim.paths import Files
from cbsim.spec.road import RoadNetwork

__all__ = ["lint_files"]


def lint_files(paths: Iterable[str | Path], rndf: str | Path | None, problems: Problems, *, strict: bool) -> None:
    """Lint files together.

    Parameters
    ----------
    paths : iterable of path
        The files.
    rndf : path or None
        A network for the missions and object files among them; else the first network among them serves.
    problems : Problems
        Collects what is found.
    strict : bool
        Missing sensor confs are errors.
    """
    named = list(paths)
    files = Files([*named, *([rndf] if rndf is not None else [])])
    readings = [r for path in named if (r := _read(path, files, problems)) is not None]
    context = None if rndf is None else _read(rndf, files, Problems())
    network = context.spec if context is not None else next((r.spec for r in readings if r.format.name == "rndf"), None)
    for reading in readings:
        if reading.spec is not None:
            _lint(reading, network, files, problems, strict=strict)


def _read(path: str | Path, files: Files, problems: Problems) -> Reading | None:
    try:
        reading = read_file(path, files)
    except FileError as error:
        problems.extend(error.problems)
        return None
    problems.extend(reading.problems)
    return reading


def _lint(reading: Reading, network: RoadNetwork | None, files: Files, problems: Problems, *, strict: bool) -> None:
    """Apply the rules of one format; imported when needed, so that a conf is checked without a geometry library."""
    match reading.format.name:
        case "rndf":
            from cbsim.lint.network import lint_network

            lint_network(reading.spec, problems)
        case "mdf":
            from cbsim.lint.mission import lint_mission

            lint_mission(reading.spec, network, problems)
        case "objects-v1" | "objects-v2":
            from cbsim.lint.objects import lint_objects

            lint_objects(reading.spec, network, files, problems, strict=strict)
        case "scenario":
            from cbsim.lint.scenario import lint_scenario

            lint_scenario(reading.spec, files, problems, strict=strict)
