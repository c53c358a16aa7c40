"""Pairs of shapes that meet, with a bound on their number: in a hostile file everything lies on everything."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["PAIR_LIMIT", "overlapping"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

PAIR_LIMIT = 100_000  # candidates; real networks of a thousand lanes have a few thousand
LOOK_LIMIT = 5_000_000  # pairs of boxes that are looked at
BATCH = 64  # shapes looked up at once


def overlapping(shapes: NDArray[np.object_], wanted: Callable[[Ints, Ints], Bools] | None = None) -> tuple[Ints, Ints]:
    """List the pairs of shapes that meet.

    Parameters
    ----------
    shapes : ndarray of geometry, shape (n,)
        Empty ones meet nothing.
    wanted : callable, optional
        Tells which pairs are of interest, before they are looked at closely.

    Returns
    -------
    one, other : ndarray of int, shape (p,)
        Each pair once, the smaller number first, in increasing order; after 100 000 candidates, or five million
        looks, the rest is left out.
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
        if found > PAIR_LIMIT or looked > LOOK_LIMIT:
            break
    every = np.concatenate(pairs, axis=1)
    every = every[:, np.lexsort((every[1], every[0]))]
    return every[0], every[1]
