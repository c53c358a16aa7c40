"""Work of a worker, wherever it runs: a chunk of rows, and a description of what rows will look like."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cbsim.errors import UsageError
from cbsim.sweep.plan import Plan
from cbsim.sweep.space import Point

__all__ = ["Chunk", "Description", "ForeignWorkerError", "describe", "forget", "run_chunk", "working_directory"]


class ForeignWorkerError(UsageError):
    """A worker has other versions, or another architecture, than the sweep began with."""


class Description(NamedTuple):
    """What a worker finds out about a plan before anything runs.

    Attributes
    ----------
    checks, metrics : list of str
        Columns.
    identity : dict
        As of `cbsim.sweep.runs.identity.identity_of`.
    warnings : list of str
    """

    checks: list[str]
    metrics: list[str]
    identity: dict[str, dict[str, str]]
    warnings: list[str]


class Chunk(NamedTuple):
    """Rows that are run, and written, together.

    Attributes
    ----------
    number : int
    points : tuple of Point
        Or of `cbsim.sweep.runs.paths.Path`, for a rare event.
    record : str
        ``failed``, ``all`` or ``none``: which rows are recorded.
    folder : str
        Folder of the sweep.
    versions : dict
        Of the sweep; a worker with others refuses.
    recordings : int
        How many failed rows are recorded at most.
    """

    number: int
    points: tuple[Any, ...]
    record: str = "none"
    folder: str = ""
    versions: dict[str, str] = {}  # noqa: RUF012
    recordings: int = 0


_runner: list[tuple[str, Any]] = []


def runner_of(plan: Plan) -> Any:
    """Runner of a plan, kept from chunk to chunk of a process."""
    if not _runner or _runner[0][0] != plan.text:
        if plan.folder and Path(plan.folder).is_dir():
            os.chdir(plan.folder)
            if plan.folder not in sys.path:
                sys.path.insert(0, plan.folder)
        _runner[:] = [(plan.text, runner_for(plan))]
    return _runner[0][1]


def runner_for(plan: Plan) -> Any:
    """Make the runner of a plan."""
    if plan.search.get("kind") == "rare":
        from cbsim.sweep.runs.paths import PathRunner

        return PathRunner(plan)
    from cbsim.sweep.runs.row import Runner

    return Runner(plan)


def forget() -> None:
    """Forget the Worlds that are kept."""
    _runner.clear()


@contextmanager
def working_directory(folder: str) -> Iterator[None]:
    """Work in another folder for a while, where it exists."""
    before = Path.cwd()
    if folder and Path(folder).is_dir():
        os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def describe(plan: Plan, point: Point) -> Description:
    """Load the first point, and find out what rows will look like.

    Raises
    ------
    FileError, ModelError, UsageError
        If it cannot be loaded, or the planner does not exist.
    """
    from cbsim.sweep.runs.identity import identity_of

    runner = runner_of(plan)
    world, _, _ = runner.world(point)
    runner.require_planner(world)
    checks, metrics = runner.columns(point)
    return Description(checks, metrics, identity_of(world), list(map(str, runner.warnings)))


def run_chunk(plan: Plan, chunk: Chunk, progress: Callable[[int], None] | None = None) -> list[dict[str, Any]]:
    """Run the rows of a chunk, in order.

    Parameters
    ----------
    plan : Plan
    chunk : Chunk
    progress : callable, optional
        Called with the number of rows done, after each.

    Raises
    ------
    ForeignWorkerError
        If this process would give other bits.
    """
    from cbsim.sweep.runs.identity import versions

    if chunk.versions and (found := _foreign(chunk.versions, versions())):
        import platform

        raise ForeignWorkerError(f"the node '{platform.node()}' is refused: {found}")
    runner = runner_of(plan)
    rows: list[dict[str, Any]] = []
    left = chunk.recordings
    for done, point in enumerate(chunk.points, 1):
        rows.append(_run_one(runner, chunk, point, left=left))
        left -= _is_recorded(rows[-1])
        if progress is not None:
            progress(done)
    return rows


def _foreign(wanted: dict[str, str], here: dict[str, str]) -> str:
    return "; ".join(
        f"{name} is {here.get(name, 'none')}, the sweep has {text}" for name, text in wanted.items()
        if here.get(name) != text
    )  # fmt: skip


def _is_recorded(row: dict[str, Any]) -> bool:
    """Whether a row is one to be recorded: it failed, and has steps."""
    return row["verdict"] != "pass" and bool(row.get("digest"))


def _run_one(runner: Any, chunk: Chunk, point: Point, left: int) -> dict[str, Any]:
    """Run a row; one that failed runs again to be recorded, which is rarer than recording all of them."""
    from cbsim.sweep.runs.row import recording_file

    if chunk.record == "none":
        return dict(runner.run(point))
    path = recording_file(chunk.folder, point.row)
    path.parent.mkdir(exist_ok=True)
    if chunk.record == "all":
        return dict(runner.run(point, str(path)))
    row: dict[str, Any] = runner.run(point)
    if left > 0 and _is_recorded(row):
        runner.run(point, str(path))
    return row


def failed_row(point: Point, names: Sequence[str], reason: str) -> dict[str, Any]:
    """Row of a point whose worker died."""
    values = dict(zip(names, point.values, strict=True))
    seed = values.get("seed")
    return {
        "row": point.row, "verdict": "error", "failure": reason, "seed": seed if isinstance(seed, int) else None,
        **{name: value for name, value in values.items() if name != "seed"},
    }  # fmt: skip
