"""Rows of a sweep as a Parquet data set: written chunk by chunk, readable while it grows."""

from __future__ import annotations

import importlib
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cbsim.errors import UsageError
from cbsim.spec.sweep import Choice, Count, Normal, Range, Value, Variation
from cbsim.sweep.runs.row import parameter_column
from cbsim.sweep.space import is_whole

__all__ = ["ROWS", "Table", "arrow", "columns_of", "read", "require_arrow", "value_of"]

ROWS = "rows"  # folder of the parts
UNFINISHED = ".unfinished"  # ending of a part that is being written
FIRST = (("row", "int64"),)
MIDDLE = (
    ("seed", "int64"), ("verdict", "string"), ("score", "float64"), ("digest", "string"), ("steps", "int64"),
    ("time", "float64"), ("failure", "string"),
)  # fmt: skip
LAST = (("version", "string"), ("wall_time", "float64"), ("host", "string"))


def arrow(module: str = "") -> Any:
    """Import pyarrow, or a module of it.

    Raises
    ------
    UsageError
        If it is not installed.
    """
    try:
        return importlib.import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError:
        raise UsageError("sweeps need pyarrow: pip install 'cbsim[sweep]'") from None


def write_part(table: Any, path: Path, **options: Any) -> None:
    """Write a part of a table, which is there as a whole or not at all.

    Parameters
    ----------
    table : pyarrow.Table
    path : Path
    **options : Any
        Of `pyarrow.parquet.write_table`.

    Raises
    ------
    OSError
        If the disk is full.
    """
    unfinished = path.with_suffix(UNFINISHED)
    try:
        arrow("parquet").write_table(table, unfinished, compression="lz4", **options)
        with unfinished.open("rb+") as stream:
            os.fsync(stream.fileno())
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise


def require_arrow() -> None:
    """Refuse to begin without pyarrow."""
    arrow("parquet")


def columns_of(variations: Sequence[Variation], checks: Sequence[str], metrics: Sequence[str]) -> list[tuple[str, str]]:
    """Names and types of all columns, in order."""
    varied = [(parameter_column(one.key), type_of(one)) for one in variations if one.key != "seed"]
    return [
        *FIRST, *varied, *MIDDLE, *((name, "bool") for name in checks), *((name, "float64") for name in metrics), *LAST
    ]  # fmt: skip


def type_of(one: Variation) -> str:
    """Type of the column of a varied key."""
    values = one.values
    if isinstance(values, Count) or (isinstance(values, Range) and is_whole(values)):
        return "int64"
    if isinstance(values, Range | Normal):
        return "float64"
    kinds = {bool if isinstance(v, bool) else type(v) for v in values.values}
    if kinds <= {int, float}:
        return "float64"
    if kinds == {bool}:
        return "bool"
    wanted = {json.dumps(v, sort_keys=True) for v in values.values}
    texts = {_fitting(v, "string") for v in values.values}
    return "string" if len(texts) == len(wanted) else "json"  # '1' and 1 are different values


def value_of(one: Variation, cell: Any) -> Value:
    """Value of a varied key that a row has: of a choice, the one whose cell it is."""
    if not isinstance(one.values, Choice):
        found: Value = cell
        return found
    kind = "int64" if one.key == "seed" else type_of(one)
    return next((value for value in one.values.values if _fitting(value, kind) == cell), cell)


class Table:
    """Parts of a data set in a folder.

    Parameters
    ----------
    folder : Path
        Of the sweep.
    columns : sequence of (str, str)
        As `columns_of`.
    version : str
    """

    def __init__(self, folder: Path, columns: Sequence[tuple[str, str]], version: str) -> None:
        self.folder, self.version = folder / ROWS, version
        self.columns = list(columns)
        pa = arrow()
        kinds = {
            "int64": pa.int64(),
            "float64": pa.float64(),
            "bool": pa.bool_(),
            "string": pa.string(),
            "json": pa.string(),
        }
        self.schema = pa.schema([(name, kinds[kind]) for name, kind in columns])

    def write(self, number: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write a part as a whole: it is there entirely, or not at all.

        Raises
        ------
        OSError
            If the disk is full.
        """
        pa = arrow()
        fitted = [self.fitted(row) for row in rows]
        arrays = [pa.array([row[field.name] for row in fitted], field.type) for field in self.schema]
        table = pa.table(arrays, schema=self.schema)
        write_part(table, self.folder / part_name(number), use_dictionary=["version", "host", "verdict"])

    def fitted(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row with all columns, each of its type."""
        return {name: _fitting(row.get(name), kind) for name, kind in self.columns} | {"version": self.version}

    def rows(self, numbers: Iterable[int]) -> list[dict[str, Any]]:
        """Read the rows of some parts that are not merged, in their order."""
        parquet = arrow("parquet")
        tables = (parquet.read_table(self.folder / part_name(number)) for number in numbers)
        return [row for table in tables for row in table.to_pylist()]

    def done(self) -> set[int]:
        """Numbers of the parts that are there."""
        return {number for path in current(self.folder) for number in numbers_of(path)}


def part_name(number: int, last: int | None = None) -> str:
    """File name of a part, or of several that are merged.

    >>> part_name(12), part_name(0, 65)
    ('part-000012.parquet', 'part-000000-000065.parquet')
    """
    return f"part-{number:06d}.parquet" if last is None else f"part-{number:06d}-{last:06d}.parquet"


def numbers_of(path: Path) -> range:
    """Return the numbers of the parts that a file holds.

    >>> numbers_of(Path("part-000012.parquet")), numbers_of(Path("part-000000-000065.parquet"))
    (range(12, 13), range(0, 66))
    """
    first, _, last = path.stem.removeprefix("part-").partition("-")
    return range(int(first), int(last or first) + 1)


def current(folder: Path) -> list[Path]:
    """Files of the parts in a folder, in order, without those that a merged one holds, too."""
    found: list[Path] = []
    end = 0  # of the numbers so far
    files = {path: numbers_of(path) for path in folder.glob("part-*.parquet")}
    for path, numbers in sorted(files.items(), key=lambda item: (item[1].start, -item[1].stop)):
        if numbers.stop > end:
            found.append(path)
            end = numbers.stop
    return found


def _fitting(value: Any, kind: str) -> Any:
    """Convert a value to the type of its column; numbers that are not finite become null."""
    if value is None:
        return None
    if kind == "float64":
        number = float(value)
        return number if math.isfinite(number) else None
    if kind in ("string", "json"):
        text = value if kind == "string" and isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return text.encode("utf-8", "replace").decode("utf-8")
    return value


def parts(folder: str | Path) -> list[Path]:
    """Files of the parts that are there, in order.

    Raises
    ------
    UsageError
        If the folder holds no sweep.
    """
    root = Path(folder)
    if not (root / "sweep.json").is_file():
        raise UsageError(f"'{folder}' holds no sweep: there is no 'sweep.json' in it")
    return current(root / ROWS)


def read(folder: str | Path, columns: Iterable[str] | None = None) -> Any:
    """Read the rows of a sweep, in order, also while it is running.

    Parameters
    ----------
    folder : str or Path
    columns : iterable of str, optional
        By default all.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    UsageError
        If the folder holds no sweep, or nothing has been written yet.
    """
    names = None if columns is None else list(dict.fromkeys(["row", *columns]))
    try:
        table = _table(folder, names)
    except FileNotFoundError:  # its sweep has ended, and merged what was listed
        table = _table(folder, names)
    rows = table["row"].to_numpy()
    return table if (rows[1:] > rows[:-1]).all() else table.sort_by("row")  # parts are in order: sorting is dear


def _table(folder: str | Path, names: list[str] | None) -> Any:
    """Read columns of all parts."""
    files = parts(folder)
    if not files:
        raise UsageError(f"the sweep in '{folder}' has no rows yet")
    dataset = arrow("dataset").dataset([str(path) for path in files], format="parquet")
    return dataset.to_table(columns=names)
