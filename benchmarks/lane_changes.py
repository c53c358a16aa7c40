"""Flow that leaves a lane drop, and how often cars change lanes, beside published values.

- Two lanes in one direction, of which the right one ends after 1.5 km; as many cars come on either. Those that leave in
  half an hour are counted. HCM 2000, chapter 22, has 1600 vehicles an hour for one lane that is left of two
  (short-term work zones).
- A ring of 2 km with two lanes in one direction. Knoop, Hoogendoorn, Shiomi and Buisson (2012), Quantifying the number
  of lane changes in traffic, Transportation Research Record 2278, 31-41, counted one change in 2 km that a vehicle
  drives, and most of them just below the critical density.

Drivers differ: desired speeds are normal about the limit of 30 mph, time headways about 1.5 s.

    python benchmarks/lane_changes.py
    python benchmarks/lane_changes.py --plot docs/pictures/lane_changes.svg
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from cbsim.spec.traffic import Driver

DURATION, SETTLED, STEP = 1800.0, 600.0, 0.1  # [s]
DEMANDS = 800.0, 1200.0, 1400.0, 1600.0, 1800.0, 2000.0, 2400.0, 3000.0  # [1/h], both lanes together
DENSITIES = 5, 10, 15, 20, 25, 30, 40, 50, 60, 80  # [1/km] of each lane
CIRCUMFERENCE = 2000.0  # [m]
LANE_DROP = 1600.0  # [1/h]
CHANGES = 0.5  # [1/km] of each vehicle


def lane_drop() -> list[tuple[float, float]]:
    """Demand and flow behind a lane drop [1/h]."""
    from cbsim.simulation.advance import advance
    from cbsim.spec.road import PointId
    from cbsim.spec.traffic import Pool
    from tests.traffic.sites import world
    from tests.traffic.test_lane_changes import highway

    network, end = highway(2500.0, 1500.0), PointId(1, 1, 51)
    print("| demand of two lanes [1/h] | flow behind the lane drop [1/h] | brakings over 4.5 m/s² |\n|---|---|---|")
    found = []
    for demand in DEMANDS:
        pools = [
            Pool(
                f"lane {lane}",
                flow=0.5 * demand,
                origin=PointId(1, lane, 1),
                destinations=((end, 1.0),),
                at_most=250,
                drivers=(("d", 1.0),),
            )
            for lane in (1, 2)
        ]
        made = world(network, *pools, drivers=(driver(),), step=STEP)
        snapshot, hard = made.start, 0
        advance(made, snapshot, round(SETTLED / STEP))
        before = snapshot.columns.pool_counts[:, 2].sum()
        for _ in range(round(DURATION)):
            assert not len(advance(made, snapshot, round(1.0 / STEP))[2])
            hard += int(np.sum((snapshot.columns.travel[:, 3] < -4.5) & (snapshot.columns.travel[:, 0] > 100.0)))
        flow = (snapshot.columns.pool_counts[:, 2].sum() - before) * 3600.0 / DURATION
        found.append((demand, float(flow)))
        print(f"| {demand:.0f} | {flow:.0f} | {hard} |", flush=True)
    return found


def driver() -> Driver:
    """Drivers who differ."""
    from cbsim.spec.traffic import Driver, Spread

    return Driver("d", desired_speed=Spread(1.0, 0.1), time_headway=Spread(1.5, 0.2))


def ring_changes() -> list[tuple[float, float, float]]:
    """Density of a lane [1/km], changes of a vehicle [1/km], and changes on the road [1/(h km)]."""
    from cbsim.simulation.advance import advance
    from cbsim.spec.traffic import Pool
    from cbsim.world.traffic.tables import LANELET, SPEED
    from tests.traffic.sites import world
    from tests.traffic.test_lane_changes import rings

    print("\n| density of a lane [1/km] | speed [m/s] | changes of a vehicle [1/km] | on the road [1/(h km)] |")
    print("|---|---|---|---|")
    found = []
    for density in DENSITIES:
        pool = Pool("p", count=round(2.0 * density * CIRCUMFERENCE / 1000.0), drivers=(("d", 1.0),))
        made = world(rings(2, CIRCUMFERENCE), pool, drivers=(driver(),), step=STEP)
        snapshot, changes, way = made.start, 0, 0.0
        advance(made, snapshot, round(300.0 / STEP))
        for _ in range(round(600.0 / STEP)):
            lanes = snapshot.columns.intent[:, LANELET].copy()
            assert not len(advance(made, snapshot, 1)[2])
            changes += int(np.sum(lanes != snapshot.columns.intent[:, LANELET]))
            way += STEP * float(snapshot.columns.travel[:, SPEED].sum())
        way /= 1000.0
        found.append((float(density), changes / way, changes * 6.0 / (CIRCUMFERENCE / 1000.0)))
        print(f"| {density} | {way / 0.6 / pool.count:.1f} | {changes / way:.2f} | {found[-1][2]:.0f} |", flush=True)
    return found


def draw(path: Path, drops: list[tuple[float, float]], rings: list[tuple[float, float, float]]) -> None:
    """Draw the two plots."""
    from cbsim.palette import SERIES
    from cbsim.plot.backend import figure, format_of, render, settings
    from cbsim.plot.style import hexadecimal

    colours = [hexadecimal(colour) for colour in SERIES]
    with settings():
        drawn = figure((180.0, 75.0))
        left, right = drawn.subplots(1, 2)
        left.plot([0.0, 3000.0], [0.0, 3000.0], ":", color="#606060", label="all that come")
        left.axhline(LANE_DROP, linestyle="--", color="#606060", label="HCM 2000, one lane of two")
        left.plot(*zip(*drops, strict=True), "o-", color=colours[0], markersize=4, label="cbsim")
        left.set(title="Lane drop", xlabel="demand of two lanes [1/h]", ylabel="flow behind it [1/h]")
        left.set(xlim=(0, 3100), ylim=(0, 2400))
        left.legend(loc="lower right")
        right.axhline(CHANGES, linestyle="--", color="#606060", label="Knoop et al. 2012, mean")
        density, per_vehicle, _ = zip(*rings, strict=True)
        right.plot(density, per_vehicle, "o-", color=colours[0], markersize=4, label="cbsim")
        right.set(title="Ring of two lanes", xlabel="density of a lane [1/km]", ylim=(0, 0.7))
        right.set_ylabel("changes of a vehicle [1/km]")
        right.legend(loc="upper right")
        for axes in (left, right):
            axes.grid(True)
            axes.spines[["top", "right"]].set_visible(False)
        path.write_bytes(render(drawn, format_of(path)))


def main() -> None:
    """Print the tables; with a file, draw them too."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--plot", type=Path, help="file of the plots (svg, pdf, png)")
    options = parser.parse_args()
    results = lane_drop(), ring_changes()
    if options.plot is not None:
        draw(options.plot, *results)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    main()
