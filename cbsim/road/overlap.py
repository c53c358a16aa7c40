"""Intersecting pairs of shapes, with a bound on their number, as in a hostile file everything overlaps everything."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cbsim.arrays import Bools, Ints

__all__ = ["PAIR_LIMIT", "overlapping"]

PAIR_LIMIT = 100_000  # candidates; real networks of a thousand lanes have a few thousand
TEST_LIMIT = 5_000_000  # largest number of tested pairs of boxes
BATCH = 64  # shapes per query


def overlapping(shapes: NDArray[np.object_], wanted: Callable[[Ints, Ints], Bools] | None = None) -> tuple[Ints, Ints]:
    """List the intersecting pairs of shapes.

    Parameters
    ----------
    shapes : ndarray of geometry, shape (n,)
        Empty ones intersect nothing.
    wanted : callable, optional
        Filter of pairs, applied before the exact test.

    Returns
    -------
    one, other : ndarray of int, shape (p,)
        Each pair once, the smaller number first, in increasing order; after 100 000 candidates, or five million
        tests, the rest is omitted.
    """
    import shapely

    pairs = [np.empty((2, 0), np.int64)]
    tree = shapely.STRtree(shapes)
    found = looked = 0
    for start in range(0, len(shapes), BATCH):
        one, other = tree.query(shapes[start : start + BATCH])
        one = one + start
        looked += len(one)
        later = one < other
        one, other = one[later], other[later]
        if wanted is not None:
            kept = wanted(one, other)
            one, other = one[kept], other[kept]
        one, other = one[:PAIR_LIMIT], other[:PAIR_LIMIT]
        meet = shapely.intersects(shapes[one], shapes[other])
        pairs.append(np.stack([one[meet], other[meet]]))
        found += len(one)
        if found > PAIR_LIMIT or looked > TEST_LIMIT:
            break
    every = np.concatenate(pairs, axis=1)
    every = every[:, np.lexsort((every[1], every[0]))]
    return every[0], every[1]
