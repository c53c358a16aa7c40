"""Lanelets, conflicts and junctions of road networks, and the refusal of exits over each other, in CPU seconds.

    python benchmarks/bench_lanelets.py [FILE…]     # networks; the largest shipped one by default

Minimum, median and maximum of seven rounds, each from a file that has been read. CPU seconds do not depend on who else
is at work on the machine.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from common import show

import cbsim
from cbsim.errors import ModelError
from cbsim.road.lanelets import build_lanelets
from cbsim.road.right_of_way import Conflicts, find_conflicts, find_junctions
from cbsim.road.right_of_way.places import network_places
from cbsim.road.roadmap import build
from cbsim.spec.road import RoadNetwork

ROUNDS = 7
DEFAULT = Path(__file__).parents[1] / "rndf" / "city.rndf"


def conflicts_of(network: RoadNetwork) -> Conflicts:
    """Find all conflicts and junctions of a network, nothing of it kept from before."""
    for made in (build_lanelets, network_places, find_conflicts, find_junctions):
        made.cache_clear()
    conflicts = find_conflicts(build_lanelets(build(network)))
    find_junctions(conflicts)
    return conflicts


def cpu(work: Callable[[], object]) -> list[float]:
    """Measure rounds of a piece of work, after one to warm up [s]."""
    work()
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return times


def over_each_other(count: int) -> str:
    """Write a network of two lanes, with an exit from each waypoint of the one to each of the other."""
    exits = "".join(f"exit 1.1.{a} 2.1.{b}\n" for a in range(1, count + 1) for b in range(1, count + 1))
    lanes = []
    for segment, longitude in ((1, -77.0), (2, -76.9998)):
        points = (f"{segment}.1.{k} {38.0 + 1e-4 * k:.6f} {longitude:.6f}\n" for k in range(1, count + 1))
        head = f"segment {segment}\nnum_lanes 1\nlane {segment}.1\nnum_waypoints {count}\n"
        lanes.append(head + (exits if segment == 1 else "") + "".join(points) + "end_lane\nend_segment\n")
    head = "RNDF_name many\nnum_segments 2\nnum_zones 0\nformat_version 1.0\ncreation_date 1\n"
    return head + "".join(lanes) + "end_file\n"


def refusal(network: RoadNetwork) -> str:
    """Ask for what is too much, and return the answer."""
    try:
        conflicts_of(network)
    except ModelError as error:
        return str(error)
    raise AssertionError("it was not refused")


def main() -> None:
    """Print a line for each network."""
    for path in map(Path, sys.argv[1:] or [DEFAULT]):
        network = cbsim.read(path)
        found = conflicts_of(network)
        note = f"{len(found.lanelets)} lanelets, {len(found)} conflicts"
        show(path.name, cpu(lambda network=network: conflicts_of(network)), "s", note)
    with tempfile.TemporaryDirectory() as folder:
        for count in (100, 141, 317):
            path = Path(folder) / f"{count * count} exits over each other"
            path.write_text(over_each_other(count))
            network = cbsim.read(path)
            show(path.name, cpu(lambda network=network: refusal(network)), "s", refusal(network))


if __name__ == "__main__":
    main()
