"""The closed loop: a bot with two lasers, thirty more cars, recording and checks, at the default step.

    python benchmarks/bench_closed_loop.py [--reactive] [RNDF OBJECTS MDF]

With ``--reactive`` the other cars wander over the whole network and react to the bot. Times are CPU seconds of the
process. By default DARPA's sample network with the default object file of the CajunBot simulator, beside the source
tree. Peers, measured once on this class of machine, since neither runs from a package index alone: MetaDrive 0.4.3,
about 25 times real time with 20 cars of which most stand (240 steps/s of 0.1 s), one lidar, no verdict; esmini 3.6, 98
to 180 times with 20 to 40 cars, without lasers or verdicts. The goal is 200 times real time; among reactive cars 600,
and 400 recorded.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from common import show

import cbsim
from cbsim.evaluation.outcome import execute
from cbsim.spec.road import PointId
from cbsim.world.world import World

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SAMPLE = ("rndf/navguide/Sample_RNDF.txt", "cajunbot/Objects.xml", "mdf/navguide/Sample_MDF.txt")
CARS, ROUNDS, DURATION = 30, 5, 300.0
OWN = (1, 2, 3, 4, 10)  # segments that the bot drives on meanwhile: literal cars give way to nobody


def scenario(rndf: Path, folder: Path, planner: str, is_reactive: bool) -> Path:
    """Write a scenario of thirty cars, and checks of them and of the bot."""
    lines = [f"duration: {DURATION}", *(reactive_cars() if is_reactive else literal_cars(rndf))]
    if planner:
        lines += ["  - collision: {object: CajunBot}", "  - speed: {object: CajunBot}", "  - lane: {object: CajunBot}"]
        lines += ["  - stop_line: {object: CajunBot}", f"planner: {planner}"]
    path = folder / "closed_loop.yaml"
    path.write_text("\n".join(lines))
    return path


def reactive_cars() -> list[str]:
    """Thirty cars that wander; each drives some way."""
    checks = [f"  - travel: {{object: town {k + 1}, at_least: 1}}" for k in range(CARS)]
    return ["traffic:", f"  - {{name: town, count: {CARS}}}", "expect:", *checks]


def literal_cars(rndf: Path) -> list[str]:
    """Thirty cars along the lanes of a network, each with goals to its lane's end."""
    network = cbsim.read(rndf)
    lanes = [lane for lane in network.lanes if len(lane.points) >= 4 and lane.segment not in OWN]
    cars, checks = [], []
    for k in range(CARS):
        lane = lanes[k % len(lanes)]
        start = PointId(lane.segment, lane.number, lane.points.numbers[k // len(lanes) % 2])
        goals = f"[{{lane: {lane.segment}.{lane.number}, speed: {1.0 + 0.1 * k}}}]"
        cars.append(f"  - {{name: Car {k}, kind: dynamic, at: {start}, size: [1.8, 4.5, 1.5], goals: {goals}}}")
        checks.append(f"  - travel: {{object: Car {k}, at_least: 1}}")
    return ["add:", *cars, "expect:", *checks]


def measure(world: World, folder: Path, record: bool) -> list[float]:
    """Times real time of some runs, in CPU time, after one to warm up."""
    factors = []
    for _ in range(ROUNDS + 1):
        begin = time.process_time()
        outcome = execute(world, record=folder / "run.mcap" if record else None)
        factors.append(outcome.snapshot.time / (time.process_time() - begin))
    failed = [f"{check.name}: {check.message}" for check in outcome.checks if not check.passed]
    if failed:
        print("  checks that failed:", *failed, sep="\n    ")
    return factors[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reactive", action="store_true", help="cars that react, in place of literal ones")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="an RNDF, an object file and an MDF")
    options = parser.parse_args()
    files = options.files[:3] or [DATA / name for name in SAMPLE]
    if not all(path.exists() for path in files):
        print("SKIP: the sample network and objects are not here; name an RNDF, an object file and an MDF")
        return
    rndf, objects, mdf = files
    with tempfile.TemporaryDirectory() as name:
        for planner in ("", "cbsim.planner.pilot:Pilot"):
            path = scenario(rndf, Path(name), planner, options.reactive)
            world = cbsim.load(path, rndf=rndf, objects=objects, mdf=mdf)
            who = "a planner at the wheel" if planner else "the bot stands"
            for record in (False, True):
                what = f"{len(world)} objects, {len(world.sensors)} lasers, {who}{', recorded' if record else ''}"
                show(what, measure(world, Path(name), record), "x real time")


if __name__ == "__main__":
    main()
