"""Capacities beside the Highway Capacity Manual: all-way stops, minor roads, entries to a circle; flow and density.

Four roads of 300 m meet. Cars come up as fast as there is room for them; those that have left the crossing in half an
hour are counted. Values of the HCM are

- HCM 2000, chapter 17: saturation headways of all-way stops by the approaches that are busy, and for minor roads the
  capacity by gaps, q e^(−q t_c / 3600) / (1 − e^(−q t_f / 3600));
- HCM 6, chapter 22: entry to a circle of one lane, 1380 e^(−0.00102 q), which is
  3600 / t_f e^(−q (t_c − t_f / 2) / 3600) with a critical gap of 4.98 s and a follow-up headway of 2.61 s.

Both take the headways of the major flow as exponential, which no cars in one lane can have. Therefore the gaps that
came are measured, too: each of at least t_c lets one car in, and one more for each t_f that it is longer (Siegloch
1973), with the follow-up headway of these cars.

On a ring of 2 km the flow is beside that of the intelligent driver model in equilibrium.

    python benchmarks/capacity.py
    python benchmarks/capacity.py --plot docs/pictures/capacity.svg
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from cbsim.spec.road import RoadNetwork

DURATION, SETTLED, STEP = 1800.0, 300.0, 0.1  # [s]
LOOKS = 3  # steps between two looks at who has come to a conflict
SATURATED = 3600.0  # [1/h]
ALL_WAY = (((1,), "3.9"), ((1, 3), "4.7"), ((1, 2), "5.8"), ((1, 2, 4), "7.0"), ((1, 2, 3, 4), "9.6"))
BUSY = "one", "two opposite", "two at right angles", "three", "four"
MINOR = (("right", 4, 6.2, 3.3), ("through", 3, 6.5, 4.0), ("left", 2, 7.1, 3.5))
MAJOR_FLOWS = 200.0, 400.0, 600.0, 800.0  # [1/h]
CIRCLE_FLOWS = 0.0, 200.0, 400.0, 600.0, 800.0, 1000.0  # [1/h]
FROM_WEST, FROM_SOUTH, TO_EAST, TO_NORTH = (5, 2, 1), (4, 2, 1), (3, 2, 9), (2, 2, 9)  # on the shipped roundabout
COUNTS = 5, 10, 20, 30, 40, 50, 60, 80, 100, 130, 160, 200, 240, 280  # cars on a ring of 2 km
CIRCUMFERENCE = 2000.0  # [m]
FREE = 12.0  # [m/s]
Point = tuple[int, int, int]
Flow = tuple[Point, Point, float]


def departures(network: RoadNetwork, flows: list[Flow]) -> list[int]:
    """Count the cars of flows (from, to, vehicles per hour) that arrive within `DURATION`."""
    return measure(network, flows)[0]


def measure(network: RoadNetwork, flows: list[Flow]) -> tuple[list[int], Any]:
    """Count the cars that arrive, and tell the headways at which others come to the conflicts of the first flow [s]."""
    from cbsim.simulation.advance import advance
    from cbsim.spec.road import PointId
    from cbsim.spec.traffic import Pool
    from cbsim.world.traffic.tables import ABSENT, CAR_LENGTH, LANELET, LENGTH, NEXT, PHASE, POOL, SERIAL, STATION
    from tests.traffic.sites import world

    pools = [
        Pool(f"flow {n}", flow=rate, origin=PointId(*a), destinations=((PointId(*b), 1.0),), at_most=150)
        for n, (a, b, rate) in enumerate(flows)
        if rate > 0.0
    ]
    made = world(network, *pools, step=STEP)
    snapshot, road = made.start, made.traffic.road
    begins, lengths, sizes = conflicts_of_first(made), road.lanelets[:, LENGTH], road.car_sizes[:, CAR_LENGTH]
    advance(made, snapshot, round(SETTLED / STEP))
    before = snapshot.columns.pool_counts[:, 2].copy()
    times, others = dict[int, float](), np.flatnonzero(road.car_rows[:, POOL] != 0)
    for _ in range(round(DURATION / STEP / LOOKS)):
        advance(made, snapshot, LOOKS)
        intent, fronts = snapshot.columns.intent[others], (snapshot.columns.travel[:, STATION] + sizes)[others]
        lanelets = intent[:, LANELET]
        there = (fronts > begins[lanelets]) | (
            (intent[:, NEXT] >= 0) & (fronts - lengths[lanelets] > begins[intent[:, NEXT]])
        )
        for serial in intent[there & (intent[:, PHASE] != ABSENT), SERIAL].tolist():
            times.setdefault(serial, snapshot.time)
    counts = [int(count) for count in snapshot.columns.pool_counts[:, 2] - before]
    return counts, np.diff(np.sort(list(times.values())))


def conflicts_of_first(made: Any) -> Any:
    """Station on each lanelet at which it comes to a conflict with the way of the first flow, infinite for none [m]."""
    from cbsim.world.traffic.tables import FIRST_TARGET, ORIGIN

    road, crossings, demand = made.traffic.road, made.traffic.crossings, made.traffic.demand
    destination = int(demand.targets[demand.pool_rows[0, FIRST_TARGET], 0])
    begins, lanelet = np.full(len(road.lanelets), np.inf), int(demand.pool_rows[0, ORIGIN])
    while True:
        for e in range(crossings.entry_offsets[lanelet], crossings.entry_offsets[lanelet + 1]):
            other, side = crossings.entry_others[e], 1 - crossings.entry_sides[e]
            begins[other] = min(begins[other], crossings.spans[crossings.entry_rows[e], side])
        if lanelet == int(road.destinations[destination, 0]):
            return begins
        lanelet = int(road.hops[destination * len(road.lanelets) + lanelet])


def by_these_gaps(headways: Any, critical: float, follow_up: float) -> float:
    """Capacity in gaps that have been measured [1/h]: Siegloch (1973)."""
    if not len(headways):
        return 3600.0 / follow_up
    usable = headways[headways >= critical]
    return float((1.0 + np.floor((usable - critical) / follow_up)).sum()) * 3600.0 / DURATION


def between(a: int, b: int, rate: float) -> Flow:
    """Flow from one road of the crossing to another."""
    return (a, 1, 1), (b, 2, 2), rate


def by_gaps(flow: float, critical: float, follow_up: float) -> float:
    """Capacity by the HCM's formula [1/h]."""
    rate = flow / 3600.0
    return flow * math.exp(-rate * critical) / (1.0 - math.exp(-rate * follow_up))


def all_way_stops() -> list[float]:
    """Headways of an approach, as in `ALL_WAY` [s]."""
    from tests.traffic.sites import cross

    print("| busy approaches of an all-way stop | headway of one [s] | HCM 2000 [s] |\n|---|---|---|")
    found = []
    for name, (arms, theirs) in zip(BUSY, ALL_WAY, strict=True):
        counts = departures(cross((1, 2, 3, 4)), [between(arm, (arm + 1) % 4 + 1, SATURATED) for arm in arms])
        found.append(DURATION / min(counts))
        print(f"| {name} | {found[-1]:.1f} | {theirs} |", flush=True)
    return found


def minor_roads(own_follow_up: float) -> dict[str, list[tuple[float, float]]]:
    """Capacities of each movement from the minor road, and what the gaps allow, by `MAJOR_FLOWS` [1/h]."""
    from tests.traffic.sites import cross

    print("\n| from the minor road | flow of the major one [1/h] | capacity [1/h] | HCM 2000 | by the gaps that came |")
    print("|---|---|---|---|---|")
    found: dict[str, list[tuple[float, float]]] = {name: [] for name, *_ in MINOR}
    for name, target, critical, follow_up in MINOR:
        for flow in MAJOR_FLOWS:
            ways = [(2, 4, flow)] if name == "right" else [(2, 4, 0.5 * flow), (4, 2, 0.5 * flow)]
            flows = [between(1, target, SATURATED), *(between(*one) for one in ways)]
            counts, headways = measure(cross((1, 3)), flows)
            capacity = counts[0] * 3600.0 / DURATION
            theirs, ours = by_gaps(flow, critical, follow_up), by_these_gaps(headways, critical, own_follow_up)
            print(f"| {name} | {flow:.0f} | {capacity:.0f} | {theirs:.0f} | {ours:.0f} |", flush=True)
            found[name].append((capacity, ours))
    return found


def circle_entries() -> list[tuple[float, float, float]]:
    """Flow that goes past an entry of the shipped roundabout, what the entry passes, and what the gaps allow [1/h]."""
    from cbsim.formats import read_file
    from cbsim.paths import data_folder

    network: Any = read_file(data_folder("rndf") / "roundabout.rndf").spec
    print("\n| flow past the entry of a circle [1/h] | capacity [1/h] | HCM 6 [1/h] | by the gaps that came |")
    print("|---|---|---|---|")
    found = list[tuple[float, float, float]]()
    for flow in CIRCLE_FLOWS:
        counts, headways = measure(network, [(FROM_SOUTH, TO_NORTH, SATURATED), (FROM_WEST, TO_EAST, flow)])
        past, capacity = (counts[1] if flow else 0) * 3600.0 / DURATION, counts[0] * 3600.0 / DURATION
        found.append((past, capacity, by_these_gaps(headways, 4.98, 3600.0 / (found or [(0, capacity)])[0][1])))
        theirs = 1380.0 * math.exp(-0.00102 * past)
        print(f"| {past:.0f} | {capacity:.0f} | {theirs:.0f} | {found[-1][2]:.0f} |", flush=True)
    return found


def ring_flows() -> list[tuple[float, float]]:
    """Density [1/km] and flow [1/h] on a ring after 15 minutes, and the equilibrium beside them."""
    from cbsim.simulation.advance import advance
    from cbsim.spec.traffic import Driver, Pool, Spread
    from cbsim.world.traffic.tables import SPEED
    from tests.traffic.sites import ring, world

    print("\n| density on a ring [1/km] | flow [1/h] | in equilibrium [1/h] |\n|---|---|---|")
    found = []
    for count in COUNTS:
        pool = Pool("p", count=count, lanes=((1, 1),), drivers=(("d", 1.0),))
        made = world(ring(CIRCUMFERENCE), pool, drivers=(Driver("d", speed=Spread(FREE)),), step=STEP)
        snapshot = made.start
        advance(made, snapshot, round(900.0 / STEP))
        density = 1000.0 * count / float(made.road.lanelets.lengths.sum())
        flow = 3.6 * density * float(snapshot.columns.travel[:, SPEED].mean())
        found.append((density, flow))
        print(f"| {density:.0f} | {flow:.0f} | {equilibrium_flow(density):.0f} |", flush=True)
    return found


def equilibrium_flow(density: float) -> float:
    """Flow [1/h] at a density [1/km] where all keep one speed: Treiber, Hennecke, Helbing (2000), eq. 8."""
    from tests.traffic.test_car_following import LENGTH, equilibrium_speed

    return 3.6 * density * equilibrium_speed(1000.0 / density - LENGTH)


def draw(
    path: Path,
    headways: list[float],
    minor: dict[str, list[tuple[float, float]]],
    circle: list[tuple[float, float, float]],
    rings: list[tuple[float, float]],
) -> None:
    """Draw the four plots."""
    from cbsim.palette import SERIES
    from cbsim.plot.backend import figure, format_of, render, settings
    from cbsim.plot.style import hexadecimal

    colours = [hexadecimal(colour) for colour in SERIES]
    with settings():
        drawn = figure((180.0, 150.0))
        ((stops, minors), (circles, flows)) = drawn.subplots(2, 2)
        rows = np.arange(len(ALL_WAY))
        stops.barh(rows - 0.18, headways, 0.34, color=colours[0], label="cbsim")
        stops.barh(rows + 0.18, [float(theirs) for _, theirs in ALL_WAY], 0.34, color="#b0b6ad", label="HCM 2000")
        stops.set_yticks(rows, BUSY)
        stops.invert_yaxis()
        stops.set(title="All-way stop", xlabel="headway of a busy approach [s]")
        stops.legend(loc="upper right")
        q = np.linspace(1.0, 1000.0, 200)
        for colour, (name, _, critical, follow_up) in zip(colours, MINOR, strict=False):
            minors.plot(q, [by_gaps(float(one), critical, follow_up) for one in q], color=colour, linestyle="--")
            minors.plot(MAJOR_FLOWS, [own for own, _ in minor[name]], "o", color=colour, markersize=4, label=name)
            minors.plot(MAJOR_FLOWS, [gaps for _, gaps in minor[name]], "_", color=colour, markersize=9)
        minors.plot([], [], "_", color="#606060", markersize=9, label="by the gaps")
        minors.plot([], [], "--", color="#606060", label="HCM 2000")
        minors.set(title="Minor road", xlabel="flow of the major road [1/h]", ylabel="capacity [1/h]", ylim=(0, None))
        minors.legend(loc="upper right")
        circles.plot(q, 1380.0 * np.exp(-0.00102 * q), "--", color="#606060", label="HCM 6")
        past, passed, gaps = zip(*circle, strict=True)
        circles.plot(past, passed, "o", color=colours[0], markersize=4, label="cbsim")
        circles.plot(past, gaps, "_", color=colours[0], markersize=9, label="by the gaps")
        circles.set(
            title="Entry to a circle", xlabel="flow past the entry [1/h]", ylabel="capacity [1/h]", ylim=(0, None)
        )
        circles.legend(loc="upper right")
        densities = np.linspace(1.0, 1000.0 / 6.5, 300)
        flows.plot(densities, [equilibrium_flow(float(one)) for one in densities], "--", color="#606060", label="IDM")
        flows.plot(*zip(*rings, strict=True), "o", color=colours[0], markersize=4, label="cbsim")
        flows.set(title="Ring of 2 km", xlabel="density [1/km]", ylabel="flow [1/h]", ylim=(0, None))
        flows.legend(loc="upper right")
        for axes in (stops, minors, circles, flows):
            axes.grid(True, axis="x" if axes is stops else "both")
            axes.spines[["top", "right"]].set_visible(False)
        path.write_bytes(render(drawn, format_of(path)))


def main() -> None:
    """Print the tables; with a file, draw them too."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--plot", type=Path, help="file of the four plots (svg, pdf, png)")
    options = parser.parse_args()
    headways = all_way_stops()
    results = minor_roads(headways[0]), circle_entries(), ring_flows()
    if options.plot is not None:
        draw(options.plot, headways, *results)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    main()
