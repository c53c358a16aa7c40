"""Shift models converted: to themselves, and to URDF with the same freedoms and mass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cbsim.dynamics.start_state import start_state
from cbsim.errors import Problems
from cbsim.export.convert import convert_file
from cbsim.export.posing import posed
from cbsim.formats.reader import Source
from cbsim.formats.urdf import read as read_urdf
from cbsim.models.shift import count
from cbsim.models.shift.description import description_of
from cbsim.models.urdf import count as count_urdf
from cbsim.models.urdf.build import description_of as robot_description
from cbsim.multibody import (
    Body,
    Mechanism,
    Origin,
    Prototype,
    get_maximal_state,
    set_maximal_state,
    simulate,
)
from cbsim.paths import Files
from cbsim.spec.mechanism.description import MechanismSpec
from cbsim.spec.mechanism.joints import PROTOTYPES
from cbsim.spec.mechanism.model_description import ModelDescription
from tests.common import shared
from tests.models.shift.models import file_of, read

MOVING = (
    "slider_crank/slider_crank_extra_dof", "bricard/bricard_no_ground_link", "slider_crank/slider_crank_2substructures",
)  # fmt: skip
NAMES = ("slider_crank/slider_crank", "bricard/bricard_no_ground_link", "vehicle/vehicle")


@pytest.mark.parametrize("name", NAMES)
def test_urdf_has_the_freedoms_and_the_mass(name):
    path = shared("shift", "head_dac9a79", *f"{name}.json".split("/"))
    problems = Problems()
    text = convert_file(path, "urdf", None, problems)
    robot = read_urdf(Source("robot.urdf", text, text.encode()), Problems())
    ours, theirs = count(file_of(path)), count_urdf(robot)
    assert theirs["degrees_of_freedom"] == ours["degrees_of_freedom"]
    assert theirs["loops"] == ours["loops"]
    assert theirs["mass"] == pytest.approx(ours["mass"], rel=1e-6)
    springs = "vehicle" in name
    assert any(problem.code == "W930" for problem in problems) == springs


@pytest.mark.parametrize("name", NAMES)
def test_the_later_dialect_says_the_same(name):
    path = shared("shift", "head_dac9a79", *f"{name}.json".split("/"))
    text = convert_file(path, "shift", None, Problems())
    assert read(Source("again.json", text, text.encode()), Problems()) == file_of(path)
    assert '"body_frame_pairs"' not in text


def start_of(description):
    mechanism = Mechanism.of(description.spec)
    set_maximal_state(mechanism, start_state(replace(description, velocities=None), mechanism.compiled))
    return mechanism, get_maximal_state(mechanism).reshape(-1, 13)


def both(name):
    """Return the mechanisms of a file and of the robot that it becomes, of one gravity and step; and what is lost."""
    path = shared("shift", "head_dac9a79", *f"{name}.json".split("/"))
    problems = Problems()
    text = convert_file(path, "urdf", None, problems)
    robot = robot_description(read_urdf(Source("robot.urdf", text, text.encode()), Problems()))
    model = description_of(file_of(path), 0.01, path.parent, Files([path]), Problems(), contacts=False, substeps=1)
    alike = replace(robot.spec, gravity=model.spec.gravity, timestep=model.spec.timestep)
    told = [problem.message for problem in problems if problem.code == "W930"]
    return start_of(model), start_of(replace(robot, spec=alike)), told


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vehicle/vehicle_backup2", "pendulum/pendulum", "vehicle/tire_fiala", *MOVING])
def test_urdf_begins_where_the_model_does_with_its_mass_and_its_centre(name):
    (ours, here), (theirs, there), _ = both(name)
    rows = [[body.name for body in theirs.bodies].index(body.name) for body in ours.bodies]
    np.testing.assert_allclose([body.mass for body in theirs.bodies], np.array([b.mass for b in ours.bodies])[rows])
    np.testing.assert_allclose(there[rows, :3], here[:, :3], atol=1e-12)
    turned = np.abs((there[rows, 6:10] * here[:, 6:10]).sum(axis=1))
    np.testing.assert_allclose(turned, 1.0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", MOVING)
def test_urdf_of_a_model_that_it_can_hold_whole_moves_as_the_model(name):
    (ours, _), (theirs, _), lost = both(name)
    assert not lost
    ways = [simulate(mechanism, 50) for mechanism in (ours, theirs)]
    rows = [[body.name for body in theirs.bodies].index(body.name) for body in ours.bodies]
    assert np.ptp(ways[0].x, axis=0).max() > 0.05
    np.testing.assert_allclose(ways[1].x[:, rows], ways[0].x, atol=1e-8)


def test_what_a_robot_cannot_say_of_a_model_is_told_by_name():
    _, _, lost = both("slider_crank/slider_crank_rotating_base")
    assert lost == ["URDF cannot hold motion at the start; left out"]
    _, _, lost = both("bricard/bricard_no_gravity")
    assert "URDF cannot hold gravity of 0 m/s²: a robot has 9.81; left out" in lost


@pytest.mark.parametrize("kind", [kind for kind in PROTOTYPES if "Orbital" not in kind])
def test_zero_of_a_joint_that_is_posed_is_where_it_started(kind):
    origin, first, second = Origin(), Body(1.0, np.eye(3), name="first"), Body(2.0, np.eye(3), name="second")
    offset = (0.8, 0.36, -0.48, 0.0)
    ends = {"parent_vertex": (0.1, 0.2, 0.3), "child_vertex": (0.4, -0.1, 0.0), "orientation_offset": offset}
    joints = [
        Prototype(kind, *pair, (0.6, 0.0, 0.8), name=f"to {pair[1].name}", **ends)
        for pair in ((origin, first), (first, second))
    ]
    spec = MechanismSpec(origin, [first, second], joints)
    start = {joint.name: tuple(np.linspace(0.3, -0.7, joint.dof)) for joint in spec.joints}
    _, there = start_of(ModelDescription(spec, start))
    _, here = start_of(ModelDescription(posed(spec, start)))
    np.testing.assert_allclose(here[:, :3], there[:, :3], atol=1e-14)
    np.testing.assert_allclose(np.abs((here[:, 6:10] * there[:, 6:10]).sum(axis=1)), 1.0, atol=1e-14)


def test_bounds_and_slack_coordinates_count_from_the_new_zero():
    origin, body = Origin(), Body(1.0, np.eye(3), name="b")
    joint = Prototype(
        "Prismatic", origin, body, (0, 0, 1), name="j", joint_limits=(-1.0, 2.0), spring=3.0, spring_offset=[0.5]
    )
    (made,) = posed(MechanismSpec(origin, [body], [joint]), {"j": (0.25,)}).joints
    assert [float(bound[0]) for bound in made.translational.joint_limits] == [-1.25, 1.75]
    assert float(made.translational.spring_offset[0]) == 0.25
