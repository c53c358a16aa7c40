"""Reactive traffic beside SUMO: vehicle updates per second, on the same roads, with as many cars and the same step.

Roads are straight, 10 km long and apart from each other, with 100 cars each that start at rest, 100 m apart, and follow
by the intelligent driver model; none leaves within the time that is measured. Ours hashes every step and looks for
collisions; SUMO has its collision checks as by default. SUMO comes from its wheel in an environment of its own::

    python -m venv sumo && sumo/bin/pip install eclipse-sumo libsumo
    python benchmarks/bench_traffic.py --sumo sumo/bin/python [CARS …]

Each line is the median of three runs, ours and SUMO's by turns, in CPU seconds of one process.

With ``--record`` it tells instead what recording costs: a step of the same traffic and an autonomous object that stands
beside the first road, run without a recorder and written to a file with ``all`` and with ``near``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LENGTH, SPACING, ASIDE = 10_000.0, 100.0, 20.0  # [m]
PER_ROAD = int(LENGTH / SPACING) - 20  # the last 2 km stay free
STEP, LIMIT = 0.05, 13.89  # [s], [m/s]

SUMO = """
import json, sys, time
import libsumo
from pathlib import Path
folder, steps = Path(sys.argv[1]), int(sys.argv[2])
libsumo.start(["sumo", "-n", str(folder / "net.xml"), "-r", str(folder / "routes.xml"), "--step-length", "0.05",
               "--no-step-log", "--no-warnings", "--time-to-teleport", "-1"])
while libsumo.simulation.getMinExpectedNumber() and libsumo.vehicle.getIDCount() < int(sys.argv[3]):
    libsumo.simulationStep()
begin = time.process_time()
for _ in range(steps):
    libsumo.simulationStep()
print(json.dumps({"seconds": time.process_time() - begin, "cars": libsumo.vehicle.getIDCount()}))
"""


def network(roads: int):
    """Roads of ours."""
    from tests.road.site import Site

    site = Site(metric=True)
    for k in range(1, roads + 1):
        site.lane(f"{k}.1", [(ASIDE * k, 0.0), (ASIDE * k, LENGTH)])
    return site.network()


def ours(roads: int, steps: int) -> dict[str, float]:
    """Time some steps of ours."""
    from cbsim.road.roadmap import build
    from cbsim.simulation.advance import advance
    from cbsim.spec.traffic import Driver, Pool, Spread
    from cbsim.world.compile import compile_world
    from cbsim.world.scene import Scene, Settings

    driver = Driver("d", speed=Spread(LIMIT))
    pools = (Pool("p", count=roads * PER_ROAD, drivers=(("d", 1.0),)),)
    begin = time.process_time()
    scene = Scene("bench", (), build(network(roads)), settings=Settings(step=STEP), pools=pools, drivers=(driver,))
    world = compile_world(scene)
    load = time.process_time() - begin
    snapshot = world.start
    for k in range(world.layout.cars):  # as SUMO's: 100 m apart from the begin of the road on
        snapshot.state.travel[k, 0] = SPACING * (k % PER_ROAD)
    advance(world, snapshot, 20)
    begin = time.process_time()
    for _ in range(steps // 100):
        advance(world, snapshot, 100)
    taken = time.process_time() - begin
    return {"seconds": taken, "cars": world.layout.cars, "load": load, "bytes": len(snapshot.to_bytes())}


def recording(roads: int, steps: int) -> dict[str, float]:
    """Time a run of ours without a recorder, and written to files with more and less traffic."""
    from dataclasses import replace

    from cbsim.recording.recorder import FileRecorder
    from cbsim.road.roadmap import build
    from cbsim.simulation.loop import Run
    from cbsim.spec.objects import Controller, Kind, TrafficObject, Triple
    from cbsim.spec.traffic import Driver, Pool, Spread
    from cbsim.world.compile import compile_world
    from cbsim.world.scene import Actor, Scene, Settings

    driver = Driver("d", speed=Spread(LIMIT))
    pools = (Pool("p", count=roads * PER_ROAD, drivers=(("d", 1.0),)),)
    place = Triple(1.5 * ASIDE, 0.5 * LENGTH, 0.75)
    bot = Actor(TrafficObject(Kind.AUTONOMOUS, "bot", controller=Controller.SENSOR, position_offset=place))
    scene = Scene("bench", (bot,), build(network(roads)), settings=Settings(step=STEP), pools=pools, drivers=(driver,))
    found: dict[str, float] = {}
    world = compile_world(scene)
    for which in ("none", "near", "all", "alone", "none", "near", "all", "alone"):
        settings = replace(scene.settings, record_traffic="none" if which == "alone" else which)
        made = replace(world, scene=replace(scene, settings=settings))
        with tempfile.TemporaryDirectory() as folder:
            run = Run(made, made.start, [], [] if which == "alone" else [FileRecorder(f"{folder}/run.mcap")])
            run.begin()
            run.advance(20)
            begin = time.process_time()
            run.advance(steps)
            taken = time.process_time() - begin
            run.end()
            size = 0.0 if which == "alone" else Path(f"{folder}/run.mcap").stat().st_size
        found |= {f"{which} seconds": min(taken, found.get(f"{which} seconds", taken)), f"{which} bytes": size}
    return found | {"cars": world.layout.cars}


def write_sumo(folder: Path, roads: int, binaries: Path) -> None:
    """Write the same roads and cars for SUMO."""
    nodes = "".join(
        f'<node id="a{k}" x="{ASIDE * k}" y="0"/><node id="b{k}" x="{ASIDE * k}" y="{LENGTH}"/>' for k in range(roads)
    )
    edges = "".join(f'<edge id="e{k}" from="a{k}" to="b{k}" numLanes="1" speed="{LIMIT}"/>' for k in range(roads))
    (folder / "nodes.nod.xml").write_text(f"<nodes>{nodes}</nodes>")
    (folder / "edges.edg.xml").write_text(f"<edges>{edges}</edges>")
    model = 'carFollowModel="IDM" tau="1.5" accel="1.4" decel="2.0" minGap="2" length="4.5" speedDev="0"'
    cars = "".join(
        f'<vehicle id="v{k}_{n}" type="c" route="r{k}" depart="0" departPos="{SPACING * n + 4.5}" departSpeed="0"/>'
        for k in range(roads)
        for n in range(PER_ROAD)
    )
    routes = "".join(f'<route id="r{k}" edges="e{k}"/>' for k in range(roads))
    (folder / "routes.xml").write_text(f'<routes><vType id="c" {model}/>{routes}{cars}</routes>')
    subprocess.run(
        [
            *(str(binaries / "netconvert"), "-n", str(folder / "nodes.nod.xml"), "-e", str(folder / "edges.edg.xml")),
            *("-o", str(folder / "net.xml")),
        ],
        check=True,
        capture_output=True,
    )


def tell_recording(counts: list[int], steps: int) -> None:
    """Print what recording costs for numbers of cars."""
    print("| cars | step without a recorder [ms] | none | near | all | MB of near | MB of all |")
    print("|---|---|---|---|---|---|---|")
    for cars in counts:
        roads = max(1, round(cars / PER_ROAD))
        command = [sys.executable, __file__, "--record", "--one", str(roads), "--steps", str(steps)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        alone = found["alone seconds"]
        more = [f"{100.0 * (found[f'{which} seconds'] / alone - 1.0):+.1f} %" for which in ("none", "near", "all")]
        sizes = [f"{found[f'{which} bytes'] / 1e6:.1f}" for which in ("near", "all")]
        step = 1e3 * alone / steps
        print(f"| {found['cars']:.0f} | {step:.3f} | {' | '.join([*more, *sizes])} |", flush=True)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sumo", help="Python of the environment that has SUMO")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--record", action="store_true", help="what recording costs")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("cars", nargs="*", type=int, default=[1_000, 10_000, 100_000])
    options = parser.parse_args()
    if options.one:
        print(json.dumps((recording if options.record else ours)(options.one, options.steps)))
        return
    if options.record:
        tell_recording(options.cars, options.steps)
        return
    print("| cars | ours: ns per car and step | load [s] | bytes a car | SUMO: ns per car and step | ratio |")
    print("|---|---|---|---|---|---|")
    for cars in options.cars:
        roads = max(1, round(cars / PER_ROAD))
        mine, theirs = [], []
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            if options.sumo:
                write_sumo(folder, roads, Path(options.sumo).parent)
                (folder / "run.py").write_text(SUMO)
            for _ in range(3):
                command = [sys.executable, __file__, "--one", str(roads), "--steps", str(options.steps)]
                mine.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
                if options.sumo:
                    steps = str(max(20, options.steps // 10))
                    command = [options.sumo, str(folder / "run.py"), str(folder), steps, str(roads * PER_ROAD)]
                    run = subprocess.run(command, check=True, capture_output=True, text=True)
                    theirs.append(json.loads(run.stdout.splitlines()[-1]) | {"steps": int(steps)})
        count = mine[0]["cars"]
        own = statistics.median(1e9 * one["seconds"] / one["cars"] / options.steps for one in mine)
        load = statistics.median(one["load"] for one in mine)
        size = mine[0]["bytes"] / count
        other = (
            statistics.median(1e9 * one["seconds"] / one["cars"] / one["steps"] for one in theirs) if theirs else 0.0
        )
        print(f"| {count} | {own:.0f} | {load:.2f} | {size:.0f} | {other:.0f} | {other / own:.1f} |", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    main()
