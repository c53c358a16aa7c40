"""What ODE and Juice do in closed form, here: servos, torque limits, droop, stops, sinking in, friction by a force."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from cbsim.geometry.pose import rotate
from cbsim.models.juice.build import Choices, build
from cbsim.models.juice.poses import axis_of, orientation_of
from cbsim.spec.juice import (
    Attitude,
    BodyShape,
    Edge,
    FunctionNode,
    JointKind,
    JuiceBody,
    JuiceJoint,
    JuiceModel,
    MotorNode,
    MotorType,
    Network,
)
from cbsim.spec.objects import Triple
from tests.models.juice.texts import Run, holding, pillar, turntable


def angles(run, steps):
    """Coordinates of the only joint after each of some steps."""
    found = []
    for _ in range(steps):
        run.go(run.step)
        found.append(run.coordinates()[0])
    return np.array(found)


def test_a_servo_takes_away_the_same_share_of_what_is_left_in_every_step():
    """e' = (1 − 5.72958 Gain h) e, h = 10 ms, Gain 10: 0.42704."""
    left = 90.0 - angles(Run(turntable(holding(90.0))), 4)
    assert left == pytest.approx([38.434, 16.413, 7.009, 2.993], rel=2e-3)


def test_a_slider_comes_up_to_what_is_asked_with_ten_over_its_gain_seconds():
    left = 1.0 - angles(Run(turntable(holding(1.0), kind=JointKind.SLIDER, gain=10.0)), 20)
    assert left == pytest.approx((1.0 - 0.01) ** np.arange(1, 21), rel=1e-6)


def test_a_motor_has_no_more_torque_than_it_has():
    """1/6 kg m², 5 rad/s, 2 N m: 1.2, 2.4, 3.6, 4.8, 5.0 rad/s after each tenth of a second."""
    nodes = (FunctionNode("ConstantNode", 11, numbers=(5.0,)),)
    asks = Network(
        motors=(MotorNode(10, joint=3, type=MotorType.VELOCITY),), functions=nodes, edges=(Edge(11, 10, 1.0),)
    )
    run = Run(turntable(asks, max_force=2.0))
    speeds = [abs(run.go(0.1)[-1, 1, 12]) for _ in range(5)]
    assert speeds == pytest.approx([1.2, 2.4, 3.6, 4.8, 5.0], rel=1e-3)


def hanging(*behaviours, mass=1.0, **joint):
    """A mass that a hinge along y holds by an arm of 1 m on a wide base on the ground: 9.81 N m per kilogram."""
    sunk = 0.01 * 0.01 * 1000 * 9.81 / 4  # where its corners bear it
    base = JuiceBody(1, "Base", Triple(0, 0, 5 - sunk), box=Triple(80, 80, 10), mass=1000)
    ball = JuiceBody(2, "Ball", Triple(1.5, 0, 8), shape=BodyShape.SPHERE, ball_diameter=0.4, mass=mass)
    hinge = JuiceJoint(
        JointKind.HINGE, 3, "Arm", Triple(0.5, 0, 8), Attitude(0, 90, 0), body1=2, body2=1, max_force=1e6, **joint
    )
    return JuiceModel(9.81, 1e3, 1.0, 0.01, 0.0, 1.0, 0.0, 0.0, (base, ball), (hinge,), behaviours)


def angles_of(model, time, **options):
    """Angle of the arm, up is positive [degrees], over some time."""
    turned = Run(model, body_contacts="false", **options).go(time)[:, 1, 6:10]  # about −y; the base hardly turns
    return np.degrees(-2.0 * np.arctan2(turned[:, 2], turned[:, 0]))


def test_a_loaded_servo_droops_by_ten_times_cfm_times_torque_over_gain():
    """0.0981 degrees for 9.81 N m at CFM 0.01 and Gain 10; ODE 0.09808."""
    assert -angles_of(hanging(holding(0.0)), 6.0)[200:].mean() == pytest.approx(0.0981, rel=0.02)


@pytest.mark.parametrize("friction", [1e4, 1e6, 1e7])
def test_however_hard_the_ground_grips_it_bears_as_much(friction):
    """Limits far beyond every load once made friction so stiff that what pressed on the ground was lost to rounding."""
    grips, slides = (Run(replace(hanging(holding(0.0)), friction=f), body_contacts="false") for f in (friction, 1e3))
    one, other = grips.go(0.5), slides.go(0.5)
    np.testing.assert_allclose(one[:, :, :3], other[:, :, :3], atol=1e-5)


def test_a_loaded_stop_gives_way_by_cfm_times_step_times_torque_over_erp():
    """CFM h T/ERP rad, of 10 kg at 30 degrees 0.487 degrees (of 1 kg 0.0487, ODE 0.04865); the base swings a little."""
    low = angles_of(hanging(mass=10.0, low=-30.0, high=30.0, has_low=True, has_high=True), 9.0)
    torque = 98.1 * math.cos(math.radians(30.5))
    assert -30.0 - low[-500:].mean() == pytest.approx(math.degrees(0.01 * 0.01 * torque), rel=0.02)


def dangling(erp=1.0, kind=JointKind.BALL, attitude=None):
    """A kilogram below a wide base on the ground, and the joint that holds it."""
    base = JuiceBody(1, "Base", Triple(0, 0, 5 - 1e-4 * 1001 * 9.81 / 4 / erp), box=Triple(80, 80, 10), mass=1e3)
    ball = JuiceBody(2, "Ball", Triple(0, 0, base.position.z + 2), shape=BodyShape.SPHERE, ball_diameter=0.4, mass=1.0)
    joint = JuiceJoint(
        kind, 3, "Hook", Triple(0, 0, base.position.z + 3), attitude or Attitude(0, 90, 0), body1=2, body2=1
    )
    return JuiceModel(9.81, 100.0, erp, 0.01, bodies=(base, ball), joints=(joint,))


def gap(run):
    """How far the ball is below its place on the base [m]."""
    return 2.0 - (run.state[1, 2] - run.state[0, 2])


@pytest.mark.parametrize("kind", [JointKind.BALL, JointKind.HINGE])
@pytest.mark.parametrize("erp", [1.0, 0.5, 0.2])
def test_the_point_of_a_joint_gives_way_by_cfm_times_step_times_force_over_erp(kind, erp):
    """ODE's row, at rest: CFM h F/ERP, 9.81e-4 m of 1 kg at CFM 0.01, ERP 1, 10 ms (docs/theory/contact.md §7)."""
    run = Run(dangling(erp, kind), body_contacts="false")
    run.go(1.0)
    assert gap(run) == pytest.approx(9.81e-4 / erp, rel=1e-3)
    assert np.abs(run.description.behaviour.points.gaps(run.state)[0]) == pytest.approx(
        [0.0, 0.0, 9.81e-4 / erp], abs=1e-6
    )


@pytest.mark.parametrize("erp", [1.0, 0.3])
def test_a_step_takes_away_what_erp_says_less_what_it_takes_to_move_the_mass(erp):
    """From rest m v/h = f and v + CFM f = ERP/h C, so C' = C − ERP C/(1 + CFM m/h): half of it here at ERP 1."""
    run = Run(replace(dangling(erp), gravity=0.0, friction=0.0), body_contacts="false")
    run.state[:, 2] += 1.0  # off the ground
    run.go(0.02)
    run.state[1, 2] -= 0.01
    run.go(0.01)
    assert gap(run) == pytest.approx(0.01 * (1.0 - erp / 2.0), rel=1e-3)


@pytest.mark.parametrize("options", [{"joints": "rigid"}, {"cfm": 0.0}])
def test_joints_are_rigid_where_asked_and_where_nothing_is_soft(options):
    run = Run(dangling(), body_contacts="false", **options)
    run.go(1.0)
    assert abs(gap(run)) < 1e-12
    assert not len(run.description.behaviour.points.inputs)


def test_a_soft_hinge_turns_about_its_axis_alone():
    run = Run(dangling(kind=JointKind.HINGE, attitude=Attitude(0, 90, 0)), body_contacts="false")
    run.state[1, 3] = 1.0  # the hinge is along y
    path = run.go(2.0)
    swung = path[:, 1] - path[:, 0]
    assert np.abs(swung[:, 0]).max() > 0.2
    assert np.abs(swung[:, 1]).max() < 1e-9


def test_sliders_and_closed_loops_stay_rigid():
    rail = Run(dangling(kind=JointKind.SLIDER, attitude=Attitude(0, 90, 0)), body_contacts="false")
    assert not len(rail.description.behaviour.points.inputs)
    model = dangling(kind=JointKind.HINGE)
    axis = model.joints[0].position
    second = replace(model.joints[0], id=4, kind=JointKind.BALL, position=Triple(axis.x, 1, axis.z))
    loop = Run(replace(model, joints=(*model.joints, second)), body_contacts="false")
    assert not len(loop.description.behaviour.points.inputs)


@pytest.mark.parametrize(("joints", "back"), [("rigid", 2.0), ("soft", 5.0)])
def test_a_stop_is_overshot_by_a_degree_and_throws_little_back(joints, back):
    """At 3 rad/s; ODE goes 0.4 to 0.9 degrees too far and, its joints soft, 4.5 back."""
    low = angles_of(hanging(low=-30.0, high=30.0, has_low=True, has_high=True), 3.0, joints=joints)
    first = int(np.argmax(low < -30.0))
    assert -31.0 < low.min() < -30.4
    assert low[first:].max() < -30.0 + back
    assert low[-1] == pytest.approx(-30.0486, abs=1e-3)


def test_crossing_stops_are_none():
    free = angles_of(hanging(low=30.0, has_low=True, high=-30.0, has_high=True), 0.5)
    assert free[-1] < -45.0


def test_a_box_sinks_in_by_cfm_times_step_times_force_over_erp():
    """2.4525e-4 m: 1 kg on four corners, CFM 0.01, ERP 1, 10 ms."""
    model = JuiceModel(9.81, 10.0, 1.0, 0.01, bodies=(pillar(),))
    assert 0.5 - Run(model).go(1.0)[-1, 0, 2] == pytest.approx(2.4525e-4, rel=1e-3)


@pytest.mark.parametrize("mass", [1.0, 2.0])
def test_friction_is_a_force_at_each_corner_whatever_the_weight(mass):
    """0.5 N at four corners: 2.000 m/s² of 1 kg, 1.000 of 2 kg."""
    model = JuiceModel(9.81, 0.5, 1.0, 0.01, bodies=(pillar(mass),))
    run = Run(model)
    run.go(0.5)
    run.state[0, 3] = 3.0
    speeds = run.go(0.5)[:, 0, 3]
    assert (speeds[-1] - speeds[10]) / 0.4 == pytest.approx(-2.0 / mass, rel=0.01)


def test_friction_is_coulombs_where_asked():
    model = JuiceModel(9.81, 0.5, 1.0, 0.01, bodies=(pillar(3.0),))
    run = Run(model, friction_law="coulomb")
    run.go(0.5)
    run.state[0, 3] = 3.0
    speeds = run.go(0.5)[:, 0, 3]
    assert (speeds[-1] - speeds[10]) / 0.4 == pytest.approx(-4.905, rel=0.01)


@pytest.mark.parametrize(
    ("mass", "radius", "length", "across", "along"),
    [(1, 0.5, 1, 0.3025, 0.115), (2, 0.25, 2, 0.94464286, 0.06071429), (1, 1, 1, 0.72857143, 0.44285714)],
)
def test_capsules_have_the_inertia_of_a_tube_between_half_balls(mass, radius, length, across, along):
    body = pillar(mass, BodyShape.CAPSULE, tube_length=length, tube_diameter=2 * radius)
    for shape in (BodyShape.CAPSULE, BodyShape.CYLINDER):  # flat ones have the same, as in Juice
        model = JuiceModel(bodies=(replace(body, shape=shape),))
        spec = build(model, 0.01, Choices(), frozenset()).spec
        assert np.diag(spec.bodies[0].inertia) == pytest.approx([across, across, along], rel=1e-7)
    flat = JuiceModel(bodies=(replace(body, shape=BodyShape.CYLINDER),))
    spec = build(flat, 0.01, Choices("compat", "force", "true"), frozenset()).spec
    assert spec.bodies[0].inertia[2, 2] == pytest.approx(0.5 * mass * radius**2)


@pytest.mark.parametrize(
    ("attitude", "hinge"),
    [
        ((0, 0, 90), (-1, 0, 0)),
        ((0, 0, -90), (1, 0, 0)),
        ((0, 90, 0), (0, -1, 0)),
        ((0, -90, 0), (0, 1, 0)),
        ((0, 0, 0), (0, 0, 1)),
        ((0, 180, 0), (0, 0, -1)),
    ],
)
def test_axes_of_hinges_are_those_that_juice_used(attitude, hinge):
    assert axis_of(JointKind.HINGE, Attitude(*attitude)) == pytest.approx(hinge, abs=1e-15)
    drawn = rotate(orientation_of(Attitude(*attitude)), (0.0, 0.0, 1.0))
    assert axis_of(JointKind.HINGE, Attitude(*attitude), "design") == pytest.approx(drawn)


def test_a_body_turns_first_by_its_yaw_then_pitch_then_roll():
    q = orientation_of(Attitude(30, 20, 10))
    y, p, r = np.radians([30, 20, 10])
    rz = np.array([[math.cos(y), -math.sin(y), 0], [math.sin(y), math.cos(y), 0], [0, 0, 1]])
    rx = np.array([[1, 0, 0], [0, math.cos(p), -math.sin(p)], [0, math.sin(p), math.cos(p)]])
    ry = np.array([[math.cos(r), 0, math.sin(r)], [0, 1, 0], [-math.sin(r), 0, math.cos(r)]])
    assert pytest.approx(rz @ rx @ ry) == rotate(q, np.eye(3)).T


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("kind", [JointKind.HINGE, JointKind.SLIDER])
def test_a_coordinate_is_that_of_the_first_body_against_the_second(kind, swapped):
    model = turntable(holding(10.0), kind=kind)
    if swapped:
        model = replace(model, joints=(replace(model.joints[0], body1=1, body2=2),))
    run = Run(model)
    path = run.go(1.0)
    far = 10.0 if kind is JointKind.HINGE else 10.0 * (1.0 - 0.99**100)
    assert run.coordinates()[0] == pytest.approx(far, rel=1e-3)
    sign = -1.0 if swapped else 1.0
    if kind is JointKind.HINGE:  # about z
        turned = path[-1, 1, 6:10]
        assert 2.0 * math.degrees(math.atan2(turned[3], turned[0])) == pytest.approx(sign * 10.0, rel=1e-3)
    else:  # down
        assert path[-1, 1, 2] - path[0, 1, 2] == pytest.approx(-sign * far, rel=1e-3)


def test_the_pose_of_the_file_is_where_bodies_start_whatever_joins_them():
    rng = np.random.default_rng(2)
    bodies = tuple(
        JuiceBody(k + 1, f"B{k}", Triple(*rng.uniform(-3, 3, 3)), Attitude(*rng.uniform(-180, 180, 3)))
        for k in range(6)
    )
    kinds = [JointKind.HINGE, JointKind.SLIDER, JointKind.BALL, JointKind.HINGE, JointKind.BALL]
    joints = tuple(
        JuiceJoint(kind, k + 10, f"J{k}", Triple(*rng.uniform(-3, 3, 3)), Attitude(*rng.uniform(-180, 180, 3)),
                   body1=k + 1, body2=k + 2)
        for k, kind in enumerate(kinds)
    )  # fmt: skip
    run = Run(JuiceModel(bodies=bodies, joints=joints))
    for row, body in zip(run.state, bodies, strict=True):
        assert row[:3] == pytest.approx(tuple(body.position), abs=1e-12)
        assert abs(row[6:10] @ orientation_of(body.attitude)) == pytest.approx(1.0, abs=1e-12)
