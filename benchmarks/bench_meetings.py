"""What it costs that models meet: steps apart, near and in touch; and what touching cars would cost by the core.

Vehicles touch one another by impulses in the plane, inside the kernel of quiet steps. The last figures say what the
same pair costs as a mechanism of the rigid-body core, which has to be the same blow first (a gate: velocities to 1 %).
"""

from __future__ import annotations

import statistics
import time

import numpy as np
from common import rounds, show

from cbsim.dynamics.compile import Compiled, compile_mechanism
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.options import SolverOptions
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.simulation.advance import advance
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.colliders import Collider
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mechanism.prototypes import Floating, PlanarAxis
from cbsim.spec.mechanism.shapes import Box
from cbsim.spec.objects import Controller, Kind, TrafficObject, Triple
from cbsim.spec.scenario import Placement
from cbsim.vehicle.kernels.columns import BODY_FRICTION, MASS, RESTITUTION, YAW_INERTIA
from cbsim.world.compile import compile_world
from cbsim.world.scene import Actor, Model, Scene, Settings
from cbsim.world.snapshot import Snapshot
from cbsim.world.world import World

SIZE = Triple(1.8, 4.5, 1.5)
SUBSTEP = 0.005  # [s] of vehicles
STEPS = 10


def car(name: str, y: float) -> Actor:
    fields = {"position_offset": Triple(0.0, y, 0.0), "size": SIZE, "drive": "dynamic"}
    return Actor(TrafficObject(Kind.AUTONOMOUS, name, controller=Controller.SENSOR, **fields))


def crate(name: str, y: float) -> Model:
    origin, body = Origin(), Box(1, 1, 1).body(mass=300.0, name="crate")
    description = ModelDescription(MechanismSpec(origin, [body], [Floating(origin, body)], gravity=0.0))
    return Model(name, description, 5, placement=Placement(position=Triple(0.0, y, 0.8), heading=0.0))


def prepared(actors: tuple[Actor, ...], models: tuple[Model, ...], speed: float) -> tuple[World, Snapshot]:
    """A World whose first body moves ahead."""
    world = compile_world(Scene("bench", actors, settings=Settings(step=0.05), models=models))
    start = world.start
    start.state.velocity[0], start.state.command[:, 5] = (0.0, speed, 0.0), 0.0
    return world, start


def step_cost(actors: tuple[Actor, ...], models: tuple[Model, ...], speed: float) -> list[float]:
    """Milliseconds of a step of the World."""
    world, start = prepared(actors, models, speed)

    def work() -> None:
        advance(world, start.copy(), STEPS)

    return [1e3 * t / STEPS for t in rounds(work)]


def core_pair(world: World) -> tuple[Compiled, SolverOptions, MechanismSpec]:
    """Two cars of a World as a mechanism in the plane."""
    origin, bodies, joints, colliders = Origin(), [], [], []
    for row, name in zip(world.constants.vehicle_parameters, "ab", strict=True):
        mass, yaw = float(row[MASS]), float(row[YAW_INERTIA])
        body = Body(mass, np.diag([yaw, yaw, yaw]), effective=True, name=name)
        bodies.append(body)
        joints.append(PlanarAxis(origin, body, (0, 0, 1), parent_vertex=(0, 0, 0.75)))
        laws = float(row[BODY_FRICTION]), float(row[RESTITUTION])
        colliders.append(Collider(body, Box(SIZE.x, SIZE.y, SIZE.z), *laws))
    spec = MechanismSpec(origin, bodies, joints, timestep=SUBSTEP, gravity=0.0, colliders=colliders)
    return compile_mechanism(spec), SolverOptions(warm_start=False), spec


def core_cost(apart: float) -> tuple[list[float], np.ndarray]:
    """Milliseconds of ten substeps of a pair, so far apart [m], by the core; and the speeds in the end."""
    world, _ = prepared((car("a", 0.0), car("b", SIZE.y + apart)), (), 8.0)
    compiled, options, spec = core_pair(world)
    workspaces, report = SolverWorkspaces(compiled), np.zeros(c.REPORT)
    coded = options.encode(spec.timestep, spec.gravity, None, False)
    z = np.zeros((2, 13))

    def work() -> None:
        z[:] = 0.0
        z[:, 2], z[:, 6], z[1, 1], z[0, 4] = 0.75, 1.0, SIZE.y + apart, 8.0
        for _ in range(STEPS):
            workspaces.advance(
                z, np.zeros((1, compiled.inputs)), np.zeros((2, 6)), *coded, 1, np.zeros((0, 0, 13)), report, own=False
            )

    return [1e3 * t for t in rounds(work)], z[:, 4]


def main() -> None:
    far, near, touch = crate("m", 60.0), crate("m", 3.4), crate("m", 2.9)
    show("car and crate, apart, a step of 50 ms", step_cost((car("a", 0.0),), (far,), 0.0), "ms")
    show("car and crate, near", step_cost((car("a", 0.0),), (near,), 0.0), "ms")
    show("car and crate, in touch", step_cost((car("a", 0.0),), (touch,), 8.0), "ms")
    show("two crates, near", step_cost((), (crate("a", 0.0), crate("b", 1.4)), 0.0), "ms")
    row = tuple(crate(f"m{k}", 1.5 * k) for k in range(10))
    show("a row of ten crates, a blow going through", step_cost((), row, 8.0), "ms")
    began = time.perf_counter()
    core_pair(prepared((car("a", 0.0), car("b", 6.0)), (), 8.0)[0])
    print(f"{'to compile a pair of cars for the core':<58} {1e3 * (time.perf_counter() - began):9.3g} ms")
    alone = step_cost((car("a", 0.0), car("b", 60.0)), (), 8.0)
    plane = step_cost((car("a", 0.0), car("b", SIZE.y + 0.1)), (), 8.0)
    core, speeds = core_cost(0.1)
    world, start = prepared((car("a", 0.0), car("b", SIZE.y + 0.1)), (), 8.0)
    advance(world, start, 1)
    if np.abs(start.columns.velocity[:, 1] - speeds).max() > 0.01 * 8.0 + 0.05:
        raise SystemExit(f"another blow: {start.columns.velocity[:, 1]} in the plane, {speeds} by the core")
    show("a pair of cars apart, a step with tyres", alone, "ms")
    show("a pair of cars in touch, impulses in the plane", plane, "ms")
    show("the same blow by the core, without tyres", core, "ms")
    ratio = statistics.median(core) / max(statistics.median(plane) - statistics.median(alone), 1e-6)
    print(f"the core takes {ratio:.1f} x what impulses in the plane add to a step")


if __name__ == "__main__":
    main()
