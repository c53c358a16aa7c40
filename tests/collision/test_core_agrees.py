"""The planar impulses of vehicles against the rigid-body core: the same blow has the same outcome in both."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cbsim
from cbsim.dynamics.compile import compile_mechanism
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.options import SolverOptions
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.geometry.pose import heading_quaternion
from cbsim.spec.mechanism.bodies import Body, Origin
from cbsim.spec.mechanism.colliders import Collider
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.prototypes import PlanarAxis
from cbsim.spec.mechanism.shapes import Box, Cylinder
from cbsim.spec.objects import Triple
from tests.collision.bodies import blow
from tests.collision.test_response import SIZE, at_pole, inertia, pair, pole
from tests.worlds import bot, mesh, world

STEP = 1e-4  # [s] in which nothing moves far
CLOSE = 1e-10  # [m] by which bodies overlap


def core_blow(masses, poses, motions, friction, restitution, still=None):
    """Velocities (n, 3) after a blow of vehicles, boxes that stay upright in the plane, as the core solves it."""
    origin, bodies, joints, colliders = Origin(), [], [], []
    for (mass, yaw), name in zip(masses / masses[0, 0], "ab", strict=False):  # the unit of mass is that of the first
        body = Body(mass, np.diag([yaw, yaw, yaw]), name=name, effective=True)
        bodies.append(body)
        joints.append(PlanarAxis(origin, body, (0, 0, 1), parent_vertex=(0, 0, 0.75)))
        colliders.append(Collider(body, Box(SIZE.x, SIZE.y, SIZE.z), friction, restitution))
    if still is not None:
        colliders.append(Collider(origin, still, friction, restitution))
    spec = MechanismSpec(origin, bodies, joints, timestep=STEP, gravity=0.0, colliders=colliders)
    compiled, options = compile_mechanism(spec), SolverOptions(rtol=1e-5, btol=3e-8, max_iter=200, warm_start=False)
    z, report = np.zeros((len(bodies), 13)), np.zeros(c.REPORT)
    z[:, :2], z[:, 2], z[:, 6:10] = poses[:, :2], 0.75, heading_quaternion(poses[:, 2])
    z[:, 3:5], z[:, 12] = motions[:, :2], motions[:, 2]
    SolverWorkspaces(compiled).advance(
        z, np.zeros((1, compiled.inputs)), np.zeros((len(z), 6)),
        *options.encode(STEP, np.zeros(3), None, False), 1, np.zeros((0, 0, 13)), report, own=False,
    )  # fmt: skip
    assert report[c.STATUS] == c.SOLVED
    return z[:, [3, 4, 12]]


def together(made, one, heading, angle):
    """Where a second vehicle in a direction from the first just touches it."""

    def poses(apart):
        return np.array([one, (one[0] + apart * math.cos(angle), one[1] + apart * math.sin(angle), heading)])

    near, far = 1.5, 6.0
    while far - near > CLOSE:
        middle = 0.5 * (near + far)
        overlap = len(blow(made, poses(middle), [(0.0, 0.0, 0.0)] * 2)[2]) > 0
        near, far = (middle, far) if overlap else (near, middle)
    return poses(near)


@pytest.mark.parametrize("restitution", [0.0, 0.3])
@pytest.mark.parametrize("friction", [0.0, 0.4, 0.9])
@pytest.mark.parametrize("heavier", [1.0, 3.0])
def test_vehicles_part_from_one_another_as_the_core_has_it(heavier, friction, restitution):
    """Same mass, inertia, friction and bounce: velocities after a blow are the same, momentum and energy with them."""
    made = pair(restitution, friction, heavier)
    masses = np.array([inertia(made, v) for v in range(2)])
    rng = np.random.default_rng(7)
    compared = 0
    while compared < 12:
        poses = together(made, (0.0, 0.0, rng.uniform(0, 7)), rng.uniform(0, 7), rng.uniform(0, 7))
        motions = rng.normal(size=(2, 3)) * [6, 6, 1]
        _, after, rows = blow(made, poses, motions)
        if not len(rows) or rows[0, 9] < 1.0:
            continue
        ours = core_blow(masses, poses, motions, friction, restitution)
        compared += 1
        np.testing.assert_allclose(after, ours, atol=2e-3 * rows[0, 9])


@pytest.mark.parametrize("restitution", [0.0, 0.4])
@pytest.mark.parametrize("friction", [0.0, 0.3, 1.0])
def test_a_vehicle_leaves_a_pole_as_the_core_has_it(friction, restitution):
    made = pole(restitution, friction)
    masses, post = np.array([inertia(made)]), Cylinder(0.1, 2.0, position_offset=(0, 0, 1.0))
    rng = np.random.default_rng(8)
    compared = 0
    while compared < 25:
        pose = np.array([at_pole(rng.uniform(0, 7), rng.uniform(0, 7), 1e-9)])
        motion = rng.normal(size=(1, 3)) * [6, 6, 1]
        _, after, rows = blow(made, pose, motion)
        if not len(rows) or rows[0, 9] < 1.0:
            continue
        ours = core_blow(masses, pose, motion, friction, restitution, still=post)
        compared += 1
        np.testing.assert_allclose(after, ours, atol=2e-3 * rows[0, 9])


@pytest.mark.parametrize("rise", [0.0, 0.1, 0.25])
def test_on_a_slope_a_blow_is_that_of_the_core_along_it(rise):
    """Normals of vehicles are level, so a slope of 14° costs a blow the cosine of its angle at most."""
    long, wide = 60.0, 20.0
    corners = [[x, y, rise * y] for x, y in ((-wide, -long), (wide, -long), (wide, long), (-wide, long))]
    ramp = mesh("Ramp", corners, [[0, 1, 2], [0, 2, 3]], drivable=True)
    fields = {"size": SIZE, "drive": "dynamic"}
    parameters = (("restitution", 0.2), ("body_friction", 0.5))
    made = world(
        bot("a", parameters=parameters, **fields),
        bot("b", parameters=parameters, position_offset=Triple(0.4, 5.0, 0.0), **fields), ramp,
    )  # fmt: skip
    snapshot, along = made.start, np.array([0.0, 1.0, rise]) / math.hypot(1.0, rise)
    snapshot.state.command[:, 5] = 0.0
    snapshot.state.velocity[0] = 8.0 * along
    while True:
        before, snapshot = snapshot, cbsim.step(made, snapshot)
        if abs(snapshot.columns.velocity[1] @ along) > 1.0:
            break
    speeds = before.columns.velocity[:2] @ along
    masses = np.array([inertia(made, v) for v in range(2)])
    poses = np.array([[0.0, 0.0, 0.0], [0.4, 4.0 - CLOSE, 0.0]])
    motions = np.array([[0.0, speeds[0], 0.0], [0.0, speeds[1], 0.0]])
    ours = core_blow(masses, poses, motions, 0.5, 0.2)
    after = snapshot.columns.velocity[:2] @ along
    drag = 0.05 * (9.81 * rise / math.hypot(1.0, rise) + 0.5)  # what the rest of the step does to both
    np.testing.assert_allclose(after, ours[:, 1], atol=drag + 8.0 * (1.0 - 1.0 / math.hypot(1.0, rise)))
