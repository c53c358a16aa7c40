"""Capacities of intersections beside the Highway Capacity Manual: all-way stops, minor roads, entries to a circle.

Four roads of 300 m meet. Cars come up as fast as there is room for them; those that have left the crossing in half an
hour are counted. Values of the HCM are those of HCM 2000, chapter 17: saturation headways of all-way stops by the
approaches that are busy, and for minor roads the capacity by gaps, q e^(−q t_c / 3600) / (1 − e^(−q t_f / 3600)).

    python benchmarks/capacity.py
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

DURATION, SETTLED, STEP = 1800.0, 300.0, 0.1  # [s]
SATURATED = 3600.0  # [1/h]
ALL_WAY = (((1,), "3.9"), ((1, 3), "4.7"), ((1, 2), "5.8"), ((1, 2, 4), "7.0"), ((1, 2, 3, 4), "9.6"))
MINOR = (("right", 4, 6.2, 3.3), ("through", 3, 6.5, 4.0), ("left", 2, 7.1, 3.5))


def departures(stops: tuple[int, ...], flows: list[tuple[int, int, float]]) -> list[int]:
    """Count the cars of flows (from road, to road, vehicles per hour) that arrive within `DURATION`."""
    from cbsim.simulation.advance import advance
    from cbsim.spec.road import PointId
    from cbsim.spec.traffic import Pool
    from tests.traffic.sites import cross, world

    pools = [
        Pool(f"{a} {b}", flow=rate, origin=PointId(a, 1, 1), destinations=((PointId(b, 2, 2), 1.0),))
        for a, b, rate in flows
    ]
    made = world(cross(stops), *pools, step=STEP)
    snapshot = made.start
    advance(made, snapshot, round(SETTLED / STEP))
    before = snapshot.columns.pool_counts[:, 2].copy()
    advance(made, snapshot, round(DURATION / STEP))
    return [int(count) for count in snapshot.columns.pool_counts[:, 2] - before]


def main() -> None:
    """Print both tables."""
    print("| busy approaches of an all-way stop | headway of one [s] | HCM 2000 [s] |\n|---|---|---|")
    for arms, theirs in ALL_WAY:
        counts = departures((1, 2, 3, 4), [(arm, (arm + 1) % 4 + 1, SATURATED) for arm in arms])
        print(f"| {', '.join(map(str, arms))} | {DURATION / min(counts):.1f} | {theirs} |", flush=True)
    print("\n| movement from the minor road | flow of the major road [1/h] | capacity [1/h] | HCM 2000 [1/h] |")
    print("|---|---|---|---|")
    for name, target, critical, follow_up in MINOR:
        for flow in (200.0, 400.0, 600.0, 800.0):
            major = [(2, 4, flow)] if name == "right" else [(2, 4, 0.5 * flow), (4, 2, 0.5 * flow)]
            capacity = departures((1, 3), [(1, target, SATURATED), *major])[0] * 3600.0 / DURATION
            rate = flow / 3600.0
            theirs = flow * math.exp(-rate * critical) / (1.0 - math.exp(-rate * follow_up))
            print(f"| {name} | {flow:.0f} | {capacity:.0f} | {theirs:.0f} |", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    main()
