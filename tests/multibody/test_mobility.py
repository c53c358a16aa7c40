"""Degrees of freedom of mechanisms with loops, against what textbooks count."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.geometry.pose import multiply
from cbsim.multibody import Body, Fixed, Floating, Origin, Prismatic, Prototype, Revolute, Sphere, Spherical, gallery
from cbsim.spec.mechanism import mobility
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import PROTOTYPES
from cbsim.spec.mechanism.mobility import degrees_of_freedom

UP = (0, 0, 1)


def bars(count):
    return [Body(1.0, np.eye(3), name=f"bar {k}") for k in range(count)]


def ring(lengths):
    """Bars end to end between two posts that stand still, hinged about parallel axes; the last length is the base's."""
    origin, bodies = Origin(), bars(len(lengths) - 1)
    post = Body(1.0, np.eye(3), name="post")
    joints = [Fixed(origin, post, parent_vertex=(lengths[-1], 0, 0), name="stand")]
    before, end = origin, (0.0, 0.0, 0.0)
    for k, (body, length) in enumerate(zip(bodies, lengths, strict=False)):
        joints.append(Revolute(before, body, UP, parent_vertex=end, child_vertex=(-0.5 * length, 0, 0), name=f"j{k}"))
        before, end = body, (0.5 * length, 0.0, 0.0)
    joints.append(Revolute(before, post, UP, parent_vertex=end, name="last"))
    return MechanismSpec(origin, [*bodies, post], joints)


@pytest.mark.parametrize(
    ("lengths", "freedoms"),
    [((2, 3, 2.5, 3), 1), ((2, 2, 2, 2), 1), ((2, 3, 2, 3, 2), 2), ((2, 2, 2, 2, 2, 2), 3), ((1, 1, 1), 0)],
)
def test_a_plane_ring_of_n_bars_has_n_minus_three_freedoms_where_counting_rows_says_fewer(lengths, freedoms):
    spec = ring(lengths)
    assert degrees_of_freedom(spec) == freedoms
    counted = sum(joint.dof for joint in spec.joints) - 6
    assert counted < freedoms + 3


def test_a_slider_crank_has_one_freedom():
    origin, (crank, rod, slider) = Origin(), bars(3)
    joints = [
        Revolute(origin, crank, UP, child_vertex=(-0.5, 0, 0), name="a"),
        Revolute(crank, rod, UP, parent_vertex=(0.5, 0, 0), child_vertex=(-1, 0, 0), name="b"),
        Prismatic(origin, slider, (1, 0, 0), parent_vertex=(2.5, 0, 0), name="c"),
        Revolute(rod, slider, UP, parent_vertex=(1, 0, 0), name="d"),
    ]
    assert degrees_of_freedom(MechanismSpec(origin, [crank, rod, slider], joints)) == 1


def test_a_bar_between_two_ball_joints_also_spins_about_itself():
    origin, (crank, rod, rocker) = Origin(), bars(3)
    joints = [
        Revolute(origin, crank, UP, child_vertex=(-0.5, 0, 0), name="a"),
        Spherical(crank, rod, parent_vertex=(0.5, 0, 0), child_vertex=(-1, 0, 0), name="b"),
        Revolute(origin, rocker, (0, 1, 0), parent_vertex=(2.5, 0.5, 0.5), child_vertex=(0.5, 0, 0), name="c"),
        Spherical(rod, rocker, parent_vertex=(1, 0, 0), child_vertex=(-0.5, 0, 0), name="d"),
    ]
    assert degrees_of_freedom(MechanismSpec(origin, [crank, rod, rocker], joints)) == 2


def test_bricards_linkage_moves_though_its_rows_say_that_nothing_could():
    """Six bars of one length, each hinge square to the next, left and right in turn: one freedom, counted none."""
    origin, bodies = Origin(), bars(6)
    quarter = np.sqrt(0.5)
    joints, before, end, twist = [], origin, (0.0, 0.0, 0.0), np.array([1.0, 0.0, 0.0, 0.0])
    for k, body in enumerate(bodies):
        turn = np.array([quarter, 0.0, 0.0, quarter * (-1) ** k])  # closes the ring along the edges of a cube
        offset = multiply(twist, turn)
        joints.append(
            Revolute(
                before, body, UP, parent_vertex=end, child_vertex=(-0.5, 0, 0), orientation_offset=offset, name=f"j{k}"
            )
        )
        before, end = body, (0.5, 0.0, 0.0)
        twist = np.array([quarter, quarter * (-1) ** k, 0.0, 0.0])
    joints[0] = Floating(origin, bodies[0], name="base")
    turn = np.array([quarter, 0.0, 0.0, quarter])
    joints.append(
        Revolute(
            before, bodies[0], UP, parent_vertex=end, child_vertex=(-0.5, 0, 0),
            orientation_offset=multiply(twist, turn), name="last",
        )
    )  # fmt: skip
    spec = MechanismSpec(origin, bodies, joints)
    assert sum(joint.dof for joint in spec.joints) - 6 * 1 - 6 == 0
    assert degrees_of_freedom(spec) == 6 + 1


def test_of_many_loops_rows_are_counted(monkeypatch):
    """Ranks of some hundred coordinates in as many loops would take minutes."""
    monkeypatch.setattr(mobility, "svdvals", None)  # it is not tried
    origin, bodies = Origin(), [Sphere(0.1, mass=1.0).body(name=f"b{k}") for k in range(40)]
    free = [Floating(origin, body) for body in bodies]
    loops = [Spherical(one, other) for k, one in enumerate(bodies) for other in bodies[k + 1 : k + 4]]
    assert degrees_of_freedom(MechanismSpec(origin, bodies, [*free, *loops])) == 0
    assert degrees_of_freedom(MechanismSpec(origin, bodies, [*free, *loops[:70]])) == 240 - 210


@pytest.mark.parametrize("kind", sorted(PROTOTYPES))
def test_a_tree_has_the_freedoms_of_its_joints(kind):
    origin, (a, b) = Origin(), bars(2)
    spec = MechanismSpec(origin, [a, b], [Prototype(kind, origin, a, UP), Prototype(kind, a, b, UP)])
    assert degrees_of_freedom(spec) == 2 * sum(PROTOTYPES[kind])


def test_mechanisms_of_the_gallery_have_theirs():
    assert degrees_of_freedom(gallery.quadruped().spec) == 18
    assert degrees_of_freedom(gallery.fourbar().spec) == 2
