"""What a blow does to vehicles: closed forms of rigid bodies in the plane, and laws over many random blows."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.spec.objects import ShapeKind, Triple
from cbsim.vehicle.kernels.columns import MASS, YAW_INERTIA
from tests.collision.bodies import blow
from tests.worlds import bot, mesh, prop, world

SIZE = Triple(2.0, 4.0, 1.5)
REST = (0.0, 0.0, 0.0)


def car(name="a", restitution=0.0, friction=0.0, **fields):
    parameters = (("restitution", restitution), ("body_friction", friction), *fields.pop("parameters", ()))
    return bot(name, size=SIZE, parameters=parameters, **fields)


@cache
def pole(restitution, friction):
    return world(
        car("a", restitution, friction), prop("pole", Triple(0, 0, 0), ShapeKind.CYLINDER, Triple(0.2, 0.2, 2))
    )


@cache
def pair(restitution, friction, heavier=1.0):
    mass = (("mass", 1500.0 * heavier),)
    return world(
        car("a", restitution, friction, parameters=(("mass", 1500.0),)),
        car("b", restitution, friction, parameters=mass),
    )


def inertia(made, v=0):
    row = made.constants.vehicle_parameters[v]
    return row[MASS], row[YAW_INERTIA]


def at_pole(angle, heading, depth):
    """Place a car so that the pole, seen from it under an angle, reaches `depth` into its outline."""
    x, y = math.cos(angle), math.sin(angle)
    reach = min(1.0 / max(abs(x), 1e-12), 2.0 / max(abs(y), 1e-12))
    side = (math.copysign(1.0, x), 0.0) if abs(x) * 2.0 > abs(y) else (0.0, math.copysign(1.0, y))
    offset = np.array([x, y]) * reach + (0.1 - depth) * np.array(side)
    c, s = math.cos(heading), math.sin(heading)
    return -(c * offset[0] - s * offset[1]), -(s * offset[0] + c * offset[1]), heading


@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("heading", [0.0, 0.7, -2.0])
def test_head_on_against_a_wall_gives_back_the_restitution(restitution, heading):
    size = Triple(30.0, 1.0, 2.0)
    wall = prop("wall", Triple(0, 0, 0), size=size, yaw=heading)
    made = world(car("a", restitution, 0.5), wall)
    ahead = np.array([-math.sin(heading), math.cos(heading)])
    place = -(2.5 - 1e-4) * ahead
    _, after, rows = blow(made, [(*place, heading)], [(*(12.0 * ahead), 0.0)])
    assert after[0, :2] == pytest.approx(-restitution * 12.0 * ahead, abs=1e-9)
    assert abs(after[0, 2]) < 1e-9
    assert rows[0, 9] == pytest.approx(12.0)
    assert rows[0, 10] == pytest.approx(inertia(made)[0] * 12.0 * (1.0 + restitution), rel=1e-9)
    assert rows[0, 6:9] == pytest.approx([*ahead, 0.0], abs=1e-12)
    assert rows[0, 3:5] == pytest.approx(-0.5 * ahead, abs=1e-3)


def test_two_like_cars_go_on_together_without_bounce_and_swap_with_full_bounce():
    poses = [(0.0, 0.0, 0.0), (0.0, 4.0 - 1e-4, 0.0)]
    for restitution, speeds in ((0.0, (5.0, 5.0)), (1.0, (0.0, 10.0)), (0.4, (3.0, 7.0))):
        _, after, rows = blow(pair(restitution, 0.5), poses, [(0.0, 10.0, 0.0), REST])
        assert after[:, 1] == pytest.approx(speeds, abs=1e-9)
        assert after[:, [0, 2]] == pytest.approx(0.0, abs=1e-9)
        assert list(rows[0, 1:3]) == [0, 1]


def momentum(masses, poses, velocity):
    linear = (masses[:, :1] * velocity[:, :2]).sum(axis=0)
    arm = poses[:, 0] * velocity[:, 1] - poses[:, 1] * velocity[:, 0]
    return np.array([*linear, (masses[:, 0] * arm + masses[:, 1] * velocity[:, 2]).sum()])


def kinetic(masses, velocity):
    return 0.5 * (masses[:, 0] * (velocity[:, :2] ** 2).sum(axis=1) + masses[:, 1] * velocity[:, 2] ** 2).sum()


@pytest.mark.parametrize("heavier", [1.0, 3.0])
def test_blows_of_two_vehicles_keep_momentum_and_lose_energy(heavier):
    made = pair(0.4, 0.5, heavier)
    masses = np.array([inertia(made, v) for v in range(2)])
    rng = np.random.default_rng(4)
    struck = 0
    for _ in range(300):
        angle, apart = rng.uniform(0, 2 * math.pi), rng.uniform(1.9, 4.3)
        poses = np.array(
            [(0, 0, rng.uniform(0, 7)), (apart * math.cos(angle), apart * math.sin(angle), rng.uniform(0, 7))]
        )
        motion = rng.normal(size=(2, 3)) * [8, 8, 2]
        moved, after, rows = blow(made, poses, motion)
        if not len(rows):
            continue
        struck += 1

        assert momentum(masses, poses, after) == pytest.approx(
            momentum(masses, poses, motion), rel=1e-9, abs=1e-6 * masses[0, 0]
        )
        assert kinetic(masses, after) <= kinetic(masses, motion) * (1 + 1e-9)
        centre = (masses[:, :1] * (moved[:, :2] - poses[:, :2])).sum(axis=0)
        assert np.abs(centre).max() < 1e-9 * masses.sum()  # the push out keeps the middle of mass
    assert struck > 100


@given(
    st.floats(0, 2 * math.pi), st.floats(0, 7), st.floats(-15, 15), st.floats(-15, 15), st.floats(-4, 4),
    st.sampled_from([0.0, 0.4, 1.0]), st.sampled_from([0.0, 0.3, 1.0, 5.0]),
)  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_blow_against_what_stands_obeys_the_laws_of_impact(angle, heading, vx, vy, rate, restitution, friction):
    made = pole(restitution, friction)
    mass, yaw = inertia(made)
    pose, motion = at_pole(angle, heading, 1e-3), np.array([vx, vy, rate])
    moved, (after,), rows = blow(made, [pose], [motion])
    assert len(rows) == 1
    place, normal = rows[0, 3:5], rows[0, 6:8]
    arm = place - np.array(pose[:2])

    def speed(v):
        return np.array([v[0] - v[2] * arm[1], v[1] + v[2] * arm[0]])

    def energy(v):
        return 0.5 * mass * (v[0] ** 2 + v[1] ** 2) + 0.5 * yaw * v[2] ** 2

    def spin(v):  # about the point of touch
        return yaw * v[2] - mass * (arm[0] * v[1] - arm[1] * v[0])

    closing = speed(motion) @ normal
    assert rows[0, 9] == pytest.approx(closing, abs=1e-9)
    assert energy(after) <= energy(motion) + 1e-9 * mass
    assert spin(after) == pytest.approx(spin(motion), abs=1e-7 * mass)
    impulse = mass * (motion - after)[:2]
    along, across = impulse @ normal, impulse @ [-normal[1], normal[0]]
    assert along >= -1e-9 * mass
    assert abs(across) <= friction * along + 1e-7 * mass
    assert rows[0, 10] == pytest.approx(along, abs=1e-7 * mass)
    leaving = -speed(after) @ normal
    assert leaving >= -1e-8
    if closing > 0.3 and friction == 0.0:
        assert leaving == pytest.approx(restitution * closing, abs=1e-8)
    if closing <= 0.0:
        assert after == pytest.approx(motion, abs=1e-12)
    assert np.linalg.norm(moved[0, :2] - pose[:2]) < 1.1e-3  # pushed out by no more than it was in


def test_same_blow_the_other_way_round_is_its_mirror_image():
    made = pole(0.3, 0.6)
    for angle in (0.3, 1.2, 1.4, 2.8):
        x, y, heading = at_pole(angle, 0.4, 1e-3)
        moved, after, _ = blow(made, [(x, y, heading)], [(3.0, 8.0, 0.5)])
        mirrored, reflected, _ = blow(made, [(-x, y, -heading)], [(-3.0, 8.0, -0.5)])
        assert reflected[0] == pytest.approx(after[0] * [-1, 1, -1], abs=1e-9)
        assert mirrored[0] == pytest.approx(moved[0] * [-1, 1, -1], abs=1e-9)


def test_rows_may_come_in_any_order():
    poses = np.array([(0.0, 0.0, 0.1), (0.4, 3.98, 0.0), (0.1, 7.96, -0.1)])
    motion = np.array([(0.5, 9.0, 0.2), (0.0, 2.0, 0.0), REST])
    made = world(*(car(name, 0.2, 0.0) for name in "abc"))
    _, after, _ = blow(made, poses, motion)
    for order in ([2, 1, 0], [1, 2, 0]):
        _, other, _ = blow(made, poses[order], motion[order])
        assert other == pytest.approx(after[order], abs=1e-6)


def test_stacked_bodies_and_what_lies_below_do_not_touch_a_vehicle():
    low = prop("low", Triple(0, 0, -1.0))  # its top is the ground
    high = prop("high", Triple(0, 0, SIZE.z))  # stands on the roof
    slab = mesh("slab", [(-5, -5, 0), (5, -5, 0), (0, 5, 0)], [(0, 1, 2)])
    _, after, rows = blow(world(car(), low, high, slab), [(0, 0, 0)], [(0.0, 5.0, 0.0)])
    assert not len(rows)
    assert after[0] == pytest.approx([0, 5, 0])


@pytest.mark.parametrize("kind", [k for k in ShapeKind if k is not ShapeKind.MESH])
def test_every_shape_stops_a_car(kind):
    made = world(car("a", 0.0, 0.0), prop("thing", Triple(0, 0, 0), kind, Triple(1.0, 1.0, 1.0)))
    _, after, rows = blow(made, [(0.0, -2.49, 0.0)], [(0.0, 6.0, 0.0)])
    assert after[0] == pytest.approx([0, 0, 0], abs=1e-9)
    assert rows[0, 6:9] == pytest.approx([0, 1, 0], abs=1e-9)


def test_wall_of_triangles_stops_a_car_from_either_side_and_does_not_catch_it_on_its_seams():
    posts = np.linspace(-20, 20, 21)
    vertices = [(x, 0.0, z) for x in posts for z in (0.0, 2.0)]
    triangles = [t for k in range(0, 40, 2) for t in ((k, k + 2, k + 3), (k, k + 3, k + 1))]
    made = world(car("a", 0.0, 0.0), mesh("wall", vertices, triangles, at=Triple(0, 0, 0)))
    for side in (-1.0, 1.0):
        _, after, rows = blow(made, [(0.3, side * 1.999, 0.0)], [(0.0, -side * 7.0, 0.0)])
        assert after[0] == pytest.approx([0, 0, 0], abs=1e-9)
        assert abs(rows[0, 7]) == pytest.approx(1.0)
    for x in np.linspace(-10, 10, 81):  # a car that scrapes along, nose slightly in
        _, after, _ = blow(made, [(x, -1.0 - 2.0 * math.sin(0.02) + 0.004, math.pi / 2 - 0.02)], [(-9.0, 0.05, 0.0)])
        assert after[0, 0] == pytest.approx(-9.0, abs=0.05)
