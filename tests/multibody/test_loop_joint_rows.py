"""Dampers, stops and drives of joints that close loops: the same wherever the loop is cut."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import ModelError
from cbsim.geometry.pose import multiply
from cbsim.multibody import (
    Body,
    Box,
    Drive,
    DryFriction,
    Floating,
    Mechanism,
    Motor,
    Origin,
    Prismatic,
    Prototype,
    Revolute,
    SolverOptions,
    Spherical,
    mechanical_energy,
    minimal_to_maximal,
    momentum,
    rollout,
    set_maximal_state,
    simulate,
    step_minimal_coordinates,
)
from cbsim.spec.mechanism.joints import PROTOTYPES
from tests.dynamics.probe import Iterate
from tests.multibody.common import X
from tests.multibody.differences import check

TIGHT = SolverOptions(rtol=1e-11, btol=1e-10)
HARD = SolverOptions(rtol=1e-11, btol=1e-12)


def fourbar(order, options):
    """Three rods of a plane four-bar, with bodies and joints in the same places; the loop is cut by ``order``."""
    origin = Origin()
    rods = [Box(0.05, 0.05, length, mass=length).body(name=f"rod {i}") for i, length in enumerate((1.0, 1.3, 0.9))]
    ends = [np.array([0, 0, 0.5 * length]) for length in (1.0, 1.3, 0.9)]
    joints = [
        Revolute(origin, rods[0], X, child_vertex=ends[0], name="a", **options[0]),
        Revolute(rods[0], rods[1], X, parent_vertex=-ends[0], child_vertex=ends[1], name="b", **options[1]),
        Revolute(rods[2], rods[1], X, parent_vertex=-ends[2], child_vertex=-ends[1], name="c", **options[2]),
        Revolute(origin, rods[2], X, parent_vertex=(0, 1.0, 0), child_vertex=ends[2], name="d", **options[3]),
    ]
    return Mechanism(origin, rods, [joints[k] for k in order], timestep=0.01)


CUTS = {"b": (0, 3, 2, 1), "c": (0, 1, 3, 2)}
KINDS = {
    "dampers": [{"damper": 0.3}] * 4,
    "motors": [{"drives": [Motor(most, cfm=0.1)]} for most in (2.0, 0.5, 1.0, 3.0)],
    "friction": [{"drives": [DryFriction(0.4)]}] * 4,
    "stops": [{"joint_limits": (-9.0, 9.0)}, {"joint_limits": (-2.8, 9)}, {"joint_limits": (-9, 1.3)}, {}],
    "soft stops": [{"joint_limits": (-0.4, 0.6), "stop_softness": (0.3, 0.05)}] * 4,
    "all": [{"damper": 0.1, "drives": [Motor(1.0), DryFriction(0.2)], "joint_limits": (-2.5, 2.5)}] * 4,
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_does_not_matter_which_joint_closes_a_loop(kind):
    ends, seen = [], []
    for cut, order in CUTS.items():
        m = fourbar(order, KINDS[kind])
        assert [m.joints[j].name for j in m.compiled.spanning.loop_joints] == [cut]
        if ends:
            set_maximal_state(m, seen[0])
        else:
            seen.append(m.pose.copy().ravel())
        u = np.zeros(4)
        for joint, value in zip("abcd", (2.0, 0.3, -1.0, 0.5), strict=True):
            u[[j.name for j in m.joints].index(joint)] = value
        ends.append(rollout(m, seen[0], 120, u, options=HARD))
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-6)
    assert np.abs(ends[0][-1] - ends[0][0]).max() > 0.05
    free = rollout(fourbar(CUTS["c"], [{}] * 4), seen[0], 120, [0.0] * 4, options=HARD)
    assert np.abs(ends[0] - free).max() > 0.01


def test_a_damped_loop_loses_energy_until_it_hangs():
    m = fourbar(CUTS["c"], [{"damper": 0.1}, {"damper": 0.1}, {"damper": 1.0}, {"damper": 0.1}])
    assert [m.joints[j].name for j in m.compiled.spanning.loop_joints] == ["c"]
    storage = simulate(m, 3000, options=TIGHT)
    energy = mechanical_energy(m, storage)
    assert np.diff(energy[::10]).max() < 1e-4
    assert np.abs(storage.w[-1]).max() < 1e-2
    assert energy[0] - energy[-1] > 1.0


def ring(kind, rng, **options):
    """Five bodies in space, whose last two a joint of a kind ties; a state in which the loop is closed."""
    origin = Origin()
    a = rng.normal(size=(3, 3)) * 0.1
    parts = [Body(1.0 + 0.1 * i, a @ a.T * 0.3 + np.diag([0.05, 0.06, 0.07])) for i in range(5)]
    at = {"parent_vertex": (0.5, 0.1, 0.0), "child_vertex": (-0.5, 0.0, 0.1)}
    joints = [Floating(origin, parts[0])]
    joints += [Spherical(parts[i], parts[j], damper=0.01, **at) for i, j in ((0, 1), (1, 2), (0, 3), (3, 4))]
    x = rng.normal(size=36) * 0.1
    z = minimal_to_maximal(Mechanism(origin, parts, joints, timestep=0.01), x).reshape(-1, 13)
    q1, q2 = z[2, 6:10], z[4, 6:10]
    back = q1 * (1.0, -1.0, -1.0, -1.0)
    at["child_vertex"] = np.array([0.5, 0.1, 0.0])
    apart = z[4, :3] + turned(q2, at["child_vertex"]) - z[2, :3]
    at["parent_vertex"] = turned(back, apart)
    loop_joint = Prototype(
        kind, parts[2], parts[4], rng.normal(size=3), orientation_offset=multiply(back, q2), **at, **options
    )
    return Mechanism(origin, parts, [*joints, loop_joint], timestep=0.01), x


def turned(q, v):
    return multiply(multiply(q, np.r_[0.0, v]), q * (1.0, -1.0, -1.0, -1.0))[1:]


def once_and_again(kind, extra, random):
    """Two bodies that a joint ties; as the branch of the tree, and as a loop joint beside a joint that ties nothing."""
    made = []
    axis, q = random.normal(size=3), random.normal(size=4)
    slides, turns = PROTOTYPES[kind]
    dof = slides + turns
    at = {"orientation_offset": q / np.linalg.norm(q), "spring": 8.0, "spring_offset": random.normal(size=dof) * 0.8}
    if slides < 3:
        at |= {"parent_vertex": (0.3, 0.1, 0.0), "child_vertex": (-0.4, 0.0, 0.2)}
    x = np.concatenate([np.zeros(12), random.normal(size=dof) * 0.6, random.normal(size=dof)])
    for is_chord in (False, True):
        origin = Origin()
        parts = [Box(0.3, 0.5, 0.4, mass=1.0).body(name="one"), Box(0.5, 0.2, 0.3, mass=1.5).body(name="other")]
        joint = Prototype(kind, *parts, axis if {slides, turns} & {1, 2} else None, name="tie", **at, **extra(x, dof))
        joints = [Floating(origin, parts[0], name="base"), joint]
        if is_chord:  # limits keep a joint in the tree
            bounds = np.array([1e3] * 3 + [6.0] * 3)
            joints.insert(1, Floating(*parts, joint_limits=(-bounds, bounds), name="nothing"))
        made.append(Mechanism(origin, parts, joints, timestep=0.01))
        assert len(made[-1].compiled.spanning.loop_joints) == is_chord
    return *made, minimal_to_maximal(made[0], x)


def springs_alone(_x, _dof):
    return {}


def springs_and_stops(x, dof):
    return {"joint_limits": (x[12 : 12 + dof] - 0.02, x[12 : 12 + dof] + 0.03)}


@pytest.mark.parametrize("extra", [springs_alone, springs_and_stops])
@pytest.mark.parametrize(
    "kind", ["Revolute", "Orbital", "Spherical", "PlanarOrbital", "CylindricalFree", "FreeOrbital"]
)
def test_a_joint_does_the_same_as_a_chord(kind, extra):
    tree, loop, z = once_and_again(kind, extra, np.random.default_rng(len(kind)))
    inputs = np.random.default_rng(1).normal(size=tree.compiled.inputs)
    wider = np.concatenate([inputs[:6], np.zeros(6), inputs[6:]])
    ends = rollout(tree, z, 40, inputs, options=HARD), rollout(loop, z, 40, wider, options=HARD)
    # a stop that is just touched is off by the root of btol, 1e-6 rad, in a step of 0.01 s
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-4 if extra is springs_and_stops else 1e-8)
    assert np.abs(ends[0][-1] - ends[0][0]).max() > 0.05


CHORDS = {
    "Revolute": {"damper": 0.3, "drives": [Motor(0.5)], "joint_limits": (-0.002, 0.5)},
    "Spherical": {"damper": 0.3, "joint_limits": (-0.02, 0.01), "stop_softness": (0.4, 0.02)},
    "Orbital": {"joint_limits": (-0.01, 0.02)},
    "PlanarOrbital": {"spring": 20.0, "spring_offset": (0.1, -0.2, 0.5, 0.4), "joint_limits": (-0.02, 0.01)},
    "CylindricalFree": {"spring": 20.0, "spring_offset": (0.1, 0.6, -0.4, 0.5), "damper": 0.1},
    "Cylindrical": {"damper": 0.3, "drives": [Motor(0.5, coordinate=1), DryFriction(0.3)]},
    "PlanarAxis": {"drives": [Drive(np.inf, coordinate=1, cfm=0.3), DryFriction(0.3, coordinate=2)]},
    "PlanarFree": {"damper": 0.2, "joint_limits": (-0.05, 0.02), "stop_softness": (0.6, 0.01)},
    "FreeRevolute": {"damper": 0.2, "drives": [Motor(2.0, coordinate=2, cfm=0.02)]},
}


@pytest.mark.parametrize("kind", CHORDS)
def test_newtons_direction_takes_rows_of_chords_away(kind):
    random = np.random.default_rng(list(CHORDS).index(kind))
    m, x = ring(kind, random, **CHORDS[kind])
    assert m.compiled.spanning.loop_joints == (5,)
    for _ in range(5):
        iterate = Iterate(m, minimal_to_maximal(m, x), random.normal(size=len(m.inputs)))
        iterate.scatter(random)
        left, now = iterate.left_over(0.01)
        assert np.abs(now).max() > 1e-2
        np.testing.assert_allclose(left, 0.0, atol=1e-7 * np.abs(now).max())


@pytest.mark.parametrize("kind", CHORDS)
def test_gradients_through_rows_of_chords_are_differences(kind):
    random = np.random.default_rng(list(CHORDS).index(kind))
    m, x = ring(kind, random, **CHORDS[kind])
    u = random.normal(size=len(m.inputs))
    for _ in range(3):
        x = step_minimal_coordinates(m, x, u, options=SolverOptions(rtol=1e-12, kappa=1e-3))
    check(m, x, u, kappa=1e-3, e=1e-5, tolerance=2e-6)


@pytest.mark.parametrize("kind", CHORDS)
def test_rows_of_chords_in_space_keep_momentum(kind):
    random = np.random.default_rng(list(CHORDS).index(kind))
    m, x = ring(kind, random, **CHORDS[kind])
    m.gravity = 0.0
    u = np.zeros(len(m.inputs))
    u[18:] = 1.0
    storage = simulate(m, 60, minimal_to_maximal(m, x), u[None], options=SolverOptions(rtol=1e-11))
    kept = momentum(m, storage)
    np.testing.assert_allclose(kept, np.broadcast_to(kept[0], kept.shape), atol=1e-8)


def test_two_joints_between_the_same_bodies_may_both_be_driven():
    """A sledge on a rail, tied to it by a second joint that brakes it."""
    origin = Origin()
    rail, sledge = (Box(0.3, 0.3, 0.3, mass=1.0).body(name=name) for name in ("rail", "sledge"))
    joints = [
        Floating(origin, rail, name="float"),
        Prismatic(rail, sledge, X, name="guide"),
        Prototype("CylindricalFree", rail, sledge, X, drives=[DryFriction(1.0)], damper=0.0, name="brake"),
    ]
    m = Mechanism(origin, [rail, sledge], joints, gravity=0.0)
    cut = [m.joints[j].name for j in m.compiled.spanning.loop_joints]
    z = np.zeros((2, 13))
    z[:, 6], z[1, 3] = 1.0, 2.0
    path = rollout(m, z.ravel(), 150).reshape(-1, 2, 13)
    assert cut == ["guide"]  # what has drives stays in the tree; the other way round:
    np.testing.assert_allclose(path[-1, :, 3], 1.0, atol=1e-5)
    np.testing.assert_allclose(np.diff(path[:90, 1, 3]), -0.01, rtol=1e-5)


def test_a_chord_tells_the_impulses_of_its_drives_without_those_of_its_damper():
    m = fourbar(CUTS["c"], [{"damper": 0.3, "drives": [DryFriction(0.4)]}] * 4)
    simulate(m, 20)
    for joint in m.joints:  # all rods swing: each friction is as large as it may be
        np.testing.assert_allclose(np.abs(joint.drive_impulses), [0.4 * 0.01], rtol=1e-3, err_msg=joint.name)


def test_a_damper_about_two_axes_of_a_chord_is_refused_by_name():
    origin = Origin()
    one, other = (Box(0.3, 0.3, 0.3, mass=1.0).body(name=name) for name in ("one", "other"))
    joints = [
        Floating(origin, one, damper=1.0),
        Floating(origin, other, damper=1.0),
        Prototype("Orbital", one, other, X, damper=1.0, name="knuckle"),
    ]
    with pytest.raises(ModelError, match="joint 'knuckle': closes a loop and cannot have a damper about two axes"):
        Mechanism(origin, [one, other], joints)
