"""Digests of Worlds, of their first Snapshots and of their roads: ``python -m tests.world.start_digests PATH…``."""

from __future__ import annotations

import hashlib
import logging
import sys

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


if __name__ == "__main__":
    logging.disable(logging.INFO)  # whether kernels are compiled
    for path in sys.argv[1:]:
        is_network = path.startswith(str(SHARED / "rndf"))
        world = cbsim.load(rndf=path) if is_network else cbsim.load(path)
        print(
            path,
            f"{world.digest:016x} {world.start.hash:016x}",
            road_digest(world.road) if world.scene.roadmap else "-",
        )
