"""Digests of Worlds, of their first Snapshots and of their roads: ``python -m tests.world.start_digests PATH…``.

``--sum plain`` and ``--sum compensated`` first, as Python 3.11 and 3.12 add up.
"""

from __future__ import annotations

import builtins
import hashlib
import logging
import operator
import sys
from collections.abc import Iterable
from functools import reduce
from typing import Any

import numpy as np

import cbsim
from cbsim.road.lanelet_map import LaneletMap
from tests.common import SHARED


def road_digest(road: LaneletMap) -> str:
    """Digest the arrays of lanelets, of conflict areas and of neighbours."""
    digest, count = hashlib.blake2b(digest_size=8), 0
    for table in (road.roadmap, road.lanelets, road.conflicts, road.neighbours):
        names = [*getattr(table, "__dict__", {}), *getattr(table, "__slots__", ())]
        for name in sorted(names):
            value = getattr(table, name)
            if isinstance(value, np.ndarray) and value.dtype != object:
                digest.update(value.tobytes())
                count += value.size
    assert count > 100
    return digest.hexdigest()


def plain(values: Iterable[Any], /, start: Any = 0) -> Any:
    """Add from left to right, as Python did up to 3.11."""
    return reduce(operator.add, values, start)


def compensated(values: Iterable[Any], /, start: Any = 0) -> Any:
    """Add with the rounding errors of floats added at the end (Neumaier), as Python does from 3.12 on."""
    total, lost = start, 0.0
    for value in values:
        before, total = total, total + value
        if type(before) is float and type(value) is float:
            larger, smaller = (before, value) if abs(before) >= abs(value) else (value, before)
            lost += larger - total + smaller
    return total + lost if type(total) is float and lost else total


SUMS = {"plain": plain, "compensated": compensated}


if __name__ == "__main__":
    logging.disable(logging.INFO)  # whether kernels are compiled
    paths = sys.argv[1:]
    if paths[0] == "--sum":
        vars(builtins)["sum"] = SUMS[paths[1]]
        paths = paths[2:]
    for path in paths:
        is_network = path.startswith(str(SHARED / "rndf"))
        world = cbsim.load(rndf=path) if is_network else cbsim.load(path)
        print(
            path,
            f"{world.digest:016x} {world.start.hash:016x}",
            road_digest(world.road) if world.scene.roadmap else "-",
        )
