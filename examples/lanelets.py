"""The way of a mission by lanelets: how fast, where to stop, and whom to yield to.

python lanelets.py [SCENARIO]        (a scenario with a mission; parking by default)
"""

from __future__ import annotations

import sys

import numpy as np

import cbsim

SIDEWAYS = 2.2  # [m/s²] that a driver takes in bends


def main(scenario: str = "parking") -> None:
    road = cbsim.load(scenario).road
    for number, way in enumerate(road.mission_route(), 1):
        if way is None:
            print(f"leg {number}: no way")
            continue
        print(f"leg {number}: {way.length:.0f} m")
        for row in way.lanelets.tolist():
            lanelet = road.lanelets[row]
            sharpest = np.abs(lanelet.curvatures).max(initial=1e-9)
            speed = min(lanelet.limit, float(np.sqrt(SIDEWAYS / sharpest)))
            yields = sorted({one.other for one in road.conflicts.of(row) if one.yields})
            notes = ["stop line"] * lanelet.stop + ([f"yields to {', '.join(yields)}"] if yields else [])
            print(f"  {lanelet.name:<16} {lanelet.length:5.0f} m {speed:5.1f} m/s  {'; '.join(notes)}".rstrip())


if __name__ == "__main__":
    main(*sys.argv[1:2])
