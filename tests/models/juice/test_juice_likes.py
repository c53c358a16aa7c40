"""Models of kinds that are not at hand: built, written, read back, and run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cbsim.formats.juice import write
from cbsim.models.juice import count
from cbsim.spec.juice import (
    Attitude,
    BodyShape,
    Clockwork,
    ClockworkMotor,
    Edge,
    FunctionNode,
    JointKind,
    JuiceBody,
    JuiceJoint,
    JuiceModel,
    MotorNode,
    MotorType,
    Network,
    Source,
    SourceNode,
)
from cbsim.spec.objects import Triple
from tests.models.juice.texts import Run, told

AHEAD = Attitude(0, 0, -90)  # of a hinge along x


def written(model):
    """The model as a file says it."""
    again, problems = told(write(model))
    assert not problems.errors
    return again


def sixpack(radius=1.0, rate=10.0):
    """A chassis on six wheels, each turned by the joystick's y with so many rad/s."""
    chassis = JuiceBody(1, "Chassis", Triple(0, 0, radius + 0.3), box=Triple(2, 6 * radius, 0.5), mass=3.0)
    bodies, joints, motors, edges = [chassis], [], [], []
    for k, (side, row) in enumerate((side, row) for side in (-1, 1) for row in (-1, 0, 1)):
        place = Triple(side * 1.75, row * 2.25 * radius, radius)
        size = {"tube_length": 0.5, "tube_diameter": 2 * radius, "ball_diameter": 2 * radius}
        bodies.append(JuiceBody(2 + k, f"Wheel {k}", place, shape=BodyShape.SPHERE, **size))
        joints.append(JuiceJoint(JointKind.HINGE, 20 + k, "Axle", place, AHEAD, body1=2 + k, body2=1, max_force=300.0))
        motors.append(MotorNode(40 + k, joint=20 + k, type=MotorType.VELOCITY))
        edges.append(Edge(30, 40 + k, rate))
    drive = Network("Drive", motors=tuple(motors), sources=(SourceNode(30, source=Source.JOYSTICK1_Y),),
                    edges=tuple(edges))  # fmt: skip
    return written(JuiceModel(9.81, 100.0, 1.0, 0.005, bodies=tuple(bodies), joints=tuple(joints), behaviours=(drive,)))


@pytest.mark.parametrize(("stick", "speed"), [(-1.0, 10.0), (1.0, -10.0), (-0.5, 5.0)])
def test_a_sixpack_drives_as_fast_as_its_wheels_roll(stick, speed):
    """10 rad/s times a radius of 1: 10 units a second, forward for y = −1, and in proportion."""
    run = Run(sixpack(), controls={"joystick1.y": stick})
    run.go(3.0)
    assert run.state[0, 4] == pytest.approx(speed, rel=2e-3)
    assert abs(run.state[0, 0]) < 1e-3


def biped(speed=20.0):
    """17 bodies and 16 hinges, as walkers on two legs have: a body, and eight parts of each leg, that a clock moves."""
    bodies = [JuiceBody(1, "Body", Triple(0, 0, 4.0), box=Triple(1.5, 1, 1), mass=2.0)]
    joints, motors = [], []
    parts = [("Hip", 3.6, 0.3), ("Thigh", 3.0, 0.6), ("Knee", 2.4, 0.3), ("Shin", 1.8, 0.6), ("Ankle", 1.2, 0.3),
             ("Heel", 0.7, 0.3), ("Foot", 0.35, 0.2), ("Sole", 0.125, 0.25)]  # fmt: skip
    for side, phase in ((-1, 0.0), (1, 180.0)):
        above, height = 1, 3.8
        for k, (name, z, tall) in enumerate(parts):
            number = len(bodies) + 1
            wide = Triple(1.2, 2.4, tall) if name in ("Foot", "Sole") else Triple(0.4, 0.4, tall)
            title = f"{'Left' if side < 0 else 'Right'} {name}"
            bodies.append(JuiceBody(number, title, Triple(side * 0.9, 0, z), box=wide, mass=13 / 16, twin=0))
            turn = AHEAD if k % 2 else Attitude(0, -90, 0)
            joints.append(JuiceJoint(JointKind.HINGE, 100 + number, title, Triple(side * 0.9, 0, height), turn,
                                     body1=number, body2=above, gain=10.0, max_force=500.0))  # fmt: skip
            swing = {"Thigh": 12.0, "Shin": -12.0}.get(name, 0.0)
            motors.append(ClockworkMotor(100 + number, motion=1, amplitude=swing, phase=phase))
            above, height = number, z - tall / 2
    walk = Clockwork("Walk", motors=tuple(motors))
    return written(JuiceModel(9.81, 25.0, 1.0, 0.01, speed, 1.0, 1.0, 90.0, tuple(bodies), tuple(joints), (walk,)))


def test_a_biped_of_seventeen_bodies_marches_upright():
    model = biped()
    counts = count(model)
    assert (counts["bodies"], counts["joints"], counts["mass"]) == (17, 16, 15.0)
    run = Run(model)
    path = run.go(10.0)
    x, y = path[:, 0, 7], path[:, 0, 8]
    assert (1.0 - 2.0 * (x * x + y * y)).min() > 0.75
    assert path[:, 0, 2].min() > 3.0
    lifted = np.ptp(path[200:, 4, 2])  # the left knee's part, in a march
    assert lifted > 0.01


def pogo(rate=90.0):
    """A body on a stick that a slider moves up and down between soft landings."""
    body = JuiceBody(1, "Seat", Triple(0, 0, 2.5), box=Triple(1, 1, 0.5), mass=1.0)
    foot = JuiceBody(2, "Foot", Triple(0, 0, 0.25), box=Triple(1.5, 1.5, 0.5), mass=0.5)
    stick = JuiceJoint(JointKind.SLIDER, 3, "Stick", Triple(0, 0, 1), body1=2, body2=1, gain=200.0, max_force=300.0)
    hop = Clockwork("Hop", motors=(ClockworkMotor(3, motion=1, amplitude=0.7),))
    return written(JuiceModel(9.81, 100.0, 0.8, 0.001, rate, 1.0, 0.5, 0.0, (body, foot), (stick,), (hop,)))


def test_a_pogo_hops_on_the_spot():
    path = Run(pogo()).go(10.0)
    assert path[300:, 1, 2].max() > 0.3  # its foot leaves the ground
    assert path[:, 1, 2].min() > 0.2
    assert np.abs(path[:, :, :2]).max() < 0.2
    assert path[-1, 0, 6] ** 2 > math.cos(math.radians(5.0))


def test_a_chain_of_functions_turns_a_wheel_as_they_say():
    """A sine of the engine, halved and with an offset: between 1 and 3 rad/s."""
    model = sixpack()
    chain = Network(
        "Engine",
        motors=tuple(MotorNode(40 + k, joint=20 + k, type=MotorType.VELOCITY) for k in range(6)),
        functions=(FunctionNode("WaveNode", 31, numbers=(100.0, 1.0, 0.0)),
                   FunctionNode("ArithmeticNode", 32, numbers=(-2.0, 1.0, 0.0))),
        sources=(SourceNode(30, source=Source.ENGINE),),
        edges=(Edge(30, 31), Edge(31, 32), *(Edge(32, 40 + k) for k in range(6))),
    )  # fmt: skip
    run = Run(written(JuiceModel(9.81, 100.0, 1.0, 0.005, 30.0, bodies=model.bodies, joints=model.joints,
                                 behaviours=(chain,), pose_delay=0.0)))  # fmt: skip
    speeds = run.go(6.0)[200:, 0, 4]
    assert 0.95 < speeds.min() < 1.1
    assert 2.9 < speeds.max() < 3.05
