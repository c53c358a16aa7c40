"""Vehicle substeps per second on one core, inside the kernel and through quiet steps of a World.

    python benchmarks/bench_vehicle.py [vehicles]

Goal: 2 M vehicle substeps per second. The correctness gate: the vehicles of the timed run end where a run one by one
ends, to the bit.
"""

from __future__ import annotations

import statistics
import sys

import numpy as np
from common import rounds, show

from cbsim.jit import kernel
from cbsim.simulation.advance import advance
from cbsim.spec.drives import DRIVES
from cbsim.spec.objects import Controller, Kind, TrafficObject, Triple, Wheels
from cbsim.vehicle.kernels import step_vehicle
from cbsim.world.compile import compile_world
from cbsim.world.scene import Actor, Scene
from cbsim.world.world import World

GOAL = 2e6  # vehicle substeps/s
SUBSTEPS = 200
LEVEL = (0.0, 0.0, 9.81)  # [m/s²] gravity on level ground


@kernel
def drive_all(drive, planar, wheel, actuator, command, parameters, substeps, dt):
    """Carry all vehicles through substeps, vehicles inside as in a step."""
    for _ in range(substeps):
        for v in range(planar.shape[0]):
            step_vehicle(drive, planar[v], wheel[v], actuator[v], command[v], parameters[v], LEVEL, dt)


def fleet(drive: str, count: int) -> World:
    """Make vehicles far from each other, each with a command of its own."""
    rng = np.random.default_rng(1)
    actors = [
        Actor(
            TrafficObject(
                Kind.AUTONOMOUS,
                f"car {k}",
                controller=Controller.SENSOR,
                size=Triple(1.8, 4.5, 1.5),
                wheels=Wheels(DRIVES[drive].wheels),
                drive=drive,
                position_offset=Triple(100.0 * (k % 100), 100.0 * (k // 100), 0.0),
            )
        )
        for k in range(count)
    ]
    world = compile_world(Scene("fleet", tuple(actors)))
    command = world.first.state.command
    command[:, 0], command[:, 1] = rng.uniform(0.1, 0.5, count), rng.uniform(-0.3, 0.3, count)
    command[:, 2:4], command[:, 5] = rng.uniform(0.5, 1.0, (count, 2)), 0.0
    return world


def in_kernel(drive: str, count: int) -> list[float]:
    """Time the drive alone; the gate compares two ways to order the same work."""
    world = fleet(drive, count)
    state, parameters = world.first.state, world.constants.vehicle_parameters
    code = list(DRIVES).index(drive)

    def start() -> list[np.ndarray]:
        actuator = state.actuator.copy()
        actuator[:, 4:6] = state.command[:, 0:2]  # what comes out of dead times
        return [np.zeros((count, 6)), np.zeros((count, 4)), actuator]

    whole, single = start(), start()
    drive_all(code, *whole, state.command, parameters, SUBSTEPS, 0.005)
    for v in range(0, count, max(count // 10, 1)):
        drive_all(
            code, *(a[v : v + 1] for a in single), state.command[v : v + 1], parameters[v : v + 1], SUBSTEPS, 0.005
        )
        if not np.array_equal(whole[0][v], single[0][v]) or not np.abs(whole[0][v, :2]).max() > 0.1:
            raise SystemExit(f"{drive}: vehicle {v} does not end where it does alone")
    times = rounds(lambda: drive_all(code, *whole, state.command, parameters, SUBSTEPS, 0.005))
    return [count * SUBSTEPS / t for t in times]


def in_steps(drive: str, count: int) -> list[float]:
    """Time quiet steps of a World: hash of every step, contacts and all."""
    world = fleet(drive, count)
    snapshot = world.start.copy()
    steps = max(10, 20_000 // count)
    times = rounds(lambda: advance(world, snapshot, steps))
    return [count * steps * world.constants.substeps / t for t in times]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for drive in DRIVES:
        rates = in_kernel(drive, count)
        ratio = statistics.median(rates) / GOAL
        show(
            f"{drive}, {count} vehicles, in the kernel", [r / 1e6 for r in rates], "M substeps/s", f"{ratio:.2f} x goal"
        )
    for drive in ("dynamic", "skid"):
        show(f"{drive}, {count} vehicles, quiet steps", [r / 1e6 for r in in_steps(drive, count)], "M substeps/s")


if __name__ == "__main__":
    main()
