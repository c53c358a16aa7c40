"""The same work compiled for one target and for another, such as `native` and the fixed target of the architecture.

    python benchmarks/bench_targets.py [--targets native x86-64-v3] [--pairs 15] [--only NAME …]
    python benchmarks/bench_targets.py --before SOURCES --cache FOLDER      # two checkouts instead of two targets

Each side is a process of its own, which has done every piece of work before it is timed. Both take their samples by
turns, in CPU time, and the least of each side counts, so that other load disturbs both alike and as little as it can.
Before a piece of work is timed, both sides must have given the same bits. A ratio above one means that the second side
is slower than the first.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "scenarios" / "models"
SAMPLE = 0.06  # [s] that a sample lasts at least


def scan_of(layers: int, beams: int, pitch: float, meshes: int = 0) -> Callable[[], object]:
    """Cast one scan among 200 bodies, as `bench_lasers` does."""
    from bench_lasers import make_world

    from cbsim.sensing.caster import Caster
    from cbsim.spec.sensor import SensorConf

    pitches = tuple(np.radians(np.linspace(-24.8, 2.0, layers))) if layers > 1 else (0.0,)
    half = np.pi if layers > 1 else 0.5 * np.pi
    conf = SensorConf(start_angle=-half, end_angle=half, beams=beams, layer_pitches=pitches, max_range=100.0)
    world = make_world(conf, meshes)
    sensor, state = world.sensors[0], world.start.state
    tilt = 0.5 * np.radians(pitch)
    pose = np.array([*state.position[0, :2], 2.0, np.cos(tilt), np.sin(tilt), 0.0, 0.0])
    caster, positions, orientations = Caster(world, sensor), state.position.copy(), state.orientation.copy()
    return lambda: caster.cast(pose, positions, orientations)


def steps_of(name: str, steps: int) -> Callable[[], object]:
    """Simulate a mechanism of the gallery."""
    from cbsim.multibody import gallery, get_maximal_state, rollout

    mechanism = gallery.build(name)
    z = get_maximal_state(mechanism)
    return lambda: rollout(mechanism, z, steps)


def gradients_of(name: str) -> Callable[[], object]:
    """Differentiate a step of a mechanism."""
    from cbsim.multibody import gallery, get_minimal_gradients, get_minimal_state

    mechanism = gallery.build(name)
    x = get_minimal_state(mechanism)
    return lambda: np.concatenate([part.ravel() for part in get_minimal_gradients(mechanism, x)])


def run_of(name: str, duration: float, **settings: str) -> Callable[[], object]:
    """Run a scenario or a model."""
    import cbsim

    world = cbsim.load(MODELS / name if "." in name else name, **({"settings": settings} if settings else {}))
    return lambda: cbsim.run(world, duration=duration).hashes


def juice_of(name: str, **controls: str) -> Callable[[], object]:
    """Run one of the real Juice models."""
    from bench_juice import MODELS as REAL
    from bench_juice import run

    import cbsim

    (instance,) = cbsim.load(REAL / name, settings=controls).instances
    return lambda: run(instance)


def shift_of() -> Callable[[], object]:
    """Run the real Shift vehicle."""
    from bench_shift import VEHICLE

    import cbsim

    world = cbsim.load(VEHICLE)
    return lambda: cbsim.run(world, duration=0.5).hashes


def traffic_of(roads: int, is_grid: bool) -> Callable[[], object]:
    """Advance reactive traffic, on straight roads or on a grid of streets."""
    from bench_traffic import network

    from cbsim.road.roadmap import build
    from cbsim.simulation.advance import advance
    from cbsim.spec.traffic import Pool
    from cbsim.world.compile import compile_world
    from cbsim.world.scene import Scene

    world = compile_world(Scene("traffic", (), build(network(roads, is_grid)), pools=(Pool("p", count=200),)))
    begin = world.start
    advance(world, begin, 100)

    def work() -> object:
        snapshot = begin.copy()
        advance(world, snapshot, 40)
        return snapshot.state.travel

    return work


def vehicles_of(drive: str) -> Callable[[], object]:
    """Advance vehicles by quiet steps."""
    from bench_vehicle import fleet

    from cbsim.simulation.advance import advance

    world = fleet(drive, 100)

    def work() -> object:
        snapshot = world.start.copy()
        advance(world, snapshot, 20)
        return snapshot.state.position

    return work


WORK: dict[str, Callable[[], Callable[[], object]]] = {
    "steps, pendulum": lambda: steps_of("pendulum", 500),
    "steps, chain": lambda: steps_of("chain", 100),
    "steps, block": lambda: steps_of("block", 100),
    "steps, quadruped": lambda: steps_of("quadruped", 40),
    "steps, atlas": lambda: steps_of("atlas", 5),
    "gradients, chain": lambda: gradients_of("chain"),
    "gradients, quadruped": lambda: gradients_of("quadruped"),
    "Juice, cart": lambda: run_of("cart.jm", 2.0),
    "Juice, SimpleHex": lambda: juice_of("SimpleHex.jm", **{"joystick1.y": "-1.0"}),
    "Juice, Mech2": lambda: juice_of("Mech2.jm", **{"joystick1.z": "1.0"}),
    "IRIT, hexapod by forces": lambda: run_of("hexapod.irt", 2.0, dynamics="true"),
    "IRIT, hexapod kinematic": lambda: run_of("hexapod.irt", 10.0, dynamics="false"),
    "Shift, vehicle": shift_of,
    "vehicles, dynamic": lambda: vehicles_of("dynamic"),
    "vehicles, skid": lambda: vehicles_of("skid"),
    "traffic, straight": lambda: traffic_of(3, False),
    "traffic, grid": lambda: traffic_of(4, True),
    "closed loop, four_way_stop": lambda: run_of("four_way_stop", 5.0),
    "scan, 181 beams level": lambda: scan_of(1, 181, 0.0),
    "scan, 181 beams pitched": lambda: scan_of(1, 181, -8.0),
    "scan, 64 × 1024 level": lambda: scan_of(64, 1024, 0.0),
    "scan, 64 × 1024 pitched": lambda: scan_of(64, 1024, -8.0),
}


def serve() -> None:
    """Answer names of work, one on each line of standard input, with the digest of the result and the seconds taken."""
    sys.path.append(str(ROOT))  # helpers of tests; the package itself may come from elsewhere
    made: dict[str, tuple[Callable[[], object], str, int]] = {}
    for line in sys.stdin:
        name = line.rstrip("\n")
        if name not in made:
            try:
                work = WORK[name]()
                out = np.ascontiguousarray(np.asarray(work()))
            except Exception as reason:  # so that the other rows are still timed
                print(f"error {type(reason).__name__}: {reason}".replace("\n", " "), flush=True)
                continue
            began = time.process_time()
            work()
            count = max(1, int(SAMPLE / max(time.process_time() - began, 1e-6)))
            made[name] = work, hashlib.blake2b(out.tobytes(), digest_size=8).hexdigest(), count
        work, digest, count = made[name]
        began = time.process_time()
        for _ in range(count):
            work()
        print(digest, (time.process_time() - began) / count, flush=True)


def start(environment: dict[str, str]) -> subprocess.Popen[str]:
    """Start one side."""
    command = [sys.executable, __file__, "--serve"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=os.environ | environment, stdin=pipe, stdout=pipe, text=True)


def ask(side: subprocess.Popen[str], name: str) -> tuple[str, float]:
    """Take a sample."""
    assert side.stdin is not None
    assert side.stdout is not None
    side.stdin.write(f"{name}\n")
    side.stdin.flush()
    first, rest = side.stdout.readline().rstrip("\n").split(" ", 1)
    if first == "error":
        raise RuntimeError(rest)
    return first, float(rest)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--targets", nargs=2, default=("native", ""), metavar="CPU", help="values of CBSIM_CPU")
    parser.add_argument("--before", metavar="SOURCES", help="a checkout that is the first side")
    parser.add_argument("--cache", metavar="FOLDER", help="CBSIM_CACHE of the first side")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="beginnings of names")
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    if options.before:
        sides = [{"PYTHONPATH": options.before}, {"PYTHONPATH": str(ROOT)}]
    else:
        sides = [{"CBSIM_CPU": cpu, "PYTHONPATH": str(ROOT)} for cpu in options.targets]
    if options.cache:
        sides[0]["CBSIM_CACHE"] = options.cache
    one, other = map(start, sides)
    print(f"{'work':<30} {'first':>10} {'second':>10}  second / first")
    for name in WORK:
        if not name.startswith(tuple(options.only) or ("",)):
            continue
        try:
            same = ask(one, name)[0] == ask(other, name)[0]
            pairs = [(ask(one, name)[1], ask(other, name)[1]) for _ in range(options.pairs)]
        except RuntimeError as reason:
            print(f"{name:<30} {reason}")
            continue
        first, second = (min(times) for times in zip(*pairs, strict=True))
        told = "" if same else "  different bits"
        print(f"{name:<30} {first * 1e3:7.3f} ms {second * 1e3:7.3f} ms  {second / first:.3f}{told}", flush=True)


if __name__ == "__main__":
    main()
