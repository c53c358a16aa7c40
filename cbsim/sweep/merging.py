"""`merge`: many small parts of a finished table put together into few large ones, which are read in less time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cbsim.sweep.table import arrow, current, numbers_of, part_name, write_part

__all__ = ["merge"]

FEWEST = 64  # parts from which on they are merged
ROWS = 1 << 16  # of a merged part at least, which is a single row group; few enough to bound memory
DISTINCT = ("digest",)  # texts of which no two rows have the same


def merge(folder: Path) -> None:
    """Merge the parts of a table whose sweep has ended.

    Parameters
    ----------
    folder : Path
        Of the parts.

    Raises
    ------
    OSError
        If the disk is full; all rows stay.

    Notes
    -----
    A merged part is named by the first and the last that it holds. It is there as a whole before these are removed;
    those that are left if that is interrupted count no longer, and are removed the next time.
    """
    for path in set(folder.glob("part-*.parquet")) - set(current(folder)):
        path.unlink(missing_ok=True)
    small = [path for path in current(folder) if len(numbers_of(path)) == 1]
    if len(small) < FEWEST:
        return
    for paths, table in _groups(small):
        first, last = numbers_of(paths[0])[0], numbers_of(paths[-1])[-1]
        repeated = [
            field.name for field in table.schema if field.type == arrow().string() and field.name not in DISTINCT
        ]
        write_part(table, folder / part_name(first, last), row_group_size=len(table), use_dictionary=repeated)
        for path in paths:
            path.unlink()


def _groups(paths: list[Path]) -> Iterator[tuple[list[Path], Any]]:
    """Read consecutive parts until there are rows enough; one alone is left as it is."""
    pa, parquet = arrow(), arrow("parquet")
    taken: list[Path] = []
    tables: list[Any] = []
    for path in paths:
        follows = not taken or numbers_of(path)[0] == numbers_of(taken[-1])[-1] + 1
        if taken and (not follows or sum(map(len, tables)) >= ROWS):
            if len(taken) > 1:
                yield taken, pa.concat_tables(tables).combine_chunks()
            taken, tables = [], []
        with parquet.ParquetFile(path) as file:
            tables.append(file.read(use_threads=False))
        taken.append(path)
    if len(taken) > 1:
        yield taken, pa.concat_tables(tables).combine_chunks()
