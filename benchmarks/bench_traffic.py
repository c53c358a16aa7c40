"""Literal movers and quiet steps: updates per second with the hash of every step; esmini's published rate beside it.

    python benchmarks/bench_traffic.py [movers]

esmini (2 cars, state read each step): 195 k steps/s, 0.78 M vehicle updates/s with 100 cars, measured on the project's
kind of machine. There is no SUMO row here: literal movers follow legs and decide nothing.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from cbsim.run.simulation import advance
from cbsim.spec.objects import Controller, Kind, ScriptEntry, TrafficObject, Triple
from cbsim.world.compile import compile_world
from cbsim.world.scene import Actor, Scene
from cbsim.world.world import World

ESMINI_TWO_CARS = 195e3  # steps/s
ROUNDS = 7


def movers(count: int) -> World:
    """Make a world of movers on random scripts with turns and pauses."""
    rng = np.random.default_rng(1)
    actors = []
    for k in range(count):
        script = tuple(
            ScriptEntry(rng.uniform(3.0, 15.0), rng.choice([0.0, 1.5]), rng.uniform(5.0, 60.0), rng.uniform(-3.0, 3.0))
            for _ in range(30)
        )
        place = Triple(rng.uniform(-500.0, 500.0), rng.uniform(-500.0, 500.0), 0.0)
        item = TrafficObject(
            Kind.DYNAMIC, f"mover {k}", controller=Controller.SCRIPT, script=script, position_offset=place
        )
        actors.append(Actor(item))
    return compile_world(Scene("movers", tuple(actors)))


def two_cars() -> World:
    """Make a world of two vehicles that turn."""
    actors = [
        Actor(TrafficObject(Kind.AUTONOMOUS, f"car {k}", controller=Controller.SENSOR, size=Triple(1.7, 3.7, 2.1)))
        for k in range(2)
    ]
    world = compile_world(Scene("two cars", tuple(actors)))
    world.start.state.command[:, :2] = (0.4, 0.2)
    return world


def steps_per_second(world: World, steps: int) -> list[float]:
    """Time quiet steps, several rounds."""
    snapshot = world.start.copy()
    advance(world, snapshot, 2)
    rates = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        advance(world, snapshot, steps)
        rates.append(steps / (time.perf_counter() - began))
    return sorted(rates)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    low, *_, high = rates = steps_per_second(movers(count), max(20, 2_000_000 // count))
    middle = rates[ROUNDS // 2]
    print(
        f"{count} literal movers, hash every step: {count * low / 1e6:.1f} / {count * middle / 1e6:.1f} / "
        f"{count * high / 1e6:.1f} M updates/s (min / median / max)"
    )
    low, *_, high = rates = steps_per_second(two_cars(), 20_000)
    middle = rates[ROUNDS // 2]
    print(
        f"two cars, quiet steps of 0.05 s: {low / 1e3:.0f} / {middle / 1e3:.0f} / {high / 1e3:.0f} k steps/s, "
        f"{middle / ESMINI_TWO_CARS:.2f} x esmini's 195 k"
    )


if __name__ == "__main__":
    main()
