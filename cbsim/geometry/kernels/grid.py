"""Hash grid: boxes sorted into cells, and those near another box.

A cell is three whole numbers: its places along the axes, or along two axes and its level in a hierarchy of grids. Cells
share the buckets of a hash table (Teschner et al., Optimized spatial hashing for collision detection of deformable
objects, VMV 2003), into which items are sorted by counting. The caller chooses the cells, wide enough for the range in
which it searches.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbsim.jit import inlined, inner

__all__ = ["BUCKET", "CELL_COLUMNS", "NO_BUCKET", "Grid", "make_grid", "near_into", "overlap", "sort_into_buckets"]

BUCKET, CELL_COLUMNS = 3, 4  # columns of cells after the three numbers
NO_BUCKET = -1  # of items that are in no cell
FEW = 27  # cells of a range that are always visited one by one: those around a cell in three dimensions


class Grid(NamedTuple):
    """Tables of a grid.

    Attributes
    ----------
    cells : (items, 4) int64
        Cell of each item, and its bucket, or `NO_BUCKET`.
    starts : (buckets + 1,) int64
        Items of bucket k are ``order[starts[k]:starts[k + 1]]``; the number of buckets is a power of two.
    order : (items,) int64
    boxes : (items, 2 axes)
        Least and largest coordinates, in that order.
    near : (items,) int64
        Result of a search.
    """

    cells: Annotated[NDArray[np.int64], (CELL_COLUMNS,)]
    starts: NDArray[np.int64]
    order: NDArray[np.int64]
    boxes: NDArray[np.float64]
    near: NDArray[np.int64]


def make_grid(items: int, axes: int) -> Grid:
    """Allocate the tables of a grid."""
    buckets = 1 << max(4, int(2 * items - 1).bit_length())
    return Grid(
        cells=np.empty((items, CELL_COLUMNS), np.int64),
        starts=np.empty(buckets + 1, np.int64),
        order=np.empty(items, np.int64),
        boxes=np.empty((items, 2 * axes)),
        near=np.empty(items, np.int64),
    )


@inlined
def bucket_of(x, y, z, buckets):
    """Hash of a cell."""
    return ((x * 73856093) ^ (y * 19349663) ^ (z * 83492791)) & (buckets - 1)


@inlined
def overlap(one, row, first, other, other_row, other_first, axes):
    """Whether two boxes overlap; rows of tables, with the least coordinates from a column on, then the largest."""
    for k in range(axes):
        if (
            one[row, first + k] > other[other_row, other_first + axes + k]
            or one[row, first + axes + k] < other[other_row, other_first + k]
        ):
            return False
    return True


@inner
def sort_into_buckets(grid, boxes, first, items):
    """Sort items into the buckets of their cells (counting sort).

    Parameters
    ----------
    grid : Grid
        Cells are set; so are buckets where they are `NO_BUCKET`, and anything else where they are not.
    boxes : (items, ≥ first + 2 axes)
        Least coordinates of an item from column `first` on, then largest ones.
    """
    cells, starts, order, sorted_boxes = grid.cells, grid.starts, grid.order, grid.boxes
    buckets = starts.shape[0] - 1
    for k in range(buckets + 1):
        starts[k] = 0
    for item in range(items):
        if cells[item, BUCKET] != NO_BUCKET:
            k = bucket_of(cells[item, 0], cells[item, 1], cells[item, 2], buckets)
            cells[item, BUCKET] = k
            starts[k] += 1
    # numbers of items become ends of buckets, and then, with items from the back so that they keep their order, begins
    for k in range(buckets):
        starts[k + 1] += starts[k]
    for item in range(items - 1, -1, -1):
        k = cells[item, BUCKET]
        if k != NO_BUCKET:
            at = starts[k] - 1
            starts[k], order[at] = at, item
            for c in range(sorted_boxes.shape[1]):
                sorted_boxes[at, c] = boxes[item, first + c]


@inner
def near_into(grid, boxes, row, first, left, right, low, high, bottom, top):
    """Write the items in a range of cells whose boxes overlap a box to `grid.near`; return their number.

    They come cell by cell, the last of the three numbers first, and in their own order within a cell. Only ranges of
    more cells than there are items are not visited cell by cell, and come in any order.

    Parameters
    ----------
    grid : Grid
        Sorted.
    boxes, row, first
        The box, as in `sort_into_buckets`.
    left, right, low, high, bottom, top : int
        First and last of each of the three numbers of cells.
    """
    cells, starts, order, sorted_boxes, near = grid.cells, grid.starts, grid.order, grid.boxes, grid.near
    buckets, axes, count = starts.shape[0] - 1, sorted_boxes.shape[1] // 2, 0
    visits = (right - left + 1.0) * (high - low + 1.0) * (top - bottom + 1.0)
    everything = visits > max(starts[buckets], FEW)
    x, y, z = left, low, bottom - 1
    # all three numbers in one loop, since each loop copies the code of what it holds
    for _ in range(1 if everything else int(visits)):
        z += 1
        if z > top:
            y, z = y + 1, bottom
        if y > high:
            x, y = x + 1, low
        k = bucket_of(x, y, z, buckets)
        begin, end = (0, starts[buckets]) if everything else (starts[k], starts[k + 1])
        for at in range(begin, end):
            if not overlap(sorted_boxes, at, 0, boxes, row, first, axes):
                continue
            item = order[at]
            # cells of equal hash share a bucket
            if everything:
                here = left <= cells[item, 0] <= right and low <= cells[item, 1] <= high
                here = here and bottom <= cells[item, 2] <= top
            else:
                here = cells[item, 0] == x and cells[item, 1] == y and cells[item, 2] == z
            if here:
                near[count] = item
                count += 1
    return count
