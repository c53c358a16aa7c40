"""Preparation of a sweep: its plan described in a worker, its folder made, and what it depends on compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cbsim.errors import CbsimError, UsageError
from cbsim.spec.sweep import Choice, Value
from cbsim.sweep.constraints import Constraint
from cbsim.sweep.folder import Folder
from cbsim.sweep.plan import Plan
from cbsim.sweep.runs.identity import differences
from cbsim.sweep.runs.pool import LostWorkerError, Pool
from cbsim.sweep.runs.task import Description
from cbsim.sweep.space import Point
from cbsim.sweep.table import columns_of, require_arrow

__all__ = ["begin", "examples", "require_same"]


def begin(folder: str | Path, plan: Plan, pool: Pool, first: Any, extra: Sequence[tuple[str, str]] = ()) -> Folder:
    """Describe a plan in a worker, and make its folder.

    Raises
    ------
    UsageError, FileError
        If the first point cannot be loaded, or a search is by a column that there is not.
    """
    require_arrow()
    description = _described(pool, plan, first)
    columns = [*columns_of(plan.variations, description.checks, description.metrics), *extra]
    manifest = {"plan": plan.to_json(), "identity": description.identity, "columns": columns}
    if plan.search.get("column") and plan.search["kind"] != "rare":
        from cbsim.sweep.searchers import require_column

        require_column(plan.search["column"], columns)
    return Folder.made(folder, manifest)


def require_same(folder: Folder, pool: Pool, first: Any) -> None:
    """Refuse to continue a sweep whose rows would be of another kind."""
    found = differences(folder.manifest["identity"], _described(pool, folder.plan, first).identity)
    if found:
        raise UsageError(f"'{folder.path}' cannot be resumed: {'; '.join(found[:5])}. Begin a new sweep")


def _described(pool: Pool, plan: Plan, first: Any) -> Description:
    """Describe the first point, with the files and planners of the other values that may name some."""
    try:
        description = pool.describe(plan, first)
    except LostWorkerError as lost:
        raise UsageError(f"the first run cannot be prepared: {lost}") from None
    identity = {kind: dict(digests) for kind, digests in description.identity.items()}
    for point in examples(plan, first):
        try:
            found = pool.describe(plan, point).identity
        except (CbsimError, LostWorkerError):  # an error of its rows, not of the sweep
            continue
        for kind, digests in found.items():
            identity[kind] |= digests
    return description._replace(identity=identity)


def examples(plan: Plan, first: Any) -> Iterator[Point]:
    """Yield a point for each value, beyond those of the first point, that may name a file or a planner.

    Parameters
    ----------
    plan : Plan
    first : Point or Path

    Returns
    -------
    iterator of Point
        The first point with one value replaced, or, if the constraints refuse that, another point with the value.
    """
    names = [one.key for one in plan.variations]
    constraints = [Constraint(text, names) for text in plan.where]
    for place, one in enumerate(plan.variations):
        if one.key == "seed" or not isinstance(one.values, Choice):
            continue
        seen = [first.values[place]]
        for value in one.values.values:
            if value in seen or not _names_something(value):
                continue
            seen.append(value)
            values = (*first.values[:place], value, *first.values[place + 1 :])
            point: Point | None = Point(0, values)
            if not all(constraint(dict(zip(names, values, strict=True))) for constraint in constraints):
                point = None if plan.search else next((p for p in plan.space() if p.values[place] == value), None)
            if point is not None:
                yield point


def _names_something(value: Value | object) -> bool:
    """Whether there is text in a value."""
    if isinstance(value, dict):
        return any(map(_names_something, value.values()))
    return any(map(_names_something, value)) if isinstance(value, list) else isinstance(value, str)
