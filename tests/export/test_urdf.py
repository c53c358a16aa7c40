"""Mechanisms as URDF: what is written moves as what it was made of."""

from __future__ import annotations

import numpy as np
import pytest

from cbsim.errors import FileError
from cbsim.multibody import (
    Body,
    Box,
    Capsule,
    CombinedShapes,
    Mechanism,
    Origin,
    Prototype,
    Revolute,
    Sphere,
    contact_constraint,
    gallery,
    get_minimal_state,
    mechanical_energy,
    read_urdf,
    set_minimal_state,
    simulate,
    write_urdf,
)
from cbsim.spec.mechanism.joints import PROTOTYPES

OFFSET = np.array([0.8, 0.36, -0.48, 0.0])


def pair(kind, **options):
    """Two bodies: one hung on the world by the joint in question, the other on the first by the same kind."""
    origin = Origin()
    look = CombinedShapes([Box(1, 2, 3, color=(1, 0, 0, 1)), Capsule(0.1, 0.5, position_offset=(0, 0, 1))])
    first = Body(1.0, np.diag([0.2, 0.3, 0.4]), look, name="first")
    second = Body(2.0, [[0.3, 0.01, 0], [0.01, 0.3, 0.02], [0, 0.02, 0.4]], name="second")
    ends = {"parent_vertex": (0.1, 0.2, 0.3), "child_vertex": (0.4, -0.1, 0)}
    joints = [
        Prototype(kind, origin, first, (0, 0, 1), name="one", orientation_offset=OFFSET, **ends, **options),
        Prototype(kind, first, second, (0, 0, 1), name="two", **ends, **options),
    ]
    return Mechanism(origin, [first, second], joints, gravity=-2.0)


@pytest.mark.parametrize("kind", sorted(PROTOTYPES))
def test_a_mechanism_of_every_joint_is_read_back_and_moves_the_same(kind, tmp_path):
    options = {} if kind in {"Fixed", "Floating"} else {"damper": 0.2}
    made = pair(kind, **options)
    if kind not in {"Fixed", "Floating", "FixedOrientation", "Spherical", "Revolute", "Cylindrical", "FreeRevolute"}:
        made = pair(kind)  # an axis of translations is the parent's, one of rotations the joint's: told below
        made = Mechanism(made.origin, made.bodies, [straight(kind, made, options, k) for k in (0, 1)], gravity=-2.0)
    lost = write_urdf(made, tmp_path / "made.urdf")
    if kind == "Cylindrical":
        assert ["axis of translations" in p.message for p in lost] == [True]
        return
    assert not list(lost)
    again = read_urdf(tmp_path / "made.urdf", floating=False, gravity=-2.0)
    assert [joint.prototype for joint in again.joints] == [kind, kind]
    x = 0.2 * np.random.default_rng(4).standard_normal(len(get_minimal_state(made)))
    for mechanism in (made, again):
        set_minimal_state(mechanism, x)
    one, other = simulate(made, 50), simulate(again, 50)
    np.testing.assert_allclose(other.x, one.x, atol=1e-9)
    np.testing.assert_allclose(np.abs((other.q * one.q).sum(-1)), 1.0, atol=1e-12)


def straight(kind, made, options, k):
    ends = {"parent_vertex": (0.1, 0.2, 0.3), "child_vertex": (0.4, -0.1, 0)}
    parent = (made.origin, made.bodies[0])[k]
    return Prototype(kind, parent, made.bodies[k], (0, 0, 1), name=f"j{k}", **ends, **options)


@pytest.mark.parametrize("name", ["pendulum", "slider", "chain", "fourbar", "quadruped"])
def test_a_mechanism_of_the_gallery_is_read_back_with_its_energy(name, tmp_path):
    made = getattr(gallery, name)()
    lost = write_urdf(made, tmp_path / "made.urdf")
    assert all("contact" in p.message for p in lost)
    again = read_urdf(tmp_path / "made.urdf", timestep=made.timestep, gravity=float(made.gravity[2]))
    assert [body.name for body in again.bodies] == [body.name for body in made.bodies]
    start = np.zeros(len(get_minimal_state(made))) if name != "fourbar" else get_minimal_state(made)
    plain = Mechanism(made.origin, made.bodies, made.joints, timestep=made.timestep, gravity=made.gravity)
    for mechanism in (plain, again):
        set_minimal_state(mechanism, start)
    energies = [mechanical_energy(mechanism, simulate(mechanism, 20)) for mechanism in (plain, again)]
    np.testing.assert_allclose(energies[1], energies[0], rtol=1e-9, atol=1e-9)


def test_a_file_that_is_written_and_read_is_written_again_letter_by_letter(tmp_path):
    write_urdf(gallery.quadruped(limited=True), tmp_path / "one.urdf", name="r")
    write_urdf(read_urdf(tmp_path / "one.urdf"), tmp_path / "two.urdf", name="r")
    write_urdf(read_urdf(tmp_path / "two.urdf"), tmp_path / "three.urdf", name="r")
    assert (tmp_path / "three.urdf").read_text() == (tmp_path / "two.urdf").read_text()
    assert "lower" in (tmp_path / "two.urdf").read_text()


def test_what_urdf_cannot_hold_is_told_or_refused(tmp_path):
    origin, ball = Origin(), Sphere(0.5, mass=1.0).body(name="ball")
    corner = contact_constraint(ball, (0, 0, 1), name="corner")
    foot = contact_constraint(ball, (0, 0, 1), name="foot", contact_radius=0.5)
    hinge = Revolute(origin, ball, (1, 0, 0), spring=3.0, name="hinge")
    made = Mechanism(origin, [ball], [hinge], [corner, foot])
    lost = write_urdf(made, tmp_path / "made.urdf")
    assert sorted(p.message.split(";")[0] for p in lost) == [
        "URDF cannot hold the contact 'corner': only balls on the ground can be written",
        "URDF cannot hold the spring of joint 'hinge'",
    ]
    solid = [c.shape for c in read_urdf(tmp_path / "made.urdf", contacts=True).spec.colliders]
    assert [shape.r for shape in solid if isinstance(shape, Sphere)] == [0.5]  # beside the ground
    assert len(solid) == 2
    with pytest.raises(FileError, match=r"made.urdf: error: URDF cannot hold the spring of joint 'hinge'.* \[W930\]"):
        write_urdf(made, tmp_path / "made.urdf", strict=True)
