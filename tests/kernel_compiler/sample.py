"""One short run of each kind: ``python -m tests.kernel_compiler.sample [NAME…]`` prints their digests anywhere."""

from __future__ import annotations

import hashlib
import sys

import numpy as np
from numpy.typing import NDArray

import cbsim
from cbsim.multibody import gallery, simulate
from cbsim.sensing import Scan

SCENARIOS = {"four_way_stop": 2.0, "crash": 1.0, "crash_dummy": 0.2}


def digest_of(name: str) -> str:
    """Run a scenario or a mechanism of the gallery, and digest every step of it."""
    if name == "sensors":  # without its planner, which has a deadline that compilation may miss
        world = cbsim.load(name)
        snapshot = cbsim.step(world, world.start)
        readings = cbsim.sense(world, snapshot)
        return _digest(*(each.ranges if isinstance(each, Scan) else each.values() for each in readings.values()))
    if name in SCENARIOS:
        world = cbsim.load(name)
        recording = cbsim.run(world, duration=SCENARIOS[name])
        return f"{_digest(recording.hashes)} world {world.digest:016x}"
    storage = simulate(gallery.build(name), 20)
    return _digest(storage.x, storage.w)


def _digest(*arrays: NDArray[np.generic]) -> str:
    return hashlib.blake2b(b"".join(each.tobytes() for each in arrays), digest_size=8).hexdigest()


if __name__ == "__main__":
    for each in sys.argv[1:] or [*SCENARIOS, "sensors", "block"]:
        print(each, digest_of(each), flush=True)
