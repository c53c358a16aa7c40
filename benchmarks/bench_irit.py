"""IRIT's walkers: how much faster than real time, as the original moves them and by forces; how fast files are read.

    python benchmarks/bench_irit.py

Before the figures: each has walked more than ten metres in a minute. Goal: the hexapod without dynamics at least 200.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from common import rounds, show

import cbsim
from cbsim.errors import Problems
from cbsim.formats.irit import read, write
from cbsim.formats.reader import Source

MODELS = Path(__file__).parents[1] / "scenarios" / "models"
DURATION = 60.0  # [s]
GOALS = {False: 200.0, True: 5.0}  # times real time, of the hexapod


def main() -> None:
    """Print factors of real time, minimum, median and maximum, after a look whether it came to where it should."""
    for name in ("hexapod.irt", "quadruped.itd"):
        for dynamics in (False, True):
            world = cbsim.load(MODELS / name, settings={"dynamics": str(dynamics).lower()})
            place = cbsim.run(world, duration=DURATION).positions("body")[-1]
            assert np.isfinite(place).all()
            assert place[1] > 10.0
            duration = DURATION / 6.0 if dynamics else DURATION
            times = rounds(lambda world=world, duration=duration: cbsim.run(world, duration=duration), 5)  # type: ignore[misc]
            what = f"{name}, {len(world.instances[0].spec.bodies)} bodies, {'by forces' if dynamics else 'kinematic'}"
            goal = f"goal {GOALS[dynamics]:g}" if name == "hexapod.irt" else ""
            show(what, [duration / t for t in times], "x real time", goal)
    spec = read(Source.decode("q.itd", (MODELS / "quadruped.itd").read_bytes()), Problems())
    assert spec is not None
    text = write(spec) * 20
    times = rounds(lambda: read(Source("q.itd", text, text.encode()), Problems()), 5)
    show("reading a data file", [len(text) / 1e6 / t for t in times], "MB/s")


if __name__ == "__main__":
    main()
