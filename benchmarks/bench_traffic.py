"""Reactive traffic beside SUMO: vehicle updates per second, on the same roads, with as many cars and the same step.

Two kinds of roads. *Straight*: 10 km long and apart from each other, with 80 cars each that start at rest, 100 m apart,
and follow by the intelligent driver model. *Grid*: streets of one lane each way, 200 m apart, with stop lines on all
sides of every crossing, and cars that wander, 13 on a kilometre of lane; measured after 20 s. Nobody leaves within the
time that is measured. Ours hashes every step and looks for collisions; SUMO has its collision checks as by default, and
does not teleport. SUMO comes from its wheel in an environment of its own::

    python -m venv sumo && sumo/bin/pip install eclipse-sumo libsumo
    python benchmarks/bench_traffic.py --sumo sumo/bin/python [--grid] [CARS …]

Each line is the median of three runs, ours and SUMO's by turns, in CPU seconds of one process.

    python benchmarks/bench_traffic.py --load [CARS …]

makes Worlds of cities with blocks of 1 km that so many wandering cars fill by four fifths, and tells CPU seconds and
peak memory of the load, one process each.

With ``--record`` it tells instead what recording costs: a step of the same traffic and an autonomous object that stands
beside the first road, run without a recorder and written to a file with ``all`` and with ``near``.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LENGTH, SPACING, ASIDE = 10_000.0, 100.0, 20.0  # [m]
PER_ROAD = int(LENGTH / SPACING) - 20  # the last 2 km stay free
STEP, LIMIT = 0.05, 13.89  # [s], [m/s]
BLOCK, DENSITY = 200.0, 0.013  # [m], [cars per metre of lane]
SETTLED = 400  # steps on the grid before it is measured
MODEL = 'carFollowModel="IDM" tau="1.5" accel="1.4" decel="2.0" minGap="2" length="4.5" speedDev="0"'
WAY = 150  # blocks of a way of SUMO's cars
CITY_BLOCK, CAR_SLOT = 1000.0, 6.5  # [m] of a city, and of a car that stands

SUMO = """
import json, sys, time
import libsumo
from pathlib import Path
folder, steps = Path(sys.argv[1]), int(sys.argv[2])
libsumo.start(["sumo", "-n", str(folder / "net.xml"), "-r", str(folder / "routes.xml"), "--step-length", "0.05",
               "--no-step-log", "--no-warnings", "--time-to-teleport", "-1"])
while libsumo.simulation.getMinExpectedNumber() and libsumo.vehicle.getIDCount() < int(sys.argv[3]):
    libsumo.simulationStep()
for _ in range(int(sys.argv[4])):
    libsumo.simulationStep()
begin = time.process_time()
for _ in range(steps):
    libsumo.simulationStep()
print(json.dumps({"seconds": time.process_time() - begin, "cars": libsumo.vehicle.getIDCount()}))
"""


def network(roads: int, is_grid: bool):
    """Roads of ours."""
    from tests.road.site import Site
    from tests.traffic.sites import grid

    if is_grid:
        return grid(roads, block=BLOCK)

    site = Site(metric=True)
    for k in range(1, roads + 1):
        site.lane(f"{k}.1", [(ASIDE * k, 0.0), (ASIDE * k, LENGTH)])
    return site.network()


def ours(roads: int, steps: int, is_grid: bool) -> dict[str, float]:
    """Time some steps of ours."""
    from cbsim.road.roadmap import build
    from cbsim.simulation.advance import advance
    from cbsim.spec.traffic import Driver, Pool, Spread
    from cbsim.world.compile import compile_world
    from cbsim.world.scene import Scene, Settings

    driver = Driver("d", speed=Spread(LIMIT))
    pools = (Pool("p", count=count_of(roads, is_grid), drivers=(("d", 1.0),)),)
    begin = time.process_time()
    scene = Scene(
        "bench", (), build(network(roads, is_grid)), settings=Settings(step=STEP), pools=pools, drivers=(driver,)
    )
    world = compile_world(scene)
    load = time.process_time() - begin
    snapshot = world.start
    for k in range(0 if is_grid else world.layout.cars):  # as SUMO's: 100 m apart from the begin of the road on
        snapshot.state.travel[k, 0] = SPACING * (k % PER_ROAD)
    advance(world, snapshot, SETTLED if is_grid else 20)
    begin = time.process_time()
    for _ in range(steps // 100):
        advance(world, snapshot, 100)
    taken = time.process_time() - begin
    return {"seconds": taken, "cars": world.layout.cars, "load": load, "bytes": len(snapshot.to_bytes())}


def city(cars: int) -> dict[str, float]:
    """Time the load of a city full of cars, its road network given."""
    from cbsim.export.city import city as generate
    from cbsim.road.roadmap import build
    from cbsim.simulation.advance import advance
    from cbsim.spec.traffic import Pool
    from cbsim.world.compile import compile_world
    from cbsim.world.scene import Scene, Settings

    streets = max(2, round(0.5 + math.sqrt(0.25 + cars * CAR_SLOT / (0.8 * 8.0 * CITY_BLOCK))))
    spec, _, _ = generate(columns=streets, rows=streets, block=CITY_BLOCK, lanes=2, zones=0)
    begin = time.process_time()
    pools = (Pool("p", count=cars),)
    world = compile_world(Scene("bench", (), build(spec), settings=Settings(step=STEP), pools=pools))
    load, memory = time.process_time() - begin, peak()
    snapshot = world.start
    advance(world, snapshot, 1)
    begin = time.process_time()
    advance(world, snapshot, 10)
    return {
        "load": load,
        "lanelets": len(world.traffic.road.lanelets),
        "memory": memory,
        "stepping": peak(),
        "step": (time.process_time() - begin) / 10.0,
    }


def peak() -> float:
    """Peak memory of this process [GB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2.0**20


def count_of(roads: int, is_grid: bool) -> int:
    """Count the cars on so many roads, or on a grid of so many streets."""
    return int(4 * roads * (roads - 1) * BLOCK * DENSITY) if is_grid else roads * PER_ROAD


def roads_for(cars: int, is_grid: bool) -> int:
    """Count the roads, or the streets of a grid, for so many cars."""
    return max(2, round(math.sqrt(cars / (4 * BLOCK * DENSITY)) + 0.5)) if is_grid else max(1, round(cars / PER_ROAD))


def write_sumo_grid(folder: Path, roads: int, count: int, blocks: int = WAY) -> None:
    """Write the same grid and cars that wander on it for SUMO, each over so many blocks."""
    nodes = [(i, j) for i in range(roads) for j in range(roads)]
    ways = [(a, (a[0] + i, a[1] + j)) for a in nodes for i, j in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    ways = [(a, b) for a, b in ways if 0 <= b[0] < roads and 0 <= b[1] < roads]
    after = {node: [way for way in ways if way[0] == node] for node in nodes}
    name = {way: f"{way[0][0]}_{way[0][1]}to{way[1][0]}_{way[1][1]}" for way in ways}
    places = "".join(f'<node id="{i}_{j}" x="{BLOCK * i}" y="{BLOCK * j}" type="allway_stop"/>' for i, j in nodes)
    edges = "".join(
        f'<edge id="{name[a, b]}" from="{a[0]}_{a[1]}" to="{b[0]}_{b[1]}" numLanes="1" speed="{LIMIT}"/>'
        for a, b in ways
    )
    (folder / "nodes.nod.xml").write_text(f"<nodes>{places}</nodes>")
    (folder / "edges.edg.xml").write_text(f"<edges>{edges}</edges>")
    draw, cars = random.Random(1), []
    per = -(-count // len(ways))
    for n, (k, way) in enumerate([(k, way) for k in range(per) for way in ways][:count]):
        route = [way]
        for _ in range(blocks):
            route.append(draw.choice([one for one in after[route[-1][1]] if one[1] != route[-1][0]]))
        edge_names, place = " ".join(name[one] for one in route), 10.0 + (BLOCK - 30.0) * (k + 0.5) / per
        cars.append(
            f'<vehicle id="v{n}" type="c" depart="0" departPos="{place}" departSpeed="0">'
            f'<route edges="{edge_names}"/></vehicle>'
        )
    (folder / "routes.xml").write_text(f'<routes><vType id="c" {MODEL}/>{"".join(cars)}</routes>')


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
    settings = Settings(step=STEP)
    scene = Scene("bench", (bot,), build(network(roads, False)), settings=settings, pools=pools, drivers=(driver,))
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


def write_sumo(folder: Path, roads: int, binaries: Path, is_grid: bool) -> None:
    """Write the same roads and cars for SUMO."""
    if is_grid:
        write_sumo_grid(folder, roads, count_of(roads, True))
    else:
        write_sumo_roads(folder, roads)
    files = ("-n", "nodes.nod.xml", "-e", "edges.edg.xml", "-o", "net.xml")
    command = [str(binaries / "netconvert"), *files, "--no-turnarounds", "true"]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)


def write_sumo_roads(folder: Path, roads: int) -> None:
    """Write straight roads and cars for SUMO."""
    nodes = "".join(
        f'<node id="a{k}" x="{ASIDE * k}" y="0"/><node id="b{k}" x="{ASIDE * k}" y="{LENGTH}"/>' for k in range(roads)
    )
    edges = "".join(f'<edge id="e{k}" from="a{k}" to="b{k}" numLanes="1" speed="{LIMIT}"/>' for k in range(roads))
    (folder / "nodes.nod.xml").write_text(f"<nodes>{nodes}</nodes>")
    (folder / "edges.edg.xml").write_text(f"<edges>{edges}</edges>")
    cars = "".join(
        f'<vehicle id="v{k}_{n}" type="c" route="r{k}" depart="0" departPos="{SPACING * n + 4.5}" departSpeed="0"/>'
        for k in range(roads)
        for n in range(PER_ROAD)
    )
    routes = "".join(f'<route id="r{k}" edges="e{k}"/>' for k in range(roads))
    (folder / "routes.xml").write_text(f'<routes><vType id="c" {MODEL}/>{routes}{cars}</routes>')


def show_loads(counts: list[int]) -> None:
    """Print a table of loads."""
    print("| cars | lanelets | load [CPU s] | peak memory [GB] | while stepping [GB] | ns per car and step |")
    print("|---|---|---|---|---|---|")
    for cars in counts:
        command = [sys.executable, __file__, "--city", str(cars)]
        made = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        each = 1e9 * made["step"] / cars
        columns = f"{made['load']:.2f} | {made['memory']:.2f} | {made['stepping']:.2f} | {each:.0f}"
        print(f"| {cars} | {made['lanelets']} | {columns} |", flush=True)


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
    parser.add_argument("--grid", action="store_true", help="streets that cross, in place of straight roads")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--record", action="store_true", help="what recording costs")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--city", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--load", action="store_true", help="measure loads of cities")
    parser.add_argument("cars", nargs="*", type=int, default=[1_000, 10_000, 100_000])
    options = parser.parse_args()
    if options.one:
        chosen = recording(options.one, options.steps) if options.record else None
        print(json.dumps(chosen or ours(options.one, options.steps, options.grid)))
        return
    if options.city:
        print(json.dumps(city(options.city)))
        return
    if options.load:
        show_loads(options.cars)
        return
    if options.record:
        tell_recording(options.cars, options.steps)
        return
    print("| cars | ours: ns per car and step | load [s] | bytes a car | SUMO: ns per car and step | ratio |")
    print("|---|---|---|---|---|---|")
    for cars in options.cars:
        roads = roads_for(cars, options.grid)
        mine, theirs = [], []
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            if options.sumo:
                write_sumo(folder, roads, Path(options.sumo).parent.absolute(), options.grid)
                (folder / "run.py").write_text(SUMO)
            for _ in range(3):
                command = [sys.executable, __file__, "--one", str(roads), "--steps", str(options.steps)]
                command += ["--grid"] * options.grid
                mine.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
                if options.sumo:
                    steps = str(max(20, options.steps // 10))
                    count, settled = count_of(roads, options.grid), SETTLED if options.grid else 0
                    command = [options.sumo, str(folder / "run.py"), str(folder), steps, str(count), str(settled)]
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
