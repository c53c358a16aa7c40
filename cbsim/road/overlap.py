"""Pairs of shapes that meet, with a bound on their number: in a hostile file everything lies on everything."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["PAIR_LIMIT", "overlapping"]

Ints = NDArray[np.int64]

PAIR_LIMIT = 100_000  # real networks of a thousand lanes have a few thousand
BATCH = 64  # shapes looked up at once


def overlapping(shapes: NDArray[np.object_], kinds: Ints | None = None) -> tuple[Ints, Ints]:
    """List the pairs of shapes that meet.

    Parameters
    ----------
    shapes : ndarray of geometry, shape (n,)
        Empty ones meet nothing.
    kinds : ndarray of int, shape (n,), optional
        Only pairs of different kinds are wanted.

    Returns
    -------
    one, other : ndarray of int, shape (p,)
        Each pair once, the smaller number first, in increasing order; past 100 000 the rest is left out.
    """
    import shapely

    pairs = [np.empty((2, 0), np.int64)]
    tree = shapely.STRtree(shapes)
    found = 0
    for start in range(0, len(shapes), BATCH):
        one, other = tree.query(shapes[start : start + BATCH])
        one = one + start
        wanted = one < other if kinds is None else (one < other) & (kinds[one] != kinds[other])
        one, other = one[wanted], other[wanted]
        shapely.prepare(shapes[start : start + BATCH])
        meet = shapely.intersects(shapes[one], shapes[other])
        pairs.append(np.stack([one[meet], other[meet]]))
        found += int(meet.sum())
        if found > PAIR_LIMIT:
            break
    every = np.concatenate(pairs, axis=1)
    every = every[:, np.lexsort((every[1], every[0]))]
    return every[0], every[1]
