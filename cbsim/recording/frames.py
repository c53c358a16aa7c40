"""Motion of everybody recorded as a tidy table: a pandas data frame, or a Parquet file."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Ints
from cbsim.errors import UsageError
from cbsim.geometry.pose import heading, rotate
from cbsim.paths import writing
from cbsim.recording.batch import Batch, Header
from cbsim.recording.roster import Roster
from cbsim.world.motion import ABSENT_BELOW, MOTION

__all__ = ["COLUMNS", "frame_of", "write_parquet"]

COLUMNS = ("time", "object", "x", "y", "heading", "speed", "length", "width")
Table = dict[str, NDArray[Any]]


def frame_of(header: Header, batches: Iterable[Batch]) -> Any:
    """Gather the table of a recording; as `Recording.to_frame`."""
    pandas = _library("pandas")
    parts = list(tables_of(header, batches))
    joined = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS} if parts else {}
    return pandas.DataFrame(joined, columns=list(COLUMNS))


def write_parquet(header: Header, batches: Iterable[Batch], path: str | Path) -> None:
    """Write the table of a recording batch by batch; as `Recording.to_parquet`."""
    arrow, parquet = _library("pyarrow"), _library("pyarrow.parquet")
    kinds = [(name, arrow.string() if name == "object" else arrow.float64()) for name in COLUMNS]
    schema = arrow.schema(kinds)
    with writing(path), parquet.ParquetWriter(str(path), schema) as writer:
        for table in tables_of(header, batches):
            columns = [arrow.array(table[name].tolist(), kind) for name, kind in kinds]
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))


def _library(name: str) -> Any:
    """Import a library of the extra `frames`."""
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        library = (missing.name or name).partition(".")[0]
        raise UsageError(
            f"tables need the extra 'frames' ({library} is missing): pip install 'cbsim[frames]'"
        ) from None


def tables_of(header: Header, batches: Iterable[Batch]) -> Iterator[Table]:
    """Iterate over the tables of batches: a row for each step and body that is held and there, in that order."""
    roster = Roster(header.objects)
    for batch in batches:
        roster.take(batch.events)
        yield _table(header, batch, roster)


def _table(header: Header, batch: Batch, roster: Roster) -> Table:
    rows = np.array(header.moving, np.int64) if batch.rows is None else batch.rows
    motion, objects = batch.motion, header.objects
    there = np.nonzero(motion[:, :, 2] > ABSENT_BELOW) if motion.size else (np.zeros(0, np.int64),) * 2
    found, step, column = motion[there], batch.steps[there[0]], there[1]
    sizes = np.array([objects[row].get("size") or (np.nan,) * 3 for row in rows.tolist()], float).reshape(-1, 3)
    ahead = rotate(found[:, MOTION["orientation"]], np.array([0.0, 1.0, 0.0]))
    return {
        "time": step * header.step,
        "object": _names(objects.names, roster, rows, step, column),
        "x": found[:, 0],
        "y": found[:, 1],
        "heading": np.asarray(heading(found[:, MOTION["orientation"]])).reshape(-1),
        "speed": (ahead * found[:, MOTION["velocity"]]).sum(axis=1),
        "length": sizes[column, 1],
        "width": sizes[column, 0],
    }


def _names(names: Any, roster: Roster, rows: Ints, step: Ints, column: NDArray[np.intp]) -> NDArray[np.object_]:
    """Names of who is where, shape (n,), as shared texts."""
    known = np.array([names[row] for row in rows.tolist()], object)
    found = known[column] if len(known) else np.zeros(0, object)
    for k, row in enumerate(rows.tolist()):
        if roster.is_flow(row):
            own = np.flatnonzero(column == k)
            found[own] = roster.names_over(row, step[own])
    return np.asarray(found)
