"""Literal movers and quiet steps: updates per second with the hash of every step.

    python benchmarks/bench_traffic.py [movers]

Peer: esmini 3.6 with two cars and every state read, 195 k steps/s, measured once on this class of machine (it is not
on PyPI, so it does not run here). Literal movers follow legs and decide nothing: no traffic simulator is their peer.
"""

from __future__ import annotations

import sys

import numpy as np
from common import rounds, show

from cbsim.simulation.advance import advance
from cbsim.simulation.loop import step
from cbsim.spec.objects import Controller, Kind, ScriptEntry, TrafficObject, Triple
from cbsim.world.compile import compile_world
from cbsim.world.scene import Actor, Scene
from cbsim.world.world import World

ESMINI_TWO_CARS = 195e3  # steps/s


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
        Actor(
            TrafficObject(
                Kind.AUTONOMOUS,
                f"car {k}",
                controller=Controller.SENSOR,
                size=Triple(1.7, 3.7, 2.1),
                position_offset=Triple(50.0 * k, 0.0, 0.0),
            )
        )
        for k in range(2)
    ]
    world = compile_world(Scene("two cars", tuple(actors)))
    world.first.state.command[:, :2] = (0.4, 0.2)
    world.first.state.command[:, 5] = 0.0
    return world


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    world, steps = movers(count), max(20, 2_000_000 // count)
    snapshot = world.start.copy()
    times = rounds(lambda: advance(world, snapshot, steps))
    show(f"{count} literal movers, hash every step", [count * steps / t / 1e6 for t in times], "M updates/s")

    cars = two_cars()
    quiet = cars.start.copy()
    rates = [20_000 / t for t in rounds(lambda: advance(cars, quiet, 20_000))]
    ratio = rates[len(rates) // 2] / ESMINI_TWO_CARS
    show("two cars, quiet steps", [r / 1e3 for r in rates], "k steps/s", f"{ratio:.2f} x esmini")

    def single() -> None:
        current = cars.start
        for _ in range(2000):
            current = step(cars, current)

    show("two cars, one step() at a time", [2000 / t / 1e3 for t in rounds(single)], "k steps/s")


if __name__ == "__main__":
    main()
