"""`replay`: a row of a sweep run again, and compared bit for bit."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, NamedTuple

from cbsim.errors import UsageError
from cbsim.sweep.folder import Folder
from cbsim.sweep.runs.row import OUTSIDE, parameter_column
from cbsim.sweep.runs.task import runner_for, working_directory
from cbsim.sweep.space import Point, setting_text
from cbsim.sweep.table import Table, read, value_of

__all__ = ["Again", "command_of", "point_of", "replay"]


class Again(NamedTuple):
    """A row that was run again.

    Attributes
    ----------
    row, made : dict
        The row of the sweep, and that of the run.
    differences : list of str
        Columns that differ; empty if the run is the same, bit for bit.
    """

    row: dict[str, Any]
    made: dict[str, Any]
    differences: list[str]


def point_of(folder: Folder, row: dict[str, Any]) -> Any:
    """Point of a row, from its parameters; of a path of a rare event, the path."""
    plan = folder.plan
    if plan.search.get("kind") == "rare":
        from cbsim.sweep.rare_events import path_of_row

        return path_of_row(row)
    if not plan.search:
        return plan.space()[int(row["row"])]
    return Point(int(row["row"]), tuple(value_of(one, row[parameter_column(one.key)]) for one in plan.variations))


def row_of(folder: str | Path, number: int) -> dict[str, Any]:
    """Find a row.

    Raises
    ------
    UsageError
        If it is not there.
    """
    table = read(folder)
    rows = table["row"].to_numpy()
    place = int(rows.searchsorted(number))
    if place >= len(rows) or rows[place] != number:
        raise UsageError(
            f"there is no row {number} in '{folder}': it has {len(rows)} rows, from {rows[0]} to {rows[-1]}"
        )
    found: dict[str, Any] = table.slice(place, 1).to_pylist()[0]
    return found


def replay(folder: str | Path, number: int, record: str | Path | None = None) -> Again:
    """Run a row of a sweep again, and compare all columns but the wall time and the host.

    Parameters
    ----------
    folder : str or Path
    number : int
        The row.
    record : str or Path, optional
        File of the recording.

    Raises
    ------
    UsageError
        If there is no such row.
    """
    opened, row = Folder.opened(folder), row_of(folder, number)
    target = None if record is None else str(Path(record).absolute())
    with working_directory(opened.plan.folder):
        made = runner_for(opened.plan).run(point_of(opened, row), target)
    fitted = Table(Path(folder), opened.columns, opened.version).fitted(made)
    left_out = {*OUTSIDE, "version"}
    differing = [name for name, _ in opened.columns if name not in left_out and fitted[name] != row[name]]
    return Again(row, fitted, differing)


def command_of(folder: Folder, point: Any) -> str:
    """Command that runs a point by itself; of a path with forks, the replay of its row."""
    plan = folder.plan
    if getattr(point, "forks", ()):  # no command of a run has forks
        return shlex.join(["cbsim", "sweep", "replay", str(folder.path), str(point.row)])
    words = ["cbsim", "run", plan.scenario]
    for name, planner in plan.planner.items():
        words += ["--planner", f"{name}={planner}" if name else planner]
    settings = dict(plan.settings)
    seed: object = getattr(point, "seed", plan.seed)
    for one, value in zip(plan.variations, point.values, strict=True):
        if one.key == "seed":
            seed = value
        else:
            settings[one.key] = setting_text(value)
    for key, text in settings.items():
        words += ["--set", f"{key}={text}"]
    for option, number in (("seed", seed), ("step", plan.step), ("duration", plan.duration)):
        words += [] if number is None else [f"--{option}", str(number)]
    return shlex.join(words)
