"""Which bodies touch: the ground, each other, not those that a joint ties, nor those that overlap at the start."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbsim.errors import Problems
from cbsim.models.juice.collision_filter import _masks
from cbsim.models.juice.description import description_of
from cbsim.models.juice.groups import groups_of, needed_joints
from cbsim.models.juice.overlap import _support, overlap
from cbsim.spec.juice import Attitude, BodyShape, JointKind, JuiceBody, JuiceJoint, JuiceModel
from cbsim.spec.mechanism.shapes import Box, Capsule, Cylinder, Sphere
from cbsim.spec.objects import Triple
from tests.models.juice.texts import Run, pillar

UP = np.array([1.0, 0.0, 0.0, 0.0])


def pile(*heights, **rest):
    bodies = tuple(JuiceBody(k + 1, f"Box {k}", Triple(0, 0, z), **rest) for k, z in enumerate(heights))
    return JuiceModel(9.81, 10.0, 1.0, 1e-4, bodies=bodies)


def test_bodies_rest_upon_one_another():
    assert Run(pile(0.5, 1.6)).go(2.0)[-1, :, 2] == pytest.approx([0.5, 1.5], abs=0.01)


def test_bodies_pass_through_one_another_where_asked():
    assert Run(pile(0.5, 1.6), body_contacts="false").go(2.0)[-1, :, 2] == pytest.approx([0.5, 0.5], abs=1e-3)


@pytest.mark.parametrize(("overlaps", "words", "rest"), [("push", "push each", 1.5), ("ignore", "never touch", 0.5)])
def test_bodies_that_overlap_at_the_start_push_each_other_apart_or_never_touch_and_are_told_of(overlaps, words, rest):
    problems = Problems()
    description_of(pile(0.5, 1.2), problems=problems, overlaps=overlaps)
    assert [p.code for p in problems] == ["W939"]
    assert words in problems.warnings[0].message
    run = Run(pile(0.5, 1.2), overlaps=overlaps)
    path = run.go(3.0)
    assert path[-1, :, 2] == pytest.approx([0.5, rest], abs=0.02)
    assert path[:, 1, 5].max() < 2.0  # gently: no faster than twice the overlap each second


def test_bodies_that_overlap_push_by_default():
    assert Run(pile(0.5, 1.2)).go(3.0)[-1, 1, 2] == pytest.approx(1.5, abs=0.02)


def test_friction_between_bodies_is_a_force_too():
    """Four corners at 0.5 N brake a kilogram by 2 m/s², and a heavy sledge below it is not felt to move."""
    sledge = JuiceBody(1, "Sledge", Triple(0, 0, 0.5), box=Triple(40, 40, 1), mass=1000)
    model = JuiceModel(9.81, 0.5, 1.0, 1e-6, bodies=(sledge, JuiceBody(2, "Box", Triple(0, 0, 1.5))))
    run = Run(model)
    run.go(0.5)
    run.state[1, 3] = 3.0
    speeds = run.go(0.5)[:, 1, 3]
    assert (speeds[-1] - speeds[10]) / 0.4 == pytest.approx(-2.0, rel=0.02)


def test_a_flat_cylinder_rolls_on_its_side():
    wheel = pillar(1.0, BodyShape.CYLINDER, z=0.5, tube_length=0.4, tube_diameter=1.0, attitude=Attitude(0, 0, 90))
    run = Run(JuiceModel(9.81, 10.0, 1.0, 1e-4, bodies=(wheel,)))
    run.go(0.2)
    run.state[0, 4], run.state[0, 12] = 2.0, 0.0
    path = run.go(2.0)
    assert path[-1, 0, 2] == pytest.approx(0.5, abs=2e-3)
    speed = path[-1, 0, 4]
    assert 1.0 < speed < 2.0  # what sliding left of it
    assert np.linalg.norm(path[-1, 0, 10:]) == pytest.approx(speed / 0.5, rel=0.02)


@given(st.sets(st.tuples(st.integers(1, 12), st.integers(1, 12)).filter(lambda pair: pair[0] < pair[1])))
@settings(deadline=None)
def test_groups_part_exactly_the_pairs_that_are_to_be_left_alone(apart):
    masks = _masks(list(range(1, 13)), sorted(apart))
    for one, other in itertools.combinations(range(1, 13), 2):
        (group, meets), (theirs, they_meet) = masks[one], masks[other]
        assert bool(group & they_meet and theirs & meets) == ((one, other) not in apart)


def test_more_pairs_than_groups_can_part_leave_bodies_that_touch_the_ground_alone():
    everyone = list(range(1, 101))
    masks = _masks(everyone, list(itertools.combinations(everyone, 2)))
    for one, other in itertools.combinations(everyone, 2):
        (group, meets), (theirs, they_meet) = masks[one], masks[other]
        assert not (group & they_meet and theirs & meets)
        assert max(group, theirs) < 2**63


SHAPES = [Box(1.0, 0.4, 0.7), Sphere(0.5), Capsule(0.3, 0.8), Cylinder(0.4, 0.6)]
NUMBERS = st.floats(-1.2, 1.2)


@given(st.sampled_from(SHAPES), st.sampled_from(SHAPES), st.tuples(*[NUMBERS] * 3), st.integers(0, 99))
@settings(deadline=None)
def test_shapes_overlap_where_no_plane_parts_them(one, other, away, seed):
    rng = np.random.default_rng(seed)
    q1, q2 = (q / np.linalg.norm(q) for q in rng.normal(size=(2, 4)))
    x2, zero = np.array(away), np.zeros(3)
    directions = rng.normal(size=(300, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    gaps = [(x2 + _support(other, q2, -d) - _support(one, q1, d)) @ d for d in directions]
    if max(gaps) > 0.0:
        assert not overlap(one, zero, q1, other, x2, q2)
    elif max(gaps) < -0.15:
        assert overlap(one, zero, q1, other, x2, q2)


def test_shapes_about_one_centre_overlap_and_those_that_touch_do_not():
    for one, other in itertools.product(SHAPES, repeat=2):
        assert overlap(one, np.zeros(3), UP, other, np.zeros(3), UP)
    cube = Box(1, 1, 1)
    assert not overlap(cube, np.zeros(3), UP, cube, np.array([1.0, 0.3, 0.2]), UP)
    assert overlap(cube, np.zeros(3), UP, cube, np.array([0.98, 0.3, 0.2]), UP)


# --- joints -----------------------------------------------------------------------------------------------------------
def chain(count, kind=JointKind.HINGE):
    bodies = tuple(JuiceBody(k + 1, f"B{k}", Triple(2 * k, 0, 9)) for k in range(count))
    joints = tuple(
        JuiceJoint(kind, 100 + k, "", Triple(2 * k + 1, 0, 9), body1=k + 1, body2=k + 2) for k in range(count - 1)
    )
    return JuiceModel(bodies=bodies, joints=joints)


def test_a_chain_hangs_from_its_middle():
    (group,) = groups_of(chain(9))
    assert group.root == 5
    assert [parent for parent, _ in group.joints].count(5) == 2


def test_bodies_that_nothing_ties_are_groups_of_their_own():
    model = replace(chain(6), joints=())
    assert [group.bodies for group in groups_of(model)] == [(k,) for k in range(1, 7)]


def test_a_ball_that_pins_what_is_pinned_there_already_is_left_out():
    model = chain(3, JointKind.BALL)
    here = Triple(1, -2.4e-7, 9)
    joints = [replace(joint, position=Triple(1, 0, 9)) for joint in model.joints]
    third = JuiceJoint(JointKind.BALL, 200, "", here, body1=1, body2=3)
    kept = needed_joints(replace(model, joints=(*joints, third)))
    assert [joint.id for joint in kept] == [100, 101]
    elsewhere = replace(third, position=Triple(1, 0.1, 9))
    assert len(needed_joints(replace(model, joints=(*joints, elsewhere)))) == 3


def test_a_closed_loop_of_hinges_neither_drifts_nor_opens():
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    bodies = tuple(
        JuiceBody(k + 1, f"Side {k}", Triple((x + u) / 2, (y + v) / 2, 0.5),
                  box=Triple(1.6 if y == v else 0.4, 0.4 if y == v else 1.6, 1))
        for k, ((x, y), (u, v)) in enumerate(zip(corners, corners[1:] + corners[:1], strict=True))
    )  # fmt: skip
    joints = tuple(
        JuiceJoint(JointKind.HINGE, 10 + k, "", Triple(*corners[(k + 1) % 4], 0.5), body1=k + 1, body2=(k + 1) % 4 + 1)
        for k in range(4)
    )
    run = Run(JuiceModel(9.81, 10.0, 1.0, 1e-3, bodies=bodies, joints=joints))
    path = run.go(20.0)
    assert np.abs(path[-1, :, :2] - path[0, :, :2]).max() < 1e-6
    assert path[-1, :, 2] == pytest.approx([0.5] * 4, abs=1e-3)
