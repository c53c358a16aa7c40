"""One short run of each kind: ``python -m tests.kernel_compiler.sample [NAME…]`` prints their digests anywhere."""

from __future__ import annotations

import hashlib
import sys

import cbsim
from cbsim.multibody import gallery, simulate

SCENARIOS = {"four_way_stop": 2.0, "crash": 1.0, "sensors": 0.5, "crash_dummy": 0.2}


def digest_of(name: str) -> str:
    """Run a scenario or a mechanism of the gallery, and digest every step of it."""
    if name in SCENARIOS:
        world = cbsim.load(name)
        recording = cbsim.run(world, duration=SCENARIOS[name])
        return f"{world.digest:016x} {hashlib.blake2b(recording.hashes.tobytes(), digest_size=8).hexdigest()}"
    storage = simulate(gallery.build(name), 20)
    return hashlib.blake2b(storage.x.tobytes() + storage.w.tobytes(), digest_size=8).hexdigest()


if __name__ == "__main__":
    for each in sys.argv[1:] or [*SCENARIOS, "block"]:
        print(each, digest_of(each), flush=True)
