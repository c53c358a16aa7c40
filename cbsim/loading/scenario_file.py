"""Scenario files: found by name, told from files of other formats, and read."""

from __future__ import annotations

import os.path
import re
from pathlib import Path

from cbsim.errors import FileError, Location, Problem, Problems, Severity, did_you_mean
from cbsim.formats import read_source, recognise
from cbsim.formats.reader import Source
from cbsim.paths import Files, data_folder, find_shipped, is_regular, shipped_names, stored_name
from cbsim.spec.scenario import Scenario

__all__ = ["check_format", "find_scenario", "read_scenario"]

SCENARIOS = ("", ".yaml", ".yml")
KEY = re.compile(r"(?m)^[ \t{]*[\w\"']+[ \t]*:")  # a file without a key near its beginning is not a scenario
HEAD = 65536


def find_scenario(name: str | None, files: Files | None = None) -> Path | None:
    """Find a scenario: an existing file of that name, else a shipped one.

    Parameters
    ----------
    name : str or None
        A path or a bare name.
    files : Files, optional
        Files to search in place of the disk; a replay searches its recording.

    Raises
    ------
    FileError
        If there is none.
    """
    if name is None:
        return None
    if is_regular(name) if files is None else files.exists(name):
        return Path(name)
    shipped = find_shipped(name) or _find_stored(name, files)
    if shipped is None:
        if files is None and (os.path.lexists(name) or Path(name).suffix.lower() not in SCENARIOS):
            Files([name]).require(name)  # a folder, a pipe, a broken link, or the name of another file
        known = shipped_names("scenarios", SCENARIOS[1:])
        message = f"no such scenario; shipped are {', '.join(known)}"
        place = Location(name[:200])
        models = [one.name for one in sorted((data_folder("scenarios") / "models").glob("*.*"))]
        hint = did_you_mean(Path(name).stem, [*known, *models])
        raise FileError(Problem(Severity.ERROR, "E011", message, place, hint))
    return shipped


def _find_stored(name: str, files: Files | None) -> Path | None:
    """Find a scenario that was shipped when the recording was made, but no longer is."""
    folder = data_folder("scenarios")
    prefix = stored_name(folder / "x").removesuffix("x")
    stored = (key.removeprefix(prefix) for key in (files.seen if files is not None else ()) if key.startswith(prefix))
    return next((folder / key for key in stored if key == name or Path(key).stem == name), None)


def read_scenario(name: str) -> Scenario:
    """Read a scenario file, but nothing that it names.

    Parameters
    ----------
    name : str
        A path, or the bare name of a shipped scenario.

    Raises
    ------
    FileError
        If there is none, or it has errors.
    """
    from cbsim.formats.scenario import read  # imported late: runs without a scenario file start faster

    path = find_scenario(name)
    assert path is not None
    problems = Problems()
    source = read_source(path, Files([path]))
    check_format(source)
    spec = read(source, problems)
    problems.raise_if_any()
    assert spec is not None
    return spec


def check_format(source: Source) -> None:
    """Refuse files of other formats, unless they are named like scenarios."""
    try:
        found = recognise(source)
    except FileError:
        if source.text.lstrip().startswith("<") or not KEY.search(source.text[:HEAD]):
            raise
        return
    if found.name != "scenario" and Path(source.path).suffix.lower() not in SCENARIOS[1:]:
        message = f"this is a file of format '{found.name}', expected a scenario"
        hint = "--rndf, --objects and --mdf name other files"
        raise FileError(Problem(Severity.ERROR, "E002", message, source.at(1), hint))
