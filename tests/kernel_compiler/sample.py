"""One short run of each kind, as ``python -m tests.kernel_compiler.sample`` prints their digests in any environment."""

from __future__ import annotations

import hashlib

import cbsim
from cbsim.multibody import gallery, simulate
from cbsim.paths import shipped_names

SCENARIOS = {"four_way_stop": 2.0, "crash": 1.0, "sensors": 0.5, "crash_dummy": 0.2}


def digests() -> dict[str, str]:
    """Return digests of two traffic scenarios, one with sensors, one with a model, and a mechanism in contact."""
    found = {}
    for name, duration in SCENARIOS.items():
        world = cbsim.load(name)
        recording = cbsim.run(world, duration=duration)
        found[name] = f"{world.digest:016x} {hashlib.blake2b(recording.hashes.tobytes(), digest_size=8).hexdigest()}"
    storage = simulate(gallery.build("block"), 20)
    found["block"] = hashlib.blake2b(storage.x.tobytes() + storage.w.tobytes(), digest_size=8).hexdigest()
    assert set(SCENARIOS) <= set(shipped_names("scenarios", (".yaml",)))
    return found


if __name__ == "__main__":
    for key, digest in digests().items():
        print(key, digest, flush=True)
