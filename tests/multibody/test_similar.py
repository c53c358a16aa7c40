"""The same mechanism elsewhere moves the same: turned, larger, heavier, with whatever its joints and contacts have."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.dynamics.compile import compile_mechanism
from cbsim.dynamics.kernels import columns as c
from cbsim.dynamics.options import SolverOptions
from cbsim.dynamics.start_state import start_state
from cbsim.dynamics.workspaces import SolverWorkspaces
from cbsim.errors import ModelError
from cbsim.geometry.pose import Pose, mounting_quaternion, rotate
from cbsim.spec.mechanism.bodies import Origin
from cbsim.spec.mechanism.colliders import Collider, ground
from cbsim.spec.mechanism.contacts import contact_constraint
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.drives import DryFriction, Motor
from cbsim.spec.mechanism.model_description import ModelDescription
from cbsim.spec.mechanism.prototypes import Cylindrical, Floating, Prismatic, Revolute, Spherical
from cbsim.spec.mechanism.shapes import Box, Sphere
from cbsim.spec.mechanism.similar import Change, Similar, can_change_size, softened
from cbsim.world.frames import Frame

ELSEWHERE = Frame(np.array([7.0, -3.0, 2.0]), mounting_quaternion(0.3, -0.4, 2.0), 0.25, 40.0)
SLOPE = Frame(np.array([7.0, -3.0, 2.0]), mounting_quaternion(0.0, 0.0, 0.5 * np.pi), 2.0, 3.0)


def swing():
    origin, arm, rod = (
        Origin(),
        Box(0.2, 1, 0.2, mass=2.0).body(name="arm"),
        Box(0.1, 0.8, 0.1, mass=1.0).body(name="rod"),
    )
    joints = [
        Revolute(
            origin, arm, (1, 0, 0), child_vertex=(0, -0.5, 0), parent_vertex=(0.1, 0.2, 1.0), spring=3.0, damper=0.2
        ),
        Spherical(arm, rod, parent_vertex=(0, 0.5, 0), child_vertex=(0, -0.4, 0), damper=0.05, name="ball"),
    ]
    return MechanismSpec(origin, [arm, rod], joints), {}, np.array([0.4, 0.0, 0.0, 0.0])


def slider():
    origin, cart, wheel = (
        Origin(),
        Box(1, 1, 1, mass=5.0).body(name="cart"),
        Box(0.2, 0.6, 0.6, mass=1.0).body(name="wheel"),
    )
    rail = Prismatic(
        origin, cart, (0, 1, 0), drives=[DryFriction(3.0)], joint_limits=(-0.1, 0.05), stop_softness=(0.3, 1e-4)
    )
    axle = Revolute(cart, wheel, (1, 0, 0), drives=[Motor(2.0, cfm=0.05)], spring=0.5, spring_offset=[0.2])
    return MechanismSpec(origin, [cart, wheel], [rail, axle], gravity=(0.0, -2.0, -9.81)), {}, np.array([4.0, 3.0])


def screw():
    origin, nut = Origin(), Box(0.3, 0.3, 0.2, mass=1.5).body(name="nut")
    joint = Cylindrical(origin, nut, (0, 0, 1), parent_vertex=(0.2, 0, 0), orientation_offset=(0.6, 0, 0.8, 0))
    return MechanismSpec(origin, [nut], [joint], input_scaling=1.0), {}, np.array([0.02, 0.01])


def toss():
    origin, box = Origin(), Box(0.5, 0.4, 0.3).body(mass=3.0, name="box")
    colliders = [ground(origin), Collider(box, Box(0.5, 0.4, 0.3), 0.4, restitution=0.2, softness=(0.4, 1e-5))]
    spec = MechanismSpec(origin, [box], [Floating(origin, box, name="free")], colliders=colliders)
    return spec, {"free": (0.0, 0.0, 0.4, 0.3, 0.2, 0.1)}, np.zeros(6)


def hopper():
    origin, ball = Origin(), Sphere(0.2).body(mass=2.0, name="ball")
    laws = {"contact_radius": 0.2, "softness": (0.3, 1e-4)}
    contacts = contact_constraint(ball, (0, 0.1, 1), friction_coefficient=0.6, contact_offset=(0, 0, -0.3), **laws)
    return MechanismSpec(origin, [ball], [Floating(origin, ball)], contacts), {}, np.array([0.5, 0.2, 0, 0.1, 0, 0])


def path(spec, start, inputs, steps=60):
    """States (steps, bodies, 13) of a mechanism under constant inputs, solved closely."""
    compiled, options = compile_mechanism(spec), SolverOptions(rtol=1e-7, btol=1e-9, max_iter=200, warm_start=False)
    workspaces, report = SolverWorkspaces(compiled), np.zeros(c.REPORT)
    out = np.empty((steps + 1, *start.shape))
    z, external = start.copy(), np.zeros((len(start), 6))
    workspaces.advance(
        z, inputs[None], external, *options.encode(spec.timestep, spec.gravity, spec.input_scaling, False), steps, out,
        report, own=False,
    )  # fmt: skip
    assert report[c.STATUS] == c.SOLVED
    return out


@pytest.mark.parametrize("frame", [ELSEWHERE, SLOPE], ids=["elsewhere", "slope"])
@pytest.mark.parametrize("make", [swing, slider, screw, toss, hopper])
def test_what_is_similar_moves_alike(make, frame):
    """Seen from its own frame and in its own units it goes the same way, to the tolerance of the solver."""
    spec, start, inputs = make()
    names = iter(range(1000))
    change = Change(
        frame.pose, frame.scale, frame.weight, (spec.timestep, spec.timestep), lambda name: f"{name} {next(names)}"
    )
    made = Similar.of(spec, change)
    pull = frame.scale * rotate(frame.orientation, spec.gravity)
    moved = MechanismSpec(
        spec.origin, made.bodies, made.joints, made.contacts, spec.timestep, pull, colliders=made.colliders
    )
    z = start_state(ModelDescription(spec, start), compile_mechanism(spec))
    there, count = frame.to_world(z), len(spec.bodies)
    if len(made.bodies) > count:
        there = np.concatenate([there, [[*frame.position, 0, 0, 0, *frame.orientation, 0, 0, 0]]])
    ours = path(spec, z, inputs)
    theirs = path(moved, there, made.feeds * inputs)[:, :count]
    size = np.abs(ours).max()  # the tolerance is what slack times impulse may leave, in other units
    for k in range(len(ours)):
        np.testing.assert_allclose(frame.to_model(theirs[k]), ours[k], atol=1e-5 * size)


def test_softness_keeps_its_spring_and_damper_in_shorter_steps():
    change = Change(Pose(np.zeros(3), np.eye(4)[0]), 1.0, 1.0, (0.02, 0.005), str)
    erp, cfm = softened((0.4, 1e-3), change, 1.0)
    assert erp / (0.005 * cfm) == pytest.approx(0.4 / (0.02 * 1e-3), rel=1e-12)
    assert (1.0 - erp) / cfm == pytest.approx(0.6 / 1e-3, rel=1e-12)
    erp, cfm = softened((0.4, 0.0), change, 1.0)
    assert (1.0 - erp) ** 4 == pytest.approx(0.6, rel=1e-12)
    assert cfm == 0.0
    assert softened((1.0, 0.0), change, 1.0) == (1.0, 0.0)


def test_a_joint_with_one_spring_for_lengths_and_angles_keeps_its_size():
    origin, nut = Origin(), Box(0.3, 0.3, 0.2, mass=1.5).body(name="nut")
    spec = MechanismSpec(origin, [nut], [Cylindrical(origin, nut, (0, 0, 1), spring=5.0, name="screw")])
    assert not can_change_size(spec)
    with pytest.raises(ModelError, match=r"'screw': has one number for lengths and angles"):
        Similar.of(spec, Change(Pose(np.zeros(3), np.eye(4)[0]), 2.0, 1.0, (0.01, 0.01), str))
    Similar.of(spec, Change(Pose(np.ones(3), np.eye(4)[0]), 1.0, 4.0, (0.01, 0.01), str))
